//! Connections: accepted, wrapped in TLS, served over HTTP/1.1 or HTTP/2, and let go at the end.

use super::gathered::Gathered;
use crate::auth::ClientCertificate;
use crate::http::{Replica, serve};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Time for a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for the head of an HTTP/1.1 request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for requests under way to end once the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// Pause when no connection can be accepted: descriptors come back when other connections end.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);
/// client-go runs all its watches over one connection; upstream's default is 100, and 250 before 1.27.
const MAX_STREAMS: u32 = 1000;

pub(super) struct Listener {
    pub(super) listener: TcpListener,
    pub(super) tls: Option<Arc<ServerConfig>>,
}

/// Accepts connections until `stop`.
pub(super) async fn accept(listener: Listener, replica: Arc<Replica>, stop: CancellationToken, tasks: TaskTracker) {
    let acceptor = listener.tls.map(TlsAcceptor::from);
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // A connection that was gone before it was accepted, or no descriptors left: others may still come.
                Err(error) => {
                    tracing::warn!(%error, "unable to accept a connection");
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                    continue;
                }
            },
        };
        tasks.spawn(handshake(stream, acceptor.clone(), replica.clone(), stop.clone()));
    }
}

async fn handshake(stream: TcpStream, acceptor: Option<TlsAcceptor>, replica: Arc<Replica>, stop: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "unable to turn off Nagle's algorithm");
    }
    let Some(acceptor) = acceptor else { return serve_connection(stream, None, replica, stop).await };
    let handshake = tokio::select! {
        () = stop.cancelled() => return,
        handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)) => handshake,
    };
    match handshake {
        Ok(Ok(stream)) => {
            let chain = stream.get_ref().1.peer_certificates().map(<[_]>::to_vec);
            let certificate = chain.map(ClientCertificate::new).map(Arc::new);
            match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => serve_connection(Gathered::new(stream), certificate, replica, stop).await,
                _ => serve_connection(stream, certificate, replica, stop).await,
            }
        }
        Ok(Err(error)) => tracing::debug!(%error, "TLS handshake error"),
        Err(_) => tracing::debug!("TLS handshake timed out"),
    }
}

async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    certificate: Option<Arc<ClientCertificate>>,
    replica: Arc<Replica>,
    stop: CancellationToken,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (replica, certificate) = (replica.clone(), certificate.clone());
        async move { Ok::<Response<_>, Infallible>(serve(replica, certificate, request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(MAX_STREAMS);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(SHUTDOWN_GRACE, connection).await {
                Ok(ended) => ended,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "connection ended early");
    }
}
