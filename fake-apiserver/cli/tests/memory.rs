//! The memory of the program while its clients request much and read nothing.
#![cfg(target_os = "linux")]

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use tokio::net::TcpStream;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const OBJECTS: usize = 200;
const OBJECT_BYTES: usize = 15_000;

/// A running program, killed at the end.
struct Program {
    child: Child,
    /// The URL of its plain HTTP port.
    url: String,
}

impl Program {
    fn start(token_file: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"))
            .args(["--secure-port=0", "--insecure-port=0", "--token-auth-file", token_file])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut ready).expect("text");
        let url = ready.trim_end().rsplit(' ').next().expect("URLs").to_string();
        Program { child, url }
    }

    /// Its resident memory, in bytes.
    fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the kernel says");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
    }

    /// A connection with small flow-control windows, which stays open.
    async fn connect(&self) -> http2::SendRequest<Full<Bytes>> {
        let address = self.url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).await.expect("the program listens");
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(65_535).initial_connection_window_size(65_535);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.expect("HTTP/2");
        tokio::spawn(connection);
        sender
    }

    async fn ask(
        &self,
        sender: &mut http2::SendRequest<Full<Bytes>>,
        method: &str,
        path: &str,
        accept: &str,
        body: String,
    ) -> Response<Incoming> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("authorization", "Bearer secret")
            .header("content-type", "application/json")
            .header("accept", accept)
            .body(Full::from(body))
            .expect("a request");
        let response = sender.send_request(request).await.expect("an answer");
        assert!(response.status().is_success(), "{method} {path}: {}", response.status());
        response
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().expect("a running program can be killed");
        self.child.wait().expect("an end");
    }
}

#[tokio::test]
async fn lists_that_are_not_read_are_not_made() {
    const LISTS: usize = 40;
    let tokens = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(tokens.path(), "secret,admin,admin,system:masters").expect("a file");
    let program = Program::start(tokens.path().to_str().expect("text"));
    let mut sender = program.connect().await;
    let value = "v".repeat(OBJECT_BYTES);
    for number in 0..OBJECTS {
        let object = format!(r#"{{"metadata":{{"name":"c{number}"}},"data":{{"k":"{value}"}}}}"#);
        program.ask(&mut sender, "POST", CONFIG_MAPS, "*/*", object).await;
    }
    let before = program.memory();
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    for (query, accept) in [("labelSelector=!none", "*/*"), ("includeObject=Object", table), ("pretty=1", "*/*")] {
        let mut unread = Vec::new();
        for _ in 0..LISTS {
            let path = format!("{CONFIG_MAPS}?{query}");
            unread.push(program.ask(&mut sender, "GET", &path, accept, String::new()).await);
        }
        let grown = program.memory().saturating_sub(before);
        assert!(grown < LISTS * OBJECTS * OBJECT_BYTES / 4, "{query}: {grown} bytes for {LISTS} unread lists");
    }
}
