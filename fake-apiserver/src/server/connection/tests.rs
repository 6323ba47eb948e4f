//! Silent connections end when a real server ends them, on tokio's paused clock.

use super::*;
use http_body_util::Full;
use hyper::body::Frame;
use hyper::client::conn::http2;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, sleep, timeout};

/// The length of a long response, in bytes.
const LONG: usize = 1_000_000;
const SECOND: Duration = Duration::from_secs(1);

enum Reply {
    Whole(Full<Bytes>),
    Endless,
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Reply::Whole(body) => Pin::new(body).poll_frame(context),
            Reply::Endless => Poll::Pending,
        }
    }
}

/// A connection to a server that answers at once, except for `/watch`, whose response does not end.
fn connect() -> DuplexStream {
    let (client, server) = tokio::io::duplex(64 * 1024);
    let answer = |request: Request<Incoming>| async move {
        Response::new(match request.uri().path() {
            "/watch" => Reply::Endless,
            "/long" => Reply::Whole(vec![b'a'; LONG].into()),
            _ => Reply::Whole("ok".into()),
        })
    };
    tokio::spawn(serve(server, answer, |_| false, 100, CancellationToken::new()));
    client
}

/// The number of seconds until the server closes the connection.
async fn seconds_left(client: &mut DuplexStream) -> u64 {
    let begin = Instant::now();
    client.read_to_end(&mut Vec::new()).await.expect("an end");
    begin.elapsed().as_secs()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// A frame of type HEADERS for stream 1, without END_HEADERS.
const UNFINISHED: &[u8] = b"\0\0\x03\x01\0\0\0\0\x01\x82\x84\x86";

#[tokio::test(start_paused = true)]
async fn connections_without_a_request_end() {
    for (sent, expected) in [
        (&b""[..], 32),
        (b"PRI * HTT", 32),
        (b"GET / HTTP/1.1\r\nHost: a\r\n", 32),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 90),
        // And a second for the GOAWAY.
        (PREFACE, 91),
        (&[PREFACE, UNFINISHED].concat(), 91),
    ] {
        let mut client = connect();
        client.write_all(sent).await.expect("written");
        assert_eq!(seconds_left(&mut client).await, expected, "{:?}", String::from_utf8_lossy(sent));
    }
}

/// A head that comes byte by byte has no more time than one that does not come.
#[tokio::test(start_paused = true)]
async fn a_later_head_has_its_own_time() {
    let mut client = connect();
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("written");
    sleep(80 * SECOND).await;
    assert_ne!(client.read(&mut [0; 1024]).await.expect("an answer"), 0);
    client.write_all(b"GET / HTTP/1.1\r\n").await.expect("written");
    let (mut reader, mut writer) = tokio::io::split(client);
    let begin = Instant::now();
    tokio::spawn(async move {
        loop {
            sleep(SECOND).await;
            if writer.write_all(b"a").await.is_err() {
                return;
            }
        }
    });
    reader.read_to_end(&mut Vec::new()).await.expect("an end");
    assert_eq!(begin.elapsed().as_secs(), 32);
}

#[tokio::test(start_paused = true)]
async fn http1_connections_can_be_used_again_for_90_seconds() {
    let mut client = connect();
    for _ in 0..3 {
        client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("written");
        let read = client.read(&mut [0; 1024]).await.expect("an answer");
        assert_ne!(read, 0);
        sleep(89 * SECOND).await;
    }
    assert_eq!(seconds_left(&mut client).await, 1);
}

#[tokio::test(start_paused = true)]
async fn answers_that_do_not_end_keep_a_connection() {
    let mut client = connect();
    client.write_all(b"GET /watch HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("written");
    assert!(timeout(3600 * SECOND, client.read_to_end(&mut Vec::new())).await.is_err());

    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(connect())).await.expect("a connection");
    let connection = tokio::spawn(connection);
    let request =
        |path: &str| Request::get(format!("http://a{path}")).body(Full::<Bytes>::default()).expect("a request");
    let watch = sender.send_request(request("/watch")).await.expect("an answer");
    sender.send_request(request("/")).await.expect("an answer");
    sleep(3600 * SECOND).await;
    assert!(!connection.is_finished());
    drop(watch);
    let begin = Instant::now();
    connection.await.expect("no panic").expect("an end without an error");
    assert_eq!(begin.elapsed().as_secs(), 90, "from the last request on");
}

/// A slow reader gets the whole response, also when the rest of it is in buffers.
#[tokio::test(start_paused = true)]
async fn what_was_answered_is_sent_however_slowly() {
    let mut client = connect();
    client.write_all(b"GET /long HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.expect("written");
    let (mut total, mut buffer) = (0, vec![0; 64 * 1024]);
    loop {
        sleep(60 * SECOND).await;
        match client.read(&mut buffer).await.expect("an end") {
            0 => break,
            read => total += read,
        }
    }
    assert!(total > LONG, "{total}");
}
