//! The server beneath a webhook: of this process, over TLS. What is done with a request, a function decides.

use super::certificates::{Identity, Manner};
use anyhow::{Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::request::Parts;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

/// The streams of a connection at once, as servers in Go have them.
const STREAMS: u32 = 250;

/// A request.
pub struct Asked {
    /// Its head.
    pub parts: Parts,
    /// Its body.
    pub body: Bytes,
}

/// The reaction to a request.
pub enum Reaction {
    /// It is answered.
    Answer(http::Response<Full<Bytes>>),
    /// Nothing.
    Silence,
    /// The connection is closed.
    HangUp,
    /// The stream is reset.
    Reset,
}

/// A certificate of a webhook, and where it listens.
pub struct Door {
    /// The address.
    pub address: SocketAddr,
    bundle: String,
    /// The listener.
    pub(crate) listener: TcpListener,
    /// The acceptor of TLS on its connections.
    pub(crate) tls: TlsAcceptor,
}

impl Door {
    /// Listens, with a certificate of that manner; one of those protocols is agreed on.
    ///
    /// # Errors
    /// If no port is free, or the system has no random numbers for keys.
    pub(crate) async fn open(manner: Manner, protocols: &[&str]) -> Result<Door> {
        let Identity { chain, key, bundle } = manner.identity()?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        Ok(Door { address: listener.local_addr()?, bundle, listener, tls: TlsAcceptor::from(Arc::new(config)) })
    }

    /// The certificates that vouch for it, as a `caBundle`: PEM in base64.
    pub fn ca_bundle(&self) -> String {
        BASE64.encode(&self.bundle)
    }
}

/// A running server, which ends when this is dropped.
pub struct Server {
    /// The address.
    pub address: SocketAddr,
    /// The certificates that vouch for it, as a `caBundle`: PEM in base64.
    pub ca_bundle: String,
    task: AbortOnDropHandle<()>,
}

impl Server {
    /// Starts a server that does with each request what `react` says. Its future ends with the client.
    ///
    /// # Errors
    /// If no port is free, or the system has no random numbers for keys.
    pub async fn start<F, R>(manner: Manner, react: F) -> Result<Server>
    where
        F: Fn(Asked) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<Reaction>> + Send + 'static,
    {
        let door = Door::open(manner, &["h2", "http/1.1"]).await?;
        let (address, ca_bundle) = (door.address, door.ca_bundle());
        Ok(Server { address, ca_bundle, task: AbortOnDropHandle::new(tokio::spawn(serve(door, react))) })
    }

    /// Ends it; connections to it are refused from then on.
    pub async fn stop(self) {
        self.task.abort();
        self.task.await.ok();
    }
}

async fn serve<F, R>(Door { listener, tls, .. }: Door, react: F)
where
    F: Fn(Asked) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Reaction>> + Send + 'static,
{
    // They end with the server.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (tls, react) = (tls.clone(), react.clone());
        // A client that does not trust it or goes away does not affect the others.
        connections.spawn(async move {
            stream.set_nodelay(true).ok();
            let Ok(stream) = tls.accept(stream).await else { return };
            let end = Arc::new(Notify::new());
            let service = service_fn(|request| respond(request, react.clone(), Arc::clone(&end)));
            let mut builder = auto::Builder::new(TokioExecutor::new());
            builder.http2().max_concurrent_streams(STREAMS);
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = connection => {}
                () = end.notified() => {}
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn respond<F, R>(
    request: http::Request<Incoming>,
    react: F,
    end: Arc<Notify>,
) -> Result<http::Response<Full<Bytes>>>
where
    F: Fn(Asked) -> R,
    R: Future<Output = Result<Reaction>>,
{
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    match react(Asked { parts, body }).await? {
        Reaction::Answer(response) => Ok(response),
        Reaction::Silence => std::future::pending().await,
        Reaction::HangUp => {
            end.notify_one();
            std::future::pending().await
        }
        Reaction::Reset => bail!("so it was decided"),
    }
}
