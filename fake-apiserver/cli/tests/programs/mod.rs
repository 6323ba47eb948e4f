//! Programs of the folder of assets, as tests start them.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod server;

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The time that a test waits at most for what comes at once.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A free port.
pub(crate) fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

/// The program under that name, in a folder.
pub(crate) fn called(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    if !path.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-apiserver"), &path).expect("a link");
    }
    path
}

/// A file with the token `t` of an administrator.
pub(crate) fn tokens(folder: &Path) -> String {
    let path = folder.join("tokens.csv");
    fs::write(&path, "t,admin,1,system:masters\n").expect("a file");
    format!("--token-auth-file={}", path.display())
}

/// A running program, killed when a test leaves it behind.
pub(crate) struct Program(pub(crate) Child);

impl Program {
    /// Starts a program; `own` are flags for the variable.
    pub(crate) fn start(program: &Path, arguments: &[String], own: &str) -> Program {
        let mut command = Command::new(program);
        command.args(arguments).env("FAKE_APISERVER_FLAGS", own);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Program(command.spawn().expect("the program starts"))
    }

    /// The stand-in for etcd on that port, once it listens.
    pub(crate) fn etcd(folder: &Path, port: u16) -> Program {
        let arguments = [format!("--listen-client-urls=http://127.0.0.1:{port}")];
        let mut etcd = Program::start(&called(folder, "etcd"), &arguments, "");
        line(etcd.0.stderr.take().expect("a pipe"));
        etcd
    }

    /// The URLs of the line `ready`.
    pub(crate) fn ready(&mut self) -> Vec<String> {
        let line = line(self.0.stdout.take().expect("a pipe"));
        let urls = line.trim_end().strip_prefix("ready ").unwrap_or_else(|| panic!("ready, not {line:?}"));
        urls.split(' ').map(str::to_owned).collect()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill").success());
    }

    /// Ends it as envtest does.
    pub(crate) fn terminate(mut self) {
        self.signal("-TERM");
        assert!(self.0.wait().expect("an end").success());
    }

    /// The error of a program that does not start.
    pub(crate) fn refusal(mut self) -> String {
        let mut text = String::new();
        self.0.stderr.take().expect("a pipe").read_to_string(&mut text).expect("text");
        assert_eq!(self.0.wait().expect("an end").code(), Some(1), "{text}");
        text
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.0.try_wait().is_ok_and(|status| status.is_none()) {
            self.0.kill().expect("a running program can be killed");
        }
    }
}

/// The first line of a stream.
pub(crate) fn line(stream: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("text");
    line
}

/// Sends a request with the token to a plain port.
pub(crate) fn send(url: &str, method: &str, target: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a socket");
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("written");
    stream
}

/// The object that a request is answered with, which must succeed.
pub(crate) fn ask(url: &str, method: &str, target: &str, body: &str) -> Value {
    let mut answer = String::new();
    send(url, method, target, body).read_to_string(&mut answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 20"), "{method} {target}: {answer}");
    // A chunked body may have lines with lengths around it.
    let body = &body[body.find('{').expect("an object")..=body.rfind('}').expect("an object")];
    serde_json::from_str(body).expect("JSON")
}

/// The first event of a watch from a revision on.
pub(crate) fn first_event(url: &str, target: &str, revision: &str) -> Value {
    let stream = send(url, "GET", &format!("{target}?watch=true&resourceVersion={revision}"), "");
    let lines = BufReader::new(stream).lines().map(|line| line.expect("text"));
    let event = lines.into_iter().find(|line| line.starts_with('{')).expect("an event");
    serde_json::from_str(&event).expect("JSON")
}
