//! The webhook that a scenario starts, for conversion and for admission: a server of this process, over TLS, that API servers on
//! this machine reach.

mod admission;
mod answers;
mod certificates;

pub use admission::{Kind, Reply};
pub use answers::Answer;
pub use certificates::Manner;

use admission::{Reaction, Script};
use answers::Asked;
use anyhow::{Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use conformance_judge::observation::Item;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

/// A running webhook, which ends when this is dropped.
pub struct Webhook {
    address: SocketAddr,
    /// PEM.
    bundle: String,
    state: Arc<State>,
    server: AbortOnDropHandle<()>,
}

struct State {
    /// The answer to conversions.
    conversion: Mutex<Answer>,
    admission: Mutex<Script>,
}

impl State {
    fn admission(&self) -> MutexGuard<'_, Script> {
        self.admission.lock().expect("no code that runs under this lock panics")
    }
}

impl Webhook {
    /// Starts a webhook that converts and admits, with a certificate of that manner.
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
        let state = Arc::new(State { conversion: Mutex::new(Answer::CONVERTED), admission: Mutex::default() });
        let server = tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), Arc::clone(&state)));
        Ok(Webhook { address, bundle, state, server: AbortOnDropHandle::new(server) })
    }

    /// Ends it; connections to it are refused from then on.
    pub async fn stop(self) {
        self.server.abort();
        self.server.await.ok();
    }

    /// The host and port of its URL.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The certificates that vouch for it, as a `caBundle`: PEM in base64.
    pub fn ca_bundle(&self) -> String {
        BASE64.encode(&self.bundle)
    }

    /// Answers conversions like that from now on.
    pub fn set(&self, answer: Answer) {
        *self.state.conversion.lock().expect("no code that runs under this lock panics") = answer;
    }

    /// Answers reviews of admission at `path` like that from now on, or only the next one; without a path at all of them.
    pub fn script(&self, path: &str, once: bool, reply: Reply) {
        self.state.admission().set(path, once, reply);
    }

    /// Takes the reviews of admission at that path, or all of them, in the order in which they came.
    pub fn take_reviews(&self, path: Option<&str>) -> Vec<Item> {
        self.state.admission().take(path)
    }

    /// Whether there are reviews of admission at that path which were not taken.
    pub fn was_called(&self, path: &str) -> bool {
        self.state.admission().was_called(path)
    }

    /// Whether there was a review of admission.
    pub fn admits(&self) -> bool {
        self.state.admission().has_seen_any()
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, state: Arc<State>) {
    // They end with the webhook.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (tls, state) = (tls.clone(), Arc::clone(&state));
        // A client that does not trust it or goes away does not affect the others.
        connections.spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let end = Arc::new(Notify::new());
            let service = service_fn(|request| respond(request, Arc::clone(&state), Arc::clone(&end)));
            let builder = auto::Builder::new(TokioExecutor::new());
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = connection => {}
                () = end.notified() => {}
            }
        });
    }
}

async fn respond(
    request: http::Request<Incoming>,
    state: Arc<State>,
    end: Arc<Notify>,
) -> Result<http::Response<Full<Bytes>>> {
    let (parts, body) = request.into_parts();
    let asked = Asked { parts, body: body.collect().await?.to_bytes() };
    let review: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    if review["kind"] == "AdmissionReview" {
        let reaction = state.admission().react(&asked.parts, review)?;
        return match reaction {
            Reaction::Answer(response) => Ok(response),
            Reaction::Silence => std::future::pending().await,
            Reaction::HangUp => {
                end.notify_one();
                std::future::pending().await
            }
            Reaction::Reset => bail!("the script says so"),
        };
    }
    let answer = *state.conversion.lock().expect("no code that runs under this lock panics");
    let sent = answer.to(&asked)?;
    let mut response = http::Response::builder().status(sent.status).header(CONTENT_TYPE, sent.content_type);
    if !sent.encoding.is_empty() {
        response = response.header(CONTENT_ENCODING, sent.encoding);
    }
    Ok(response.body(Full::new(sent.body.into()))?)
}
