//! Heads of requests: their size limits, and `Expect: 100-continue`.

use crate::support::{CONFIG_MAPS, Client, PROTOCOLS, start};
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn heads_of_a_mebibyte_and_many_headers_are_served() {
    let server = start().await;
    for protocol in PROTOCOLS {
        let mut client = Client::over(&server, protocol).await;
        let long = "a".repeat(900_000);
        let answer = client.ask("GET", CONFIG_MAPS, &[("x-long", &long)], Bytes::new()).await;
        answer.expect(200);
        let names: Vec<String> = (0..240).map(|index| format!("x-{index}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "v")).collect();
        client.ask("GET", CONFIG_MAPS, &many, Bytes::new()).await.expect(200);
        let path = format!("{CONFIG_MAPS}?labelSelector={}", "a%20in%20(b),".repeat(4000).trim_end_matches(','));
        client.get(&path).await.expect(200);
    }
}

/// The bytes that the server sends for `head`, up to the end of the connection.
async fn said(server: &FakeApiServer, head: &str) -> String {
    let mut stream = TcpStream::connect(server.replica(0).address()).await.expect("it listens");
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut said = Vec::new();
    // Without `Connection: close` the connection would stay open; each of these heads has it.
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut said)).await;
    read.expect("an end").expect("no error");
    String::from_utf8(said).expect("text")
}

/// Heads that hyper refuses before the pipeline sees them.
#[tokio::test]
async fn refused_heads_have_contents() {
    let server = start().await;
    let long = "a".repeat(65_535 - "/healthz?".len());
    let many: String = (0..300).map(|index| format!("x-{index}: v\r\n")).collect();
    let status = concat!(
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the target of the request "#,
        r#"is too long: limit is 65534 bytes","reason":"RequestURITooLong","code":414}"#,
        "\n"
    );
    for (head, expected, content) in [
        (format!("GET /healthz?{long} HTTP/1.1\r\nHost: a\r\n\r\n"), "414 URI Too Long", status),
        (
            format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{many}\r\n"),
            "431 Request Header Fields Too Large",
            "431 Request Header Fields Too Large",
        ),
        ("GET /healthz HTTP/1.1\r\nHo st: a\r\n\r\n".to_owned(), "400 Bad Request", "400 Bad Request"),
    ] {
        let said = said(&server, &head).await;
        let (head, sent) = said.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with(&format!("HTTP/1.1 {expected}\r\n")), "{head}");
        assert_eq!(sent, content);
    }
}

#[tokio::test]
async fn a_client_that_waits_is_asked_for_its_body_only_if_it_is_wanted() {
    let server = start().await;
    let token = server.admin_token().to_owned();
    let head = |token: &str, length: usize| {
        format!(
            "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
        )
    };
    for (token, length, expected) in [("bad", 10, "401"), (token.as_str(), 4 << 20, "413")] {
        let said = said(&server, &head(token, length)).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {expected} ")), "{said}");
        assert!(!said.contains("100 Continue"), "{said}");
    }
    let body = r#"{"metadata": {"name": "a"}}"#;
    let mut stream = TcpStream::connect(server.replica(0).address()).await.expect("it listens");
    stream.write_all(head(&token, body.len()).as_bytes()).await.expect("written");
    let mut first = [0; 25];
    stream.read_exact(&mut first).await.expect("an answer");
    assert_eq!(&first, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.expect("written");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.expect("an answer");
    assert!(rest.starts_with("HTTP/1.1 201 Created\r\n"), "{rest}");
}
