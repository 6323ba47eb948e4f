//! Ports of pods that run by rule: what a client sends to one goes to where its rule says that it leads, and back.
//!
//! ```text
//!   client ── messages, each with its channel ──▶ port, by channel ──▶ a connection to its address
//!          ◀────────── one queue ──────────────────┘
//! ```
//! Follows `pkg/streaming/portforward/websocket.go` of `k8s.io/cri-streaming` (v0.36.1): a port has two channels, one for its bytes and one for
//! why it failed, and each begins with the number of the port, the low byte first.

use bytes::Bytes;
use futures::future::join_all;
use futures::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

/// A connection that has switched to WebSocket.
pub(super) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// The messages that may wait for a port, or for the client.
const WAITING: usize = 16;
/// The bytes of a message to the client.
const CHUNK: usize = 32 * 1024;

/// Carries bytes between a client and ports until all ports are closed, or the client leaves.
pub(super) async fn forward(socket: &mut Socket, ports: Vec<(u16, Result<SocketAddr, String>)>) -> Result<(), Error> {
    let (mut to_client, mut from_client) = socket.split();
    let (sent, mut waiting) = channel::<Bytes>(WAITING);
    let (mut inlets, mut carried) = (Vec::new(), Vec::new());
    for (index, (port, leads)) in (0_u8..=127).zip(ports) {
        let (inlet, received) = channel::<Bytes>(WAITING);
        inlets.push(Some(inlet));
        carried.push(Port { data: 2 * index, number: port, sent: sent.clone() }.carry(leads, received));
    }
    drop(sent);
    let carried = join_all(carried);
    let outgoing = async {
        while let Some(message) = waiting.recv().await {
            to_client.send(Message::Binary(message)).await?;
        }
        Ok::<(), Error>(())
    };
    let incoming = async {
        while let Some(message) = from_client.next().await {
            let Ok(Message::Binary(message)) = message else { continue };
            let Some((channel, _)) = message.split_first() else { continue };
            // What is sent to the channel of errors has no reader.
            let inlet = inlets.get_mut(usize::from(channel / 2)).filter(|_| channel % 2 == 0);
            let Some(place) = inlet else { continue };
            if let Some(inlet) = place
                && inlet.send(message.slice(1..)).await.is_err()
            {
                *place = None;
            }
        }
    };
    let ended = async { tokio::join!(carried, outgoing).1 };
    tokio::select! {
        ended = ended => ended,
        () = incoming => Ok(()),
    }
}

struct Port {
    /// The channel of its bytes; that of its error is the next one.
    data: u8,
    number: u16,
    sent: Sender<Bytes>,
}

impl Port {
    /// Carries bytes until either side has ended.
    async fn carry(self, leads: Result<SocketAddr, String>, received: Receiver<Bytes>) {
        let number = self.number.to_le_bytes();
        self.send(self.data, &number).await;
        self.send(self.data + 1, &number).await;
        let connected = match leads {
            Ok(address) => TcpStream::connect(address).await.map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        let carried = match connected {
            Ok(stream) => self.exchange(stream, received).await.map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        if let Err(why) = carried {
            let message = format!("error forwarding port {}: {why}", self.number);
            self.send(self.data + 1, message.as_bytes()).await;
        }
    }

    async fn exchange(&self, mut stream: TcpStream, mut received: Receiver<Bytes>) -> std::io::Result<()> {
        let (mut reader, mut writer) = stream.split();
        let mut buffer = vec![0; CHUNK];
        loop {
            tokio::select! {
                message = received.recv() => match message {
                    Some(message) => writer.write_all(&message).await?,
                    None => return Ok(()),
                },
                read = reader.read(&mut buffer) => match read? {
                    0 => return Ok(()),
                    count => self.send(self.data, &buffer[..count]).await,
                },
            }
        }
    }

    async fn send(&self, channel: u8, content: &[u8]) {
        // The client may be gone.
        self.sent.send([&[channel], content].concat().into()).await.ok();
    }
}
