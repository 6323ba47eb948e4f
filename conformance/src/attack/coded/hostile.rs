//! Hostile answers, and a hostile API server for the programs that are clients. It gives every request the same answer until it is
//! reformed; then it passes connections on to a good server, to see whether the client recovers.

use crate::attack::data::Over;
use crate::attack::ground::Ground;
use anyhow::Result;
use futures::future::BoxFuture;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The answer to every request.
#[derive(Clone)]
pub(super) struct Answer {
    /// The first part.
    pub(super) head: String,
    /// The part that is repeated.
    pub(super) piece: String,
    /// The number of repetitions.
    pub(super) times: usize,
    /// The last part.
    pub(super) tail: String,
    /// Whether the connection stays open afterwards.
    pub(super) stays: bool,
    /// The pause before each repetition.
    pub(super) pause: Duration,
}

impl Answer {
    /// No answer, on a connection that stays open.
    pub(super) fn none() -> Answer {
        Answer {
            head: String::new(),
            piece: String::new(),
            times: 0,
            tail: String::new(),
            stays: true,
            pause: Duration::ZERO,
        }
    }

    /// Bytes that are no HTTP.
    pub(super) fn garbage() -> Answer {
        Answer { piece: "\u{0}\u{1}nonsense".into(), times: 1000, stays: false, ..Answer::none() }
    }

    /// The same answer with other headers, which do not end.
    pub(super) fn with_head(self, headers: &str) -> Answer {
        Answer { head: format!("HTTP/1.1 200 OK\r\n{headers}"), ..self }
    }
}

/// An answer of 200.
pub(super) fn answer(headers: &str, piece: &str, times: usize, tail: &str) -> Answer {
    Answer {
        head: format!("HTTP/1.1 200 OK\r\n{headers}\r\n"),
        piece: piece.to_owned(),
        times,
        tail: tail.to_owned(),
        stays: headers.contains("Content-Length: 2\r\n"),
        ..Answer::none()
    }
}

/// An answer with that status, without a body.
pub(super) fn status(line: &str, headers: &str) -> Answer {
    Answer { head: format!("HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\n\r\n"), ..Answer::none() }
}

/// A document.
pub(super) fn json_answer(body: &str) -> Answer {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    Answer { head, piece: body.to_owned(), times: 1, ..Answer::none() }
}

/// A running hostile server.
pub(super) struct Hostile {
    /// Its address, without TLS.
    pub(super) address: SocketAddr,
    /// The number of requests that it has answered.
    asked: watch::Receiver<usize>,
    benign: watch::Sender<bool>,
}

impl Hostile {
    /// Listens, and serves as long as the returned future is polled.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) async fn start(ground: &Ground, answer: Answer) -> Result<(Hostile, BoxFuture<'_, Result<()>>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (count, asked) = watch::channel(0);
        let (benign, mut reformed) = watch::channel(false);
        let serving = async move {
            let mut hostile = JoinSet::new();
            let mut passing = futures::stream::FuturesUnordered::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let stream = accepted?.0;
                        if *reformed.borrow() {
                            passing.push(pass(ground, stream));
                        } else {
                            hostile.spawn(say(stream, answer.clone(), count.clone()));
                        }
                    }
                    // Hostile answers in progress are cut off.
                    Ok(()) = reformed.changed() => hostile.abort_all(),
                    Some(()) = futures::StreamExt::next(&mut passing), if !passing.is_empty() => {}
                }
            }
        };
        Ok((Hostile { address, asked, benign }, Box::pin(serving)))
    }

    /// Completes when it has answered `count` requests.
    pub(super) async fn asked(&self, count: usize) {
        // An error means that the server has ended, so there are no more requests.
        let _ = self.asked.clone().wait_for(|asked| *asked >= count).await;
    }

    /// Passes new connections on from now on.
    pub(super) fn reform(&self) {
        self.benign.send_replace(true);
    }
}

/// Gives the answer to every request on one connection.
pub(super) async fn say(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: Answer, count: watch::Sender<usize>) {
    while head(&mut stream).await {
        count.send_modify(|count| *count += 1);
        let Answer { head, piece, times, tail, stays, pause } = &answer;
        let saying = async {
            stream.write_all(head.as_bytes()).await?;
            for _ in 0..*times {
                if !pause.is_zero() {
                    stream.flush().await?;
                    tokio::time::sleep(*pause).await;
                }
                stream.write_all(piece.as_bytes()).await?;
            }
            stream.write_all(tail.as_bytes()).await?;
            stream.flush().await
        };
        if saying.await.is_err() || !stays {
            return;
        }
    }
}

/// Reads the head of a request; false at the end.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> bool {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => seen.push(byte),
            Err(_) => return false,
        }
    }
    true
}

/// Passes a connection on to the server of the ground.
async fn pass(ground: &Ground, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    if let Ok(mut server) = ground.connector.connect(Over::Http1, None).await {
        // Errors are those of the two ends.
        let _ = copy_bidirectional(&mut stream, &mut server).await;
    }
}
