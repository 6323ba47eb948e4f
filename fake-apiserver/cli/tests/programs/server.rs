//! A server with a control port, as tests use it: over HTTP.

use super::{Program, SOON, tokens};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use tempfile::TempDir;

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A program with a control port.
pub(crate) struct Server {
    pub(crate) program: Program,
    pub(crate) url: String,
    pub(crate) control: String,
    pub(crate) token: String,
    _folder: TempDir,
}

/// The status and the body of a response; 0 without one.
pub(crate) type Answer = (u16, Value);

impl Server {
    pub(crate) fn start(flags: &[&str]) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("control");
        let mut arguments = vec!["--secure-port=0".to_owned(), "--insecure-port=0".into(), tokens(folder.path())];
        arguments.push(format!("--write-control={}", file.display()));
        arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let mut program = Program::start(Path::new(env!("CARGO_BIN_EXE_fake-apiserver")), &arguments, "");
        let url = program.ready().pop().expect("a plain port");
        let told: Value = serde_json::from_slice(&fs::read(&file).expect("the file is there")).expect("JSON");
        let text = |field: &str| told[field].as_str().expect("a text").to_owned();
        Server { program, url, control: text("url"), token: text("token"), _folder: folder }
    }

    /// Tells or asks the control port.
    pub(crate) fn control(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        exchange(&self.control, &self.token, method, &format!("/_fake/v1{path}"), &body)
    }

    /// The same, which succeeds.
    pub(crate) fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (code, answer) = self.control(method, path, body);
        assert!((200..300).contains(&code), "{method} {path}: {code} {answer}");
        answer
    }

    /// The text that the control port answers with.
    pub(crate) fn text(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.control.trim_start_matches("http://")).expect("it listens");
        let head = format!(
            "GET /_fake/v1{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            self.token
        );
        stream.write_all(head.as_bytes()).expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer.split_once("\r\n\r\n").expect("a head").1.to_owned()
    }

    /// A request of a client.
    pub(crate) fn api(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        exchange(&self.url, "t", method, path, &body)
    }

    pub(crate) fn create(&self, name: &str) -> u16 {
        self.api("POST", CONFIG_MAPS, &json!({"metadata": {"name": name}})).0
    }
}

/// Sends a request, and reads its response to the end.
pub(crate) fn exchange(url: &str, token: &str, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a socket");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("written");
    let mut bytes = Vec::new();
    // A connection that is reset is an answer, too.
    stream.read_to_end(&mut bytes).ok();
    let answer = String::from_utf8(bytes).expect("text");
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return (0, Value::Null) };
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    // A chunked body has lines with lengths around it.
    let object = body.find('{').zip(body.rfind('}')).map(|(first, last)| &body[first..=last]);
    (code, object.and_then(|object| serde_json::from_str(object).ok()).unwrap_or_else(|| body.into()))
}

/// The lines of a watch's events until it ends.
pub(crate) fn watch(server: &Server, query: &str) -> impl Iterator<Item = Value> {
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a socket");
    let head = format!("GET {CONFIG_MAPS}?watch=true{query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("written");
    let lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| line != "0");
    lines.filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(&line).expect("JSON"))
}
