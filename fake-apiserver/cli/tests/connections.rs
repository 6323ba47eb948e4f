//! The program when it has no descriptors left for connections.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Descriptors that the program may have, and connections that are opened to it.
const DESCRIPTORS: usize = 64;
const CONNECTIONS: usize = 100;
/// Requests that are answered meanwhile.
const REQUESTS: usize = 50;
/// Complaints that the program may make meanwhile; one that tries again at once makes many times more.
const MOST_COMPLAINTS: usize = 1000;
const COMPLAINT: &str = "unable to accept a connection";

/// A running program with few descriptors, killed at the end.
struct Program {
    child: Child,
    /// Where it speaks plain HTTP.
    address: String,
    log: NamedTempFile,
}

impl Program {
    fn start(flags: &str) -> Program {
        let log = NamedTempFile::new().expect("a file");
        let script = format!("ulimit -n {DESCRIPTORS} && exec \"$0\" --secure-port=0 --insecure-port=0 {flags}");
        let mut child = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_fake-apiserver")])
            .stdout(Stdio::piped())
            .stderr(log.reopen().expect("a file"))
            .spawn()
            .expect("the program starts");
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut ready).expect("text");
        let address = ready.trim_end().rsplit("http://").next().expect("URLs").to_owned();
        Program { child, address, log }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("the kernel accepts it");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("an open connection");
        stream
    }

    fn complaints(&self) -> usize {
        let log = std::fs::read_to_string(self.log.path()).expect("text");
        log.lines().filter(|line| line.contains(COMPLAINT)).count()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().expect("a running program can be killed");
        self.child.wait().expect("an end");
    }
}

/// The answer to a request, which must be granted.
fn ask(stream: &mut TcpStream) {
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n").expect("written");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\nok") {
        let mut bytes = [0; 1024];
        let length = stream.read(&mut bytes).expect("an answer");
        assert_ne!(length, 0, "the connection ended: {}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&bytes[..length]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
}

/// Opens more connections than there are descriptors, and uses one from before; afterwards others are served, too.
fn exhaust(program: &Program) {
    let mut open = program.connect();
    ask(&mut open);
    let others: Vec<TcpStream> = (0..CONNECTIONS).map(|_| program.connect()).collect();
    (0..REQUESTS).for_each(|_| ask(&mut open));
    drop(others);
    ask(&mut program.connect());
}

#[test]
fn without_descriptors_open_connections_are_served_and_others_later() {
    let program = Program::start("");
    exhaust(&program);
    let complaints = program.complaints();
    assert!((1..MOST_COMPLAINTS).contains(&complaints), "{complaints} complaints");
}

#[test]
fn a_limit_on_connections_keeps_descriptors_for_the_rest() {
    let program = Program::start("--max-connections=20");
    exhaust(&program);
    assert_eq!(program.complaints(), 0);
}
