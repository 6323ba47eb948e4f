//! Malformed input: the server answers or closes the connection, and goes on serving.

use crate::support::*;
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LIMIT: usize = 3 * 1024 * 1024;
const PROTOBUF: (&str, &str) = ("content-type", "application/vnd.kubernetes.protobuf");

/// A server, and the number of objects that it must have, whatever it is sent.
struct Survivor {
    server: FakeApiServer,
    objects: usize,
}

impl Survivor {
    async fn new() -> Self {
        Survivor { server: start().await, objects: 0 }
    }

    async fn client(&self, protocol: Protocol) -> Client {
        Client::over(&self.server, protocol).await
    }

    /// Sends bytes and reads to the end; the server must close the connection.
    async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(address(&self.server)).await.expect("the server listens");
        // The server may close the connection before it has read everything.
        let sent = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let read = soon(stream.read_to_end(&mut answer)).await;
        assert!(sent.and(read.map(drop)).is_ok() || answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"));
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Creates another object, and checks that all are there.
    async fn still_serves(&mut self) {
        for protocol in PROTOCOLS {
            let mut client = self.client(protocol).await;
            client.post(SECRETS, &named(&format!("alive{:03}", self.objects))).await.expect(201);
            self.objects += 1;
            let list = client.get(SECRETS).await.expect(200);
            assert_eq!(names(&list).len(), self.objects);
            let list = client.get(CONFIG_MAPS).await.expect(200);
            assert_eq!(names(&list), [] as [&str; 0]);
        }
    }
}

#[tokio::test]
async fn malformed_heads() {
    let mut survivor = Survivor::new().await;
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    for head in [
        "garbage\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "G\u{e9}T / HTTP/1.1\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\na: \0\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: abc\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /api HTTP/1.1\r\nTransfer-Encoding: nonsense\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nnonsense\r\n\r\n",
        &long,
        &many,
    ] {
        let answer = survivor.raw(head.as_bytes()).await;
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4") || !answer.starts_with("HTTP/1.1");
        assert!(refused, "{:.80} {:.80}", head, answer);
    }
    survivor.still_serves().await;
}

#[tokio::test]
async fn bodies_that_break_off() {
    let mut survivor = Survivor::new().await;
    let token = survivor.server.admin_token().to_string();
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        for framing in ["Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n64\r\n"] {
            let path = if method == "POST" { CONFIG_MAPS.to_string() } else { format!("{CONFIG_MAPS}/a") };
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\n{framing}{{\"metadata\":{{\"name\":\"a\"}}}}"
            );
            // With the write side shut down, and with the connection closed.
            for closed in [false, true] {
                let mut stream = TcpStream::connect(address(&survivor.server)).await.expect("the server listens");
                stream.write_all(head.as_bytes()).await.expect("room for a few bytes");
                if closed {
                    drop(stream);
                    continue;
                }
                stream.shutdown().await.expect("an open connection");
                let mut answer = String::new();
                soon(stream.read_to_string(&mut answer)).await.expect("an end");
                assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
            }
        }
    }
    survivor.still_serves().await;
}

/// Bodies that are not objects in any content type.
fn bad_bodies() -> Vec<Vec<u8>> {
    let deep = 100_000;
    let mut bodies: Vec<Vec<u8>> = [
        "[".repeat(deep),
        "{\"a\":".repeat(deep),
        format!("{{\"metadata\":{{\"name\":\"a\",\"x\":{}", "[".repeat(deep)),
        format!("{{\"metadata\":{{\"name\":\"a\",\"managedFields\":[{{\"fieldsV1\":{}", "{\"a\":".repeat(deep)),
        format!("{{\"data\":{}0{}}}", "[".repeat(deep), "]".repeat(deep)),
        "{".into(),
        "{\"metadata\":".into(),
        "{\"metadata\":{\"name\":\"a\"}}{".into(),
        "\"".into(),
        "1e999999".into(),
        "{\"metadata\":{\"name\":1e400}}".into(),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":[]}".into(),
    ]
    .map(String::into_bytes)
    .into();
    bodies.push(b"\xff\xfe\x00".to_vec());
    bodies.push(b"{\"metadata\":{\"name\":\"\xff\"}}".to_vec());
    bodies.push(b"{\"\xff".to_vec());
    bodies
}

#[tokio::test]
async fn bodies_that_are_no_objects() {
    let mut survivor = Survivor::new().await;
    let one = format!("{SECRETS}/victim");
    for protocol in PROTOCOLS {
        let mut client = survivor.client(protocol).await;
        for body in bad_bodies() {
            for (method, path, content_type) in [
                ("POST", CONFIG_MAPS, "application/json"),
                ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json"),
                ("POST", "/api/v1/namespaces/default/serviceaccounts/a/token", "application/json"),
                ("PUT", one.as_str(), "application/json"),
                ("PATCH", &one, MERGE_PATCH),
                ("PATCH", &one, JSON_PATCH),
                ("DELETE", &one, "application/json"),
                ("POST", CONFIG_MAPS, PROTOBUF.1),
                ("DELETE", &one, PROTOBUF.1),
            ] {
                let answer = client.ask(method, path, &[("content-type", content_type)], body.clone()).await;
                let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
                assert!((400..500).contains(&answer.code), "{method} {path} {shown}: {}", answer.text());
            }
        }
    }
    survivor.still_serves().await;
}

#[tokio::test]
async fn deep_patches_of_what_there_is() {
    let mut survivor = Survivor::new().await;
    let mut client = survivor.client(Protocol::Http1).await;
    survivor.still_serves().await;
    let one = format!("{SECRETS}/alive000");
    for (content_type, body) in [
        (MERGE_PATCH, format!("{{\"data\":{}1{}", "{\"a\":".repeat(400), "}".repeat(401))),
        (MERGE_PATCH, format!("{{\"metadata\":{}", "{\"a\":".repeat(100_000))),
        (JSON_PATCH, format!("[{{\"op\":\"add\",\"path\":\"/data{}\",\"value\":1}}]", "/a".repeat(100_000))),
        (JSON_PATCH, "[{\"op\":\"copy\",\"from\":\"/metadata\",\"path\":\"/metadata/labels\"}]".to_string()),
        (JSON_PATCH, format!("[{}{{}}]", "{\"op\":\"test\"},".repeat(20_000))),
    ] {
        let answer = client.ask("PATCH", &one, &[("content-type", content_type)], body).await;
        assert!((400..500).contains(&answer.code), "{}", answer.text());
    }
    survivor.still_serves().await;
}

#[tokio::test]
async fn protobuf_of_every_length_and_none() {
    let mut survivor = Survivor::new().await;
    let mut client = survivor.client(Protocol::Http2).await;
    let metadata = [b"\x0a\x06\x0a\x01a\x5a\x01b".as_slice(), b"\x12\x06\x0a\x01k\x12\x01v"].concat();
    let whole =
        [b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12".as_slice(), &[metadata.len() as u8], &metadata].concat();
    for end in 0..whole.len() {
        let answer = client.ask("POST", CONFIG_MAPS, &[PROTOBUF], whole[..end].to_vec()).await;
        assert!((400..500).contains(&answer.code), "{end}: {}", answer.text());
    }
    for position in 4..whole.len() {
        for byte in [0x00, 0x7f, 0x80, 0xff] {
            let mut bent = whole.clone();
            bent[position] = byte;
            let answer = client.ask("POST", &format!("{CONFIG_MAPS}?dryRun=All"), &[PROTOBUF], bent).await;
            assert!(answer.code < 500, "{position} {byte}: {}", answer.text());
        }
    }
    survivor.still_serves().await;
}

#[tokio::test]
async fn too_much() {
    let mut survivor = Survivor::new().await;
    for protocol in PROTOCOLS {
        let mut client = survivor.client(protocol).await;
        let body = with_data("a", "k", &"x".repeat(LIMIT)).to_string();
        let answer = client.ask("POST", CONFIG_MAPS, &[JSON], body).await;
        assert_eq!(
            answer.refusal(413),
            ("RequestEntityTooLarge".into(), format!("Request entity too large: limit is {LIMIT}"))
        );
    }
    // A chunked body does not announce its length.
    let token = survivor.server.admin_token();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let piece = format!("10000\r\n{}\r\n", "x".repeat(0x1_0000));
    let answer = survivor.raw(format!("{head}{}0\r\n\r\n", piece.repeat(LIMIT / 0x1_0000 + 1)).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer:.80}");
    survivor.still_serves().await;
}

/// The response reaches clients that read it only after writing their last byte, and so does the next one.
#[tokio::test]
async fn much_too_much() {
    let mut survivor = Survivor::new().await;
    let body = Bytes::from(vec![b'x'; 8_000_000]);
    let mut client = survivor.client(Protocol::Http2).await;
    for _ in 0..2 {
        let answer = client.ask("POST", CONFIG_MAPS, &[JSON], body.clone()).await;
        assert_eq!(answer.refusal(413).0, "RequestEntityTooLarge");
    }
    let token = survivor.server.admin_token();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address(&survivor.server)).await.expect("the server listens");
    for _ in 0..2 {
        stream.write_all(head.as_bytes()).await.expect("the server reads the head");
        soon(stream.write_all(&body)).await.expect("the server reads the whole body");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}\n") {
            assert_ne!(soon(stream.read_buf(&mut answer)).await.expect("an open connection"), 0);
        }
        assert!(answer.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&answer));
    }
    survivor.still_serves().await;
}

