//! A hostile API server for the programs that are clients. It gives every request the same answer until it is reformed; then
//! it passes connections on to a good server, to see whether the client recovers.

use crate::attack::data::Over;
use crate::attack::ground::Ground;
use anyhow::Result;
use futures::future::BoxFuture;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
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

/// Passes a connection on to the server of the ground.
async fn pass(ground: &Ground, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    if let Ok(mut server) = ground.connector.connect(Over::Http1, None).await {
        // Errors are those of the two ends.
        let _ = copy_bidirectional(&mut stream, &mut server).await;
    }
}
