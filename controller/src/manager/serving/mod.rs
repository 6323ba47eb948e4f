//! The manager's HTTPS server: `/healthz` without authorization, `/metrics` with it.
//!
//! Follows controller-manager v0.37.1 `app/serve.go` and apiserver v0.37.1 `pkg/endpoints/handlers/responsewriters/errors.go`.
//! Metrics are OpenMetrics text, with the same lines as upstream's but for the stability level in the help.

mod access;
mod health;
mod reply;

use crate::client_go::leader_status::LeaderStatus;
use access::Access;
use anyhow::{Context, Result};
use health::Check;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use kube::Client;
use prometheus_client::registry::Registry;
use reply::{refusal, reply, text};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// Time for the TLS handshake, and over HTTP/1.1 for the head of a request (`ReadHeaderTimeout`).
const READ_HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// Pause after a failed accept, such as for lack of file descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// The content of the server.
pub struct Site {
    /// The client for TokenReviews and SubjectAccessReviews.
    pub client: Client,
    /// Paths without authorization.
    pub always_allow_paths: Vec<String>,
    /// The election, and the time for which a leader may fail to renew its Lease; `None` without an election.
    pub election: Option<(LeaderStatus, Duration)>,
    /// The names of the running controllers.
    pub controllers: Vec<&'static str>,
    /// The registry of the metrics.
    pub registry: Registry,
}

/// A certificate and its key, as PEM.
#[derive(Debug)]
pub struct Identity {
    /// The certificate, and its chain behind it.
    pub certificate_pem: Vec<u8>,
    /// The private key.
    pub key_pem: Vec<u8>,
}

impl Identity {
    /// A new self-signed certificate for `address`.
    ///
    /// # Errors
    /// If the operating system has no random numbers.
    pub fn generate(address: SocketAddr) -> Result<Self> {
        let names = vec!["localhost".to_owned(), address.ip().to_string()];
        let made = rcgen::generate_simple_self_signed(names).context("unable to create a serving certificate")?;
        Ok(Identity { certificate_pem: made.cert.pem().into(), key_pem: made.signing_key.serialize_pem().into() })
    }

    fn server_config(&self) -> Result<ServerConfig> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate_pem).collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(&self.key_pem)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = config.with_no_client_auth().with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// A listener that does not serve yet.
pub struct Endpoint {
    listener: TcpListener,
    tls: TlsAcceptor,
}

impl Endpoint {
    /// Listens on `address`.
    ///
    /// # Errors
    /// If the address cannot be listened on, or the identity is invalid.
    pub async fn bind(address: SocketAddr, identity: &Identity) -> Result<Self> {
        let listener = TcpListener::bind(address).await.with_context(|| format!("failed to listen on {address}"))?;
        let config = identity.server_config().context("the serving certificate and its key cannot be used")?;
        Ok(Endpoint { listener, tls: TlsAcceptor::from(Arc::new(config)) })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// If the operating system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves `site` until `stop`.
    pub async fn serve(self, site: Site, stop: CancellationToken) {
        info!(address = ?self.listener.local_addr(), "serving securely");
        let site = Arc::new(site);
        while let Some(accepted) = stop.run_until_cancelled(self.listener.accept()).await {
            match accepted {
                Ok((stream, _)) => {
                    let (tls, site, stop) = (self.tls.clone(), site.clone(), stop.clone());
                    tokio::spawn(async move { stop.run_until_cancelled(talk(stream, tls, site)).await });
                }
                Err(error) => {
                    warn!(%error, "unable to accept a connection");
                    stop.run_until_cancelled(tokio::time::sleep(ACCEPT_BACKOFF)).await;
                }
            }
        }
    }
}

async fn talk(stream: TcpStream, tls: TlsAcceptor, site: Arc<Site>) {
    let stream = match timeout(READ_HEADER_TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return debug!(%error, "TLS handshake failed"),
        Err(_) => return debug!("TLS handshake timed out"),
    };
    let service = service_fn(move |request| {
        let site = site.clone();
        async move { Ok::<_, Infallible>(site.answer(&request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(READ_HEADER_TIMEOUT);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        debug!(error, "connection ended early");
    }
}

impl Site {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        if !self.always_allow_paths.iter().any(|allowed| allowed == path) {
            match access::ask(&self.client, bearer(request), request.method().as_str(), path).await {
                Access::Granted => {}
                Access::Unauthorized => {
                    return refusal(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized".into());
                }
                Access::Forbidden { user, reason } => {
                    let verb = request.method().as_str().to_ascii_lowercase();
                    let mut message = format!("forbidden: User {user:?} cannot {verb} path {path:?}");
                    if !reason.is_empty() {
                        message = format!("{message}: {reason}");
                    }
                    return refusal(StatusCode::FORBIDDEN, "Forbidden", message);
                }
                Access::Unknown(error) => {
                    let message = format!("Internal Server Error: {:?}: {error}\n", request.uri().to_string());
                    return text(StatusCode::INTERNAL_SERVER_ERROR, message);
                }
            }
        }
        match path {
            "/healthz" => self.health(request.uri().query().unwrap_or_default()),
            "/metrics" if request.method() == Method::GET => self.metrics(),
            _ => text(StatusCode::NOT_FOUND, "404 page not found\n".into()),
        }
    }

    fn health(&self, query: &str) -> Response<Full<Bytes>> {
        let leads = |(status, tolerance): &(LeaderStatus, _)| status.is_healthy(*tolerance);
        let election = self.election.iter().map(|election| Check { name: "leaderElection", passes: leads(election) });
        // A running controller is healthy; it has no check of its own.
        let controllers = self.controllers.iter().map(|name| Check { name, passes: true });
        health::answer(&Vec::from_iter(election.chain(controllers)), query)
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        let mut body = String::new();
        if let Err(error) = prometheus_client::encoding::text::encode(&mut body, &self.registry) {
            return text(StatusCode::INTERNAL_SERVER_ERROR, format!("unable to write the metrics: {error}\n"));
        }
        reply(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", body)
    }
}

fn bearer(request: &Request<Incoming>) -> Option<&str> {
    let (scheme, token) = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}
