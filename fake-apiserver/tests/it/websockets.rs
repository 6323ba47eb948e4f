//! Watches over WebSocket.

use crate::support::{CONFIG_MAPS, Client, PROTOCOLS, soon, start, text, with_data};
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
use futures::{SinkExt, StreamExt};
use http::{Request, Response};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// Opens a watch with the headers of a handshake, those given replaced or, where they are empty, left out.
async fn open(
    server: &FakeApiServer,
    query: &str,
    other: &[(&str, &str)],
) -> Result<(WebSocketStream<TcpStream>, Response<Option<Vec<u8>>>), Error> {
    let (key, authorization) = (generate_key(), format!("Bearer {}", server.admin_token()));
    let mut request = Request::get(format!("ws://fake{CONFIG_MAPS}?watch=true{query}")).body(()).expect("a request");
    let headers = [
        ("host", "fake"),
        ("authorization", &*authorization),
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-key", &*key),
        ("sec-websocket-version", "13"),
        ("origin", "https://fake"),
    ];
    for (name, value) in headers.iter().chain(other) {
        let (name, value) = (http::HeaderName::try_from(*name).expect("a name"), value.parse().expect("a value"));
        request.headers_mut().insert(name, value);
    }
    let stream = TcpStream::connect(server.replica(0).address()).await.expect("it listens");
    soon(client_async(request, stream)).await
}

#[tokio::test]
async fn each_event_of_a_watch_is_a_message() {
    let server = start().await;
    let mut client = Client::over(&server, PROTOCOLS[0]).await;
    client.post(CONFIG_MAPS, &with_data("a", "k", "1")).await.expect(201);
    let (mut watch, response) = open(&server, "", &[("sec-websocket-protocol", "p")]).await.expect("101");
    assert_eq!(response.headers()["sec-websocket-protocol"], "p");
    client.post(CONFIG_MAPS, &with_data("b", "k", "1")).await.expect(201);
    for name in ["a", "b"] {
        let Some(Ok(Message::Text(event))) = soon(watch.next()).await else { panic!("no text") };
        let event: Value = serde_json::from_str(&event).expect("JSON");
        assert_eq!((text(&event, "/type"), text(&event, "/object/metadata/name")), ("ADDED", name));
    }
    watch.send(Message::Ping(Bytes::from_static(b"hi"))).await.expect("sent");
    assert_eq!(soon(watch.next()).await.expect("a message").expect("no error"), Message::Pong("hi".into()));
    // Messages from the client are ignored.
    watch.send(Message::text("words")).await.expect("sent");
    watch.close(None).await.expect("sent");
    assert!(matches!(soon(watch.next()).await, Some(Ok(Message::Close(_)))));
    assert!(soon(watch.next()).await.is_none());
}

#[tokio::test]
async fn a_watch_in_protobuf_is_binary_and_its_end_closes() {
    let server = start().await;
    let mut client = Client::over(&server, PROTOCOLS[0]).await;
    client.post(CONFIG_MAPS, &with_data("a", "k", "1")).await.expect(201);
    let accept = ("accept", "application/vnd.kubernetes.protobuf;stream=watch");
    let (mut watch, _) = open(&server, "&timeoutSeconds=1", &[accept]).await.expect("101");
    let Some(Ok(Message::Binary(event))) = soon(watch.next()).await else { panic!("no bytes") };
    // The first field of the event, not the length before a frame.
    assert!(event.starts_with(b"\n\x05ADDED"), "{event:?}");
    let Some(Ok(Message::Close(Some(close)))) = soon(watch.next()).await else { panic!("no end") };
    assert_eq!(u16::from(close.code), 1000);
}

#[tokio::test]
async fn a_server_that_stops_closes_them() {
    let server = start().await;
    let (mut watch, _) = open(&server, "", &[]).await.expect("101");
    let ((), message) = tokio::join!(server.shutdown(), soon(watch.next()));
    assert!(matches!(message, Some(Ok(Message::Close(_)))));
}

#[tokio::test]
async fn bad_handshakes_are_refused_as_by_go() {
    let server = start().await;
    for (header, code, expected) in [
        (("sec-websocket-key", ""), 400, "mismatch challenge/response"),
        (("sec-websocket-version", "8"), 400, "missing or bad WebSocket Version"),
        (("origin", ""), 403, ""),
        (("origin", "x y"), 403, ""),
        (("sec-websocket-protocol", "a, b"), 400, ""),
        (("authorization", "Bearer bad"), 401, "Unauthorized"),
    ] {
        let Err(Error::Http(response)) = open(&server, "", &[header]).await else { panic!("{header:?} is accepted") };
        let content = String::from_utf8_lossy(response.body().as_deref().unwrap_or_default()).into_owned();
        assert_eq!(response.status().as_u16(), code, "{header:?}: {content}");
        assert!(content.contains(expected) && content.is_empty() == expected.is_empty(), "{header:?}: {content}");
    }
}
