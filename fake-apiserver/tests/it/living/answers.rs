//! What pods that run by rule say: logs, and commands in them.

use super::{Client, create, quiet, told};
use crate::support::{PROTOCOLS, soon, text};
use fake_apiserver::{FakeApiServer, ManualClock};
use futures::{SinkExt as _, StreamExt as _};
use http::Request;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

const PODS: &str = "/api/v1/namespaces/default/pods";
const RULES: &str = "/apis/rules.fake-apiserver.test/v1/namespaces/default/podrules";

async fn cluster(rules: &str) -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().like_a_cluster().pods(rules.parse().expect("rules")).clock(clock);
    let server = builder.insecure().start().await.expect("a server starts");
    let mut client = Client::over(&server, PROTOCOLS[0]).await;
    for name in ["web", "other", "bad"] {
        let pod = json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        create(&mut client, PODS, &pod).await;
    }
    quiet(&server).await;
    (server, client)
}

#[tokio::test]
async fn a_log_says_what_its_rule_says() {
    let rules = r"pod/web: ready, log 'one\ntwo, three; four'; pod/bad: ImagePullBackOff";
    let (server, mut client) = cluster(rules).await;
    let log = async |client: &mut Client, path: &str| {
        let answer = client.get(&format!("{PODS}/{path}")).await;
        (answer.code, answer.text().to_owned())
    };
    assert_eq!(log(&mut client, "web/log").await, (200, "one\ntwo, three; four\n".to_owned()));
    assert_eq!(log(&mut client, "web/log?tailLines=1&limitBytes=3").await.1, "two");
    assert_eq!(
        log(&mut client, "web/log?timestamps=true&tailLines=1").await.1,
        "2030-01-01T00:00:00.000000000Z two, three; four\n"
    );
    let default = "the container c of the pod default/other runs without a process, and no rule says what it logs\n";
    assert_eq!(log(&mut client, "other/log").await, (200, default.to_owned()));
    let (_, why) = client.get(&format!("{PODS}/bad/log")).await.refusal(400);
    assert_eq!(why, r#"container "c" in pod "bad" is waiting to start: trying and failing to pull image"#);
    let (_, why) = client.get(&format!("{PODS}/web/log?previous=true")).await.refusal(400);
    assert_eq!(why, r#"previous terminated container "c" in pod "web" not found"#);
    server.shutdown().await;
}

/// A connection that has switched to streams; or the refusal.
async fn open(server: &FakeApiServer, path: &str, protocol: &str) -> Result<WebSocketStream<TcpStream>, (u16, String)> {
    let (key, authorization) = (generate_key(), format!("Bearer {}", server.admin_token()));
    let mut request = Request::get(format!("ws://fake{PODS}/{path}")).body(()).expect("a request");
    for (name, value) in [
        ("host", "fake"),
        ("authorization", &*authorization),
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-key", &*key),
        ("sec-websocket-version", "13"),
        ("sec-websocket-protocol", protocol),
    ] {
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    let connection = TcpStream::connect(server.replica(0).address()).await.expect("it listens");
    let (socket, response) = match soon(client_async(request, connection)).await {
        Ok(opened) => opened,
        Err(Error::Http(response)) => {
            let body = response.body().as_deref().unwrap_or_default();
            let status: Value = serde_json::from_slice(body).unwrap_or_default();
            return Err((response.status().as_u16(), status["message"].as_str().unwrap_or_default().to_owned()));
        }
        Err(error) => panic!("{error}"),
    };
    assert_eq!(response.headers()["sec-websocket-protocol"], protocol.split(',').next().unwrap_or_default());
    Ok(socket)
}

/// The messages of a stream, as text, each with its channel; or the refusal.
async fn stream(server: &FakeApiServer, path: &str, protocol: &str) -> Result<Vec<(u8, String)>, (u16, String)> {
    let mut socket = open(server, path, protocol).await?;
    let mut messages = Vec::new();
    while let Some(Ok(message)) = soon(socket.next()).await {
        if let Message::Binary(bytes) = message {
            messages.push((bytes[0], String::from_utf8(bytes[1..].to_vec()).expect("text")));
        }
    }
    Ok(messages)
}

#[tokio::test]
async fn a_command_does_what_its_rule_says() {
    let rules = "pod/web: ready, log 'hello', exec 'cat /etc/*' prints 'it: works' exits 3, exec 'true' prints ''";
    let (server, _client) = cluster(rules).await;
    let exec = |command: &str| {
        format!(
            "web/exec?stdout=true&stderr=true{}",
            command.split(' ').map(|word| format!("&command={word}")).collect::<String>()
        )
    };
    for protocol in ["v5.channel.k8s.io", "v4.channel.k8s.io"] {
        let said = stream(&server, &exec("cat /etc/x"), protocol).await.unwrap();
        assert_eq!(said[0], (1, "it: works".to_owned()));
        let status: Value = serde_json::from_str(&said[1].1).unwrap();
        assert_eq!((said[1].0, &status["details"]["causes"]), (3, &json!([{"reason": "ExitCode", "message": "3"}])));
    }
    let success = (3, r#"{"metadata":{},"status":"Success"}"#.to_owned());
    assert_eq!(stream(&server, &exec("true"), "v5.channel.k8s.io").await.unwrap(), std::slice::from_ref(&success));
    let unknown = stream(&server, &exec("ls"), "v5.channel.k8s.io").await.unwrap();
    assert_eq!(unknown[0], (2, "no rule says what \"ls\" does in the container c of the pod default/web\n".to_owned()));
    let attached = stream(&server, "web/attach?stdout=true", "v5.channel.k8s.io").await.unwrap();
    assert_eq!(attached, [(1, "hello\n".to_owned()), success]);
    let (code, why) = stream(&server, &exec("true"), "v9.channel.k8s.io").await.unwrap_err();
    assert_eq!(code, 400);
    assert!(why.ends_with("which is all that is built, and not over v9.channel.k8s.io"), "{why}");
    let (code, why) = stream(&server, "web/portforward?ports=80", "SPDY/3.1+portforward.k8s.io").await.unwrap_err();
    assert_eq!(code, 400);
    assert!(why.ends_with("which is all that is built, and not over SPDY/3.1+portforward.k8s.io"), "{why}");
    server.shutdown().await;
}

#[tokio::test]
async fn ports_lead_where_their_rule_says() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let served = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.expect("a client");
        let mut said = [0; 5];
        connection.read_exact(&mut said).await.expect("five bytes");
        connection.write_all(b"hello, ").await.expect("a client that reads");
        connection.write_all(&said).await.expect("a client that reads");
    });
    let (server, _client) = cluster(&format!("pod/web: ready, port 80 at {address}; pod/bad: pending")).await;
    let mut socket = open(&server, "web/portforward?ports=80,81", "v4.channel.k8s.io").await.unwrap();
    socket.send(Message::Binary(b"\x00world".to_vec().into())).await.expect("a server that reads");
    let (mut by_channel, mut received) = ([const { Vec::new() }; 4], 0);
    while let Some(Ok(Message::Binary(bytes))) = soon(socket.next()).await {
        by_channel[usize::from(bytes[0])].extend_from_slice(&bytes[1..]);
        received += 1;
    }
    assert!(received >= 6, "{received}");
    soon(served).await.expect("it was served");
    let why = "error forwarding port 81: no rule says where the port 81 of the pod default/web leads";
    let expected = [&b"\x50\x00hello, world"[..], b"\x50\x00", b"\x51\x00", &[b"\x51\x00", why.as_bytes()].concat()];
    assert_eq!(by_channel.each_ref().map(Vec::as_slice), expected);
    let (code, why) = stream(&server, "bad/portforward?ports=80", "v4.channel.k8s.io").await.unwrap_err();
    assert_eq!((code, &*why), (500, "unable to upgrade connection: pod does not exist"));
    server.shutdown().await;
}

#[tokio::test]
async fn rules_may_be_objects() {
    let (server, mut client) = cluster("").await;
    let rule = |name: &str, rules: &str| {
        let metadata = json!({"name": name});
        json!({"apiVersion": "rules.fake-apiserver.test/v1", "kind": "PodRule", "metadata": metadata, "spec": {"rules": rules}})
    };
    create(&mut client, RULES, &rule("fails", "pod/web: fail after 5s, log 'oh'")).await;
    create(&mut client, RULES, &rule("wrong", "pod/web: redy")).await;
    quiet(&server).await;
    assert_eq!(client.get(&format!("{PODS}/web/log")).await.text(), "oh\n");
    super::pass(&server, 5).await;
    let web = client.get(&format!("{PODS}/web")).await.expect(200);
    assert_eq!(web["status"]["containerStatuses"][0]["restartCount"], 1, "{web}");
    let said = told(&mut client, "PodRule").await;
    let expected = "InvalidRules: at character 10: expected ready, running, pending, ImagePullBackOff, crash loop, succeed, fail or exit, \
                    found \"redy\"";
    assert_eq!(said, [expected]);
    client.delete(&format!("{RULES}/fails")).await.expect(200);
    quiet(&server).await;
    let other = client.get(&format!("{PODS}/web/log")).await;
    assert!(text(&json!(other.text()), "").contains("no rule says"), "{}", other.text());
    server.shutdown().await;
}
