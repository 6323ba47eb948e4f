//! `Builder::goaway_chance`: HTTP/2 connections that end by chance, so that clients spread over servers.

use crate::support::{CONFIG_MAPS, Client, Protocol, start_with};
use fake_apiserver::{FakeApiServer, StartError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Frames of HTTP/2 by their types.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;

/// A connection whose frames are seen.
struct Connection {
    stream: TcpStream,
    next_stream: u32,
    token: String,
}

impl Connection {
    async fn new(server: &FakeApiServer) -> Connection {
        let mut stream = TcpStream::connect(server.replica(0).address()).await.expect("it listens");
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.expect("written");
        Connection { stream, next_stream: 1, token: server.admin_token().to_owned() }
    }

    async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        // A server that has said farewell may be gone; reading tells.
        self.stream.write_all(&frame).await.ok();
    }

    /// The type, the flags and the payload of the next frame; `None` at the end.
    async fn read(&mut self) -> Option<(u8, u8, Vec<u8>)> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).await.expect("a whole frame");
        if (head[3], head[4] & ACK) == (SETTINGS, 0) {
            self.write(SETTINGS, ACK, 0, &[]).await;
        }
        Some((head[3], head[4], payload))
    }

    /// Sends a request, and returns whether the server has said farewell once it has answered.
    async fn is_last(&mut self, path: &str) -> bool {
        // Literal fields without names of a table: what Huffman codes would save does not matter here.
        let mut fields = vec![0x82, 0x86];
        let authorization = format!("Bearer {}", self.token);
        for (name, value) in [(":path", path), (":authority", "a"), ("authorization", &*authorization)] {
            for text in [name, value] {
                if text == name {
                    fields.push(0);
                }
                fields.push(u8::try_from(text.len()).expect("short"));
                fields.extend(text.bytes());
            }
        }
        let stream = self.next_stream;
        self.next_stream += 2;
        self.write(HEADERS, END_STREAM | 4, stream, &fields).await;
        let (mut is_answered, mut is_farewell) = (false, false);
        while !is_answered {
            let (kind, flags, _) = self.read().await.expect("an answer");
            is_farewell |= kind == GOAWAY;
            is_answered = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
        }
        // By the second answer to a ping the connection's task has been polled again.
        for number in 0..2 {
            self.write(PING, 0, 0, &[number; 8]).await;
            loop {
                let Some((kind, flags, payload)) = self.read().await else {
                    assert!(is_farewell, "an end without farewell");
                    return true;
                };
                is_farewell |= kind == GOAWAY;
                if (kind, flags, payload) == (PING, ACK, vec![number; 8]) {
                    break;
                }
            }
        }
        is_farewell
    }
}

/// The number of requests until the server says farewell.
async fn requests(seed: u64) -> usize {
    let server = start_with(FakeApiServer::builder().seed(seed).goaway_chance(0.02)).await;
    let mut connection = Connection::new(&server).await;
    let mut count = 1;
    while !connection.is_last(CONFIG_MAPS).await {
        count += 1;
    }
    count
}

#[tokio::test]
async fn a_seed_decides_which_requests_end_their_connection() {
    let (first, again, other) = (requests(1).await, requests(1).await, requests(2).await);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

/// What a client has open goes on, and HTTP/1.1 is left alone.
#[tokio::test]
async fn watches_go_on_and_other_connections_are_left_alone() {
    let server = start_with(FakeApiServer::builder().seed(1).goaway_chance(0.02)).await;
    let mut watching =
        Client::over(&server, Protocol::Http2).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    let mut client = Client::new(&server).await;
    for _ in 0..requests(1).await {
        let mut connection = Connection::new(&server).await;
        connection.is_last("/api").await;
        client.get("/api").await.expect(200);
    }
    client.post(CONFIG_MAPS, &crate::support::named("a")).await.expect(201);
    assert_eq!(watching.next_short().await.1, "a");
}

#[tokio::test]
async fn chances_have_bounds() {
    for chance in [-0.01, 0.021, f64::NAN] {
        let refused = FakeApiServer::builder().insecure().goaway_chance(chance).start().await;
        let error = refused.expect_err("a refusal");
        assert!(matches!(error, StartError::GoawayChance), "{error}");
        assert_eq!(error.to_string(), "--goaway-chance can not be less than 0 or greater than 0.02");
    }
}