#[tokio::test]
async fn refusals_that_do_not_wait_for_the_body() {
    let mut survivor = Survivor::new().await;
    for protocol in PROTOCOLS {
        for (token, path, code) in [
            ("bad", CONFIG_MAPS, 401),
            ("", CONFIG_MAPS, 403),
            ("admin", "/api/v1/namespaces/default/nonsense", 404),
            ("admin", "/api/v1/namespaces/default/configmaps?dryRun=x", 422),
            ("admin", "/api/v1/namespaces/default/configmaps?timeout=x", 400),
        ] {
            let mut client = survivor.client(protocol).await;
            let admin = std::mem::replace(&mut client.token, token.into());
            if token == "admin" {
                client.token.clone_from(&admin);
            }
            // The same connection serves the next request.
            for _ in 0..2 {
                let body = with_data("a", "k", &"x".repeat(LIMIT / 4)).to_string();
                let answer = client.ask("POST", path, &[JSON], body).await;
                assert_eq!(answer.code, code, "{protocol:?} {path}: {}", answer.text());
            }
            client.token = admin;
            client.get(SECRETS).await.expect(200);
        }
    }
    // The server does not wait for a body that never comes.
    let mut stream = TcpStream::connect(address(&survivor.server)).await.expect("the server listens");
    let head = format!("POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("room for a few bytes");
    let mut answer = [0; 12];
    soon(stream.read_exact(&mut answer)).await.expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 403");
    survivor.still_serves().await;
}

#[tokio::test]
async fn garbage_on_the_tls_port() {
    let server = FakeApiServer::builder().start().await.expect("a server starts");
    let token = server.admin_token();
    let plain = format!("GET /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n");
    let hello = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03".to_vec();
    for bytes in [vec![], b"\0".repeat(1000), plain.into_bytes(), hello] {
        let mut stream = TcpStream::connect(address(&server)).await.expect("the server listens");
        stream.write_all(&bytes).await.expect("room for a few bytes");
        stream.shutdown().await.expect("an open connection");
        let mut answer = Vec::new();
        // The answer of TLS, if any, is not HTTP.
        if soon(stream.read_to_end(&mut answer)).await.is_ok() {
            assert!(!answer.starts_with(b"HTTP/1.1 2"), "{answer:?}");
        }
    }
    for protocol in PROTOCOLS {
        Client::over(&server, protocol).await.get("/api/v1/namespaces").await.expect(200);
    }
}

#[tokio::test]
async fn odd_methods_paths_and_parameters() {
    let mut survivor = Survivor::new().await;
    for protocol in PROTOCOLS {
        let mut client = survivor.client(protocol).await;
        for (method, path, code) in [
            ("HEAD", "/version", 405),
            ("HEAD", "/healthz", 200),
            ("HEAD", CONFIG_MAPS, 405),
            ("OPTIONS", CONFIG_MAPS, 405),
            ("TRACE", CONFIG_MAPS, 405),
            ("BREW", CONFIG_MAPS, 405),
            ("GET", "/", 200),
            ("GET", "/api/v1/namespaces/default/configmaps/a%2Fb", 404),
            ("GET", "/api/v1/namespaces/default/configmaps/%00", 404),
            ("GET", "/api/v1/namespaces/default/configmaps/%ff%fe", 404),
            ("GET", "/api/v1/namespaces/default/configmaps/%E2%82", 404),
            ("GET", "/api/v1/namespaces/default/configmaps/..", 400),
            ("GET", "/api/v1/namespaces/default/configmaps/a/b/c/d/e", 404),
            ("GET", "/api/v1/namespaces/default/configmaps?nonsense=1&%zz=%zz&&=&limit=2", 200),
            ("GET", "/api/v1/namespaces/default/configmaps?labelSelector=%ff", 400),
            ("GET", "/api/v1/namespaces/default/configmaps?continue=%ff", 400),
            ("GET", "/api/v1/namespaces/default/configmaps?limit=9223372036854775808", 400),
            ("GET", "/api/v1/namespaces/default/configmaps?limit=9223372036854775807", 200),
            ("GET", "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=18446744073709551616", 500),
            ("GET", "/api/v1/namespaces/default/configmaps?resourceVersion=18446744073709551615", 504),
        ] {
            let answer = client.ask(method, path, &[], Bytes::new()).await;
            assert_eq!(answer.code, code, "{protocol:?} {method} {path}: {}", answer.text());
            assert!(method != "HEAD" || answer.body.is_empty());
        }
    }
    let mut client = survivor.client(Protocol::Http1).await;
    let nobody = [("impersonate-uid", "u"), ("impersonate-group", "a"), ("impersonate-extra-%x", "\t\u{e9}")];
    let answer = client.ask("GET", SECRETS, &nobody, Bytes::new()).await;
    assert_eq!(answer.refusal(400).0, "BadRequest");
    let unlimited = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=9223372036854775807";
    let mut events = survivor.client(Protocol::Http1).await.watch(unlimited, &[]).await;
    client.post(CONFIG_MAPS, &named("seen")).await.expect(201);
    assert_eq!(events.next_short().await.1, "seen");
    client.delete(&format!("{CONFIG_MAPS}/seen")).await.expect(200);
    survivor.still_serves().await;
}

#[tokio::test]
async fn kinds_that_do_not_belong() {
    let mut survivor = Survivor::new().await;
    let mut client = survivor.client(Protocol::Http1).await;
    for body in [
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}),
        json!({"kind": "ConfigMap", "apiVersion": "v2", "metadata": {"name": "a"}}),
        json!({"kind": "Nonsense", "apiVersion": "a/b", "metadata": {"name": "a"}}),
        json!({"kind": "Status", "apiVersion": "v1"}),
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "other"}}),
        json!({"kind": 1}),
    ] {
        assert_eq!(client.post(CONFIG_MAPS, &body).await.refusal(400).0, "BadRequest", "{body}");
    }
    survivor.still_serves().await;
}

