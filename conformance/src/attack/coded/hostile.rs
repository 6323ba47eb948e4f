//! A hostile API server for the programs that are clients. It answers every request the same way until it is told to stop; from
//! then on it passes connections on to a real server, so that one can see whether the client has recovered.

use crate::attack::data::Over;
use crate::attack::ground::Ground;
use anyhow::Result;
use futures::future::BoxFuture;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What it says to everybody.
#[derive(Clone)]
pub(super) struct Answer {
    /// What comes first.
    pub(super) head: String,
    /// What follows, again and again.
    pub(super) piece: String,
    /// How often.
    pub(super) times: usize,
    /// What comes last.
    pub(super) tail: String,
    /// Whether the connection stays open afterwards.
    pub(super) stays: bool,
}

/// A running hostile server.
pub(super) struct Hostile {
    /// Where it listens, without TLS.
    pub(super) address: SocketAddr,
    /// The number of requests that it has answered.
    asked: watch::Receiver<usize>,
    benign: watch::Sender<bool>,
}

impl Hostile {
    /// Listens, and serves as long as the future that comes with it is driven.
    ///
    /// # Errors
    /// If there is no port.
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
                    // Those that are still answered have heard enough.
                    Ok(()) = reformed.changed() => hostile.abort_all(),
                    Some(()) = futures::StreamExt::next(&mut passing), if !passing.is_empty() => {}
                }
            }
        };
        Ok((Hostile { address, asked, benign }, Box::pin(serving)))
    }

    /// Resolves when it has answered so many requests.
    pub(super) async fn asked(&self, count: usize) {
        // An error is the end of the server, after which nothing is asked.
        let _ = self.asked.clone().wait_for(|asked| *asked >= count).await;
    }

    /// Passes new connections on from now.
    pub(super) fn reform(&self) {
        self.benign.send_replace(true);
    }
}

/// Answers whatever is asked, on one connection.
async fn say(mut stream: TcpStream, answer: Answer, count: watch::Sender<usize>) {
    while head(&mut stream).await {
        count.send_modify(|count| *count += 1);
        let Answer { head, piece, times, tail, stays } = &answer;
        let saying = async {
            stream.write_all(head.as_bytes()).await?;
            for _ in 0..*times {
                stream.write_all(piece.as_bytes()).await?;
            }
            stream.write_all(tail.as_bytes()).await
        };
        if saying.await.is_err() || !stays {
            return;
        }
    }
}

/// Reads the head of a request; false at the end.
async fn head(stream: &mut TcpStream) -> bool {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => seen.push(byte),
            Err(_) => return false,
        }
    }
    true
}

/// Passes a connection on to the server on the ground.
async fn pass(ground: &Ground, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    if let Ok(mut server) = ground.connector.connect(Over::Http1, None).await {
        // How a connection ends is for its two ends to find out.
        let _ = copy_bidirectional(&mut stream, &mut server).await;
    }
}
