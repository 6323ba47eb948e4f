//! A webhook: at one path it admits all that it is asked about, at another it never answers, and at all others it sends very much.

use super::bare::identity;
use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The path at which it admits.
pub(super) const ADMITS: &str = "/admits";
/// The path at which it never answers.
pub(super) const HUNG: &str = "/hung";
/// The length of its answers at others, in bytes.
const LENGTH: usize = 60_000_000;

/// The webhook. It serves until the process ends.
pub(super) struct Webhook {
    address: SocketAddr,
    /// Its certificate, PEM in base64, as definitions have it.
    pub(super) bundle: String,
    admitted: Arc<AtomicU64>,
}

impl Webhook {
    /// Starts it on the current runtime. It agrees on one of those protocols, or without any on HTTP/1.1.
    pub(super) fn start(protocols: &[&str]) -> anyhow::Result<Webhook> {
        let (mut config, certificate) = identity()?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        let bundle = STANDARD.encode(certificate);
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        // A valid text up to its end, so that all of it has to be read.
        let much =
            Bytes::from(format!(r#"{{"kind":"ConversionReview","response":{{"uid":"{}"}}}}"#, "x".repeat(LENGTH)));
        let admitted = Arc::<AtomicU64>::default();
        let count = admitted.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, much, count) = (acceptor.clone(), much.clone(), count.clone());
                tokio::spawn(async move {
                    stream.set_nodelay(true)?;
                    let stream = acceptor.accept(stream).await?;
                    let service = service_fn(move |request| answer(request, much.clone(), count.clone()));
                    let builder = auto::Builder::new(TokioExecutor::new());
                    builder.serve_connection(TokioIo::new(stream), service).await.map_err(anyhow::Error::from_boxed)
                });
            }
        });
        Ok(Webhook { address, bundle, admitted })
    }

    /// Its URL with that path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// The number of requests that it has admitted.
    pub(super) fn admitted(&self) -> u64 {
        self.admitted.load(Ordering::Relaxed)
    }
}

async fn answer(
    request: Request<Incoming>,
    much: Bytes,
    count: Arc<AtomicU64>,
) -> anyhow::Result<Response<Full<Bytes>>> {
    match request.uri().path() {
        HUNG => pending().await,
        ADMITS => {
            let review = request.into_body().collect().await?.to_bytes();
            let answer = admission(&review).context("a review without a uid")?;
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Response::new(Full::new(answer)))
        }
        _ => Ok(Response::new(Full::new(much))),
    }
}

/// The answer that admits what a review is about. Only the uid is looked for, which comes first in a review: the webhook shares the
/// machine with the servers that are measured.
fn admission(review: &[u8]) -> Option<Bytes> {
    let review = std::str::from_utf8(review).ok()?;
    let (_, rest) = review.split_once(r#""uid":""#)?;
    let (uid, _) = rest.split_once('"')?;
    let response = format!(r#"{{"uid":"{uid}","allowed":true}}"#);
    Some(format!(r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{response}}}"#).into())
}