#[tokio::test]
async fn no_patch_takes_an_object_its_type() {
    let mut survivor = Survivor::new().await;
    let mut client = survivor.client(Protocol::Http1).await;
    survivor.still_serves().await;
    let one = format!("{SECRETS}/alive000");
    for (content_type, patch) in
        [(MERGE_PATCH, json!({"kind": null})), (JSON_PATCH, json!([{"op": "remove", "path": "/kind"}]))]
    {
        let patched = client.patch(content_type, &one, &patch).await.expect(200);
        assert_eq!(text(&patched, "/kind"), "Secret");
    }
    let untyped = client.patch(MERGE_PATCH, &one, &json!({"apiVersion": null})).await.refusal(400);
    assert!(untyped.1.contains("was undeterminable"), "{}", untyped.1);
    for (content_type, patch, code) in [
        (MERGE_PATCH, json!({"kind": "Pod"}), 422),
        (MERGE_PATCH, json!({"metadata": null}), 400),
        (JSON_PATCH, json!([{"op": "replace", "path": "", "value": {}}]), 400),
        (MERGE_PATCH, json!({"metadata": {"name": "other"}}), 400),
        (MERGE_PATCH, json!({"metadata": {"uid": "other"}}), 422),
    ] {
        assert_eq!(client.patch(content_type, &one, &patch).await.code, code, "{patch}");
    }
    let listed = client.get(SECRETS).await.expect(200);
    assert_eq!(listed["items"][0].get("kind"), None);
    survivor.still_serves().await;
}
