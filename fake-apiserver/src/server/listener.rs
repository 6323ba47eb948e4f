//! The accept loop: connections are accepted, wrapped in TLS, and served.

use super::connection;
use super::gathered::Gathered;
use super::lifetime::HEAD;
use super::socket::Socket;
use super::spoilt::struck;
use crate::auth::ClientCertificate;
use crate::http::{Named, Peer, Replica, Wire, misdirected, places, serve};
use crate::threads;
use http::Request;
use hyper::body::Incoming;
use rustls::ServerConfig;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Pause when no connection can be accepted: descriptors are freed when other connections end.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);
/// The time between TCP keep-alive probes of a silent connection (`defaultKeepAlivePeriod`).
const KEEP_ALIVE: Duration = Duration::from_secs(3 * 60);
/// Connections that the kernel keeps until they are accepted; as in Go, no more than the kernel's own limit (4,096). A
/// client that finds the queue full tries again after a second.
const BACKLOG: u32 = 4096;

pub(super) struct Listener {
    pub(super) listener: TcpListener,
    pub(super) tls: Option<Arc<ServerConfig>>,
}

/// Binds a port, and listens on it with the threads that serve connections.
pub(super) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let runtime = threads::runtime()?;
    let _within = runtime.enter();
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows the option would let two programs share a port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections until `stop`, up to the limit at a time; others wait in the kernel's queue. Those that are open end at `closed`.
pub(super) async fn accept(
    listener: Listener,
    replica: Arc<Replica>,
    stop: CancellationToken,
    closed: CancellationToken,
    tasks: TaskTracker,
) {
    let acceptor = listener.tls.map(TlsAcceptor::from);
    let places = places(replica.limits.connections).map(Arc::new);
    loop {
        let next = async {
            let place = match &places {
                Some(places) => places.clone().acquire_owned().await.ok(),
                None => None,
            };
            listener.listener.accept().await.map(|(stream, address)| (stream, address, place))
        };
        let (stream, address, place) = tokio::select! {
            () = stop.cancelled() => return,
            accepted = next => match accepted {
                Ok(accepted) => accepted,
                // The connection was closed before it was accepted, or no descriptors are left: others may still come.
                Err(error) => {
                    tracing::warn!(%error, "unable to accept a connection");
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                    continue;
                }
            },
        };
        let connection = handshake(stream, address, acceptor.clone(), replica.clone(), closed.clone());
        tasks.spawn(async move {
            let _place = place;
            connection.await;
        });
    }
}

async fn handshake(
    stream: TcpStream,
    address: SocketAddr,
    acceptor: Option<TlsAcceptor>,
    replica: Arc<Replica>,
    stop: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "unable to turn off Nagle's algorithm");
    }
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE);
    if let Err(error) = SockRef::from(&stream).set_tcp_keepalive(&keep_alive) {
        tracing::debug!(%error, "unable to keep the connection alive");
    }
    let (mut stream, resets) = Socket::new(stream);
    let mut wrong = None;
    if let Some(strike) = replica.cluster.faults.next_connection(replica.index, acceptor.is_some()) {
        // Boxed, for it is rare.
        match Box::pin(struck(strike, stream, &resets, &stop)).await {
            Some(goes_on) => (stream, wrong) = goes_on,
            None => return,
        }
    }
    let mut peer = Peer { address: Some(address), resets: Some(resets), ..Peer::default() };
    let Some(acceptor) = wrong.or(acceptor) else { return serve_connection(stream, peer, replica, stop).await };
    let handshake = tokio::select! {
        () = stop.cancelled() => return,
        handshake = tokio::time::timeout(HEAD, acceptor.accept(stream)) => handshake,
    };
    match handshake {
        Ok(Ok(stream)) => {
            let chain = stream.get_ref().1.peer_certificates().map(<[_]>::to_vec);
            peer.certificate = chain.map(ClientCertificate::new).map(Arc::new);
            match replica.beside.named(stream.get_ref().1.server_name()) {
                Named::First => serve_either(stream, peer, replica, stop).await,
                Named::Other(other) => serve_other(stream, peer, other, stop).await,
                Named::Nobody => refuse(stream, &replica, stop).await,
            }
        }
        Ok(Err(error)) => tracing::debug!(%error, "TLS handshake error"),
        Err(_) => tracing::debug!("TLS handshake timed out"),
    }
}

async fn serve_either(stream: TlsStream<Socket>, peer: Peer, replica: Arc<Replica>, stop: CancellationToken) {
    match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => serve_connection(Gathered::new(stream), peer, replica, stop).await,
        _ => serve_connection(stream, peer, replica, stop).await,
    }
}

/// Serves a connection for another cluster, until that one ends or `stop`.
async fn serve_other(stream: TlsStream<Socket>, peer: Peer, other: Arc<Replica>, stop: CancellationToken) {
    let (either, ended) = (stop.child_token(), other.shutdown.clone());
    let mut serving = pin!(serve_either(stream, peer, other, either.clone()));
    tokio::select! {
        () = &mut serving => return,
        () = ended.cancelled() => either.cancel(),
    }
    serving.await;
}

/// Tells the client of a connection that the cluster whose name it asked TLS for is not there.
async fn refuse(stream: TlsStream<Socket>, replica: &Replica, stop: CancellationToken) {
    let name = stream.get_ref().1.server_name().unwrap_or_default().to_owned();
    let answer = move |_: Request<Incoming>| std::future::ready(misdirected(&name));
    connection::serve(stream, answer, |_| true, replica.limits.streams, stop).await;
}

pub(super) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    replica: Arc<Replica>,
    stop: CancellationToken,
) {
    let (max_streams, peer) = (replica.limits.streams, Arc::new(peer));
    let ends = {
        let replica = replica.clone();
        move |version| replica.ends_connection(version)
    };
    let answer = move |request: Request<Incoming>| serve(replica.clone(), peer.clone(), request.map(Wire::Incoming));
    connection::serve(stream, answer, ends, max_streams, stop).await;
}
