//! The conversion webhook that a scenario starts: a server of this process, over TLS, that API servers on this machine reach.

mod answers;
mod certificates;

pub use answers::Answer;
pub use certificates::Manner;

use answers::Asked;
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

/// A running webhook, which ends when this is dropped.
pub struct Webhook {
    address: SocketAddr,
    /// PEM.
    bundle: String,
    answer: Arc<Mutex<Answer>>,
    _server: AbortOnDropHandle<()>,
}

impl Webhook {
    /// Starts a webhook that converts, with a certificate of that manner.
    ///
    /// # Errors
    /// If no port is free, or the system has no random numbers for keys.
    pub async fn start(manner: Manner) -> Result<Webhook> {
        let certificates::Identity { chain, key, bundle } = manner.identity()?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let answer = Arc::new(Mutex::new(Answer::CONVERTED));
        let server = tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), Arc::clone(&answer)));
        Ok(Webhook { address, bundle, answer, _server: AbortOnDropHandle::new(server) })
    }

    /// The host and port of its URL.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The certificates that vouch for it, as a `caBundle`: PEM in base64.
    pub fn ca_bundle(&self) -> String {
        BASE64.encode(&self.bundle)
    }

    /// Answers like that from now on.
    pub fn set(&self, answer: Answer) {
        *self.answer.lock().expect("no code that runs under this lock panics") = answer;
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, answer: Arc<Mutex<Answer>>) {
    // They end with the webhook.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (tls, answer) = (tls.clone(), Arc::clone(&answer));
        // A client that does not trust it or goes away does not affect the others.
        connections.spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let service = service_fn(|request| respond(request, Arc::clone(&answer)));
            let connection = auto::Builder::new(TokioExecutor::new());
            connection.serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

async fn respond(request: http::Request<Incoming>, answer: Arc<Mutex<Answer>>) -> Result<http::Response<Full<Bytes>>> {
    let (parts, body) = request.into_parts();
    let asked = Asked { parts, body: body.collect().await?.to_bytes() };
    let answer = *answer.lock().expect("no code that runs under this lock panics");
    let sent = answer.to(&asked)?;
    let mut response = http::Response::builder().status(sent.status).header(CONTENT_TYPE, sent.content_type);
    if !sent.encoding.is_empty() {
        response = response.header(CONTENT_ENCODING, sent.encoding);
    }
    Ok(response.body(Full::new(sent.body.into()))?)
}
