//! Limits on concurrent requests without priority and fairness, and on streams and connections.

use crate::support::{Answer, CONFIG_MAPS, Client, named, soon, start_with};
use fake_apiserver::{FakeApiServer, On};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection of a user who is not an administrator.
async fn user(server: &FakeApiServer) -> Client {
    let mut client = Client::new(server).await;
    client.token = "t".into();
    client
}

/// Checks for the answer of `tooManyRequests` of apiserver v0.37.1 `pkg/server/filters/maxinflight.go`.
#[track_caller]
fn expect_too_many(answer: &Answer) {
    assert_eq!((answer.code, answer.text()), (429, "Too many requests, please try again later.\n"));
    let headers =
        ["retry-after", "content-type", "x-content-type-options", "cache-control"].map(|name| answer.header(name));
    assert_eq!(headers, ["1", "text/plain; charset=utf-8", "nosniff", "no-cache, private"]);
    assert!(!answer.header("audit-id").is_empty());
}

#[tokio::test]
async fn writes_beyond_the_limit_are_refused_and_nothing_else() {
    let builder = FakeApiServer::builder().add_static_token("t", "u", &[]);
    let builder = builder.priority_and_fairness(false).max_mutating_requests_inflight(1);
    let server = start_with(builder).await;
    let body = r#"{"metadata": {"name": "slow"}}"#;
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer t\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len()
    );
    let mut slow = TcpStream::connect(server.replica(0).address()).await.expect("it listens");
    slow.write_all(head.as_bytes()).await.expect("written");
    // The server has sent `100 Continue`, so the request is in flight.
    slow.read_exact(&mut [0; 25]).await.expect("an answer");

    let mut client = user(&server).await;
    expect_too_many(&client.post(CONFIG_MAPS, &named("a")).await);
    expect_too_many(&client.delete(&format!("{CONFIG_MAPS}/slow")).await);
    client.get(CONFIG_MAPS).await.expect(200);
    user(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    Client::new(&server).await.post(CONFIG_MAPS, &named("by-an-administrator")).await.expect(201);

    slow.write_all(body.as_bytes()).await.expect("written");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
}

#[tokio::test]
async fn reads_beyond_the_limit_are_refused_but_watches_last() {
    let builder = FakeApiServer::builder().add_static_token("t", "u", &[]);
    let builder = builder.priority_and_fairness(false).max_requests_inflight(1);
    let server = start_with(builder).await;
    let mut client = user(&server).await;
    let watches = [user(&server).await, user(&server).await].map(|client| client.watch("/api/v1/pods?watch=true", &[]));
    for watch in watches {
        watch.await;
    }
    let slow = server.faults().add(On::get("configmaps").delay(Duration::MAX));
    let mut held = user(&server).await;
    let held = tokio::spawn(async move { held.get(&format!("{CONFIG_MAPS}/a")).await.code });
    soon(server.faults().wait_for_hits(slow, 1)).await;
    expect_too_many(&client.get(CONFIG_MAPS).await);
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    // A client that disconnects frees its permit.
    held.abort();
    let lists = async {
        while client.get(CONFIG_MAPS).await.code == 429 {
            tokio::task::yield_now().await;
        }
    };
    soon(lists).await;
}

#[tokio::test]
async fn clients_are_told_how_many_streams_a_connection_has() {
    for (limit, expected) in [(None, 1000), (Some(0), 1000), (Some(7), 7)] {
        let builder = FakeApiServer::builder();
        let server = start_with(match limit {
            Some(limit) => builder.http2_max_streams_per_connection(limit),
            None => builder,
        })
        .await;
        let mut stream = TcpStream::connect(server.replica(0).address()).await.expect("it listens");
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.expect("written");
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.expect("a frame");
        assert_eq!(head[3], 4, "SETTINGS");
        let mut settings = vec![0; usize::from(head[2])];
        stream.read_exact(&mut settings).await.expect("a frame");
        let streams = settings.chunks(6).find(|setting| setting[..2] == [0, 3]).expect("MAX_CONCURRENT_STREAMS");
        assert_eq!(streams[2..], u32::to_be_bytes(expected), "{limit:?}");
    }
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_until_one_ends() {
    let server = start_with(FakeApiServer::builder().max_connections(1)).await;
    let mut first = Client::new(&server).await;
    first.get(CONFIG_MAPS).await.expect(200);
    let body = r#"{"metadata": {"name": "late"}}"#;
    let request = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        server.admin_token(),
        body.len()
    );
    let mut second = TcpStream::connect(server.replica(0).address()).await.expect("the kernel accepts it");
    second.write_all(request.as_bytes()).await.expect("written");
    for _ in 0..100 {
        first.get(&format!("{CONFIG_MAPS}/late")).await.expect(404);
    }
    drop(first);
    let mut answer = String::new();
    soon(second.read_to_string(&mut answer)).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
}
