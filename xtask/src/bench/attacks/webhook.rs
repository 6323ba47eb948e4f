//! A conversion webhook that does harm: at one path it never answers, at all others it sends very much.

use crate::bench::bare::identity;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The path at which it never answers.
pub(super) const HUNG: &str = "/hung";
/// The length of its answers at others, in bytes.
const LENGTH: usize = 60_000_000;

/// The webhook. It serves until the process ends.
pub(super) struct Webhook {
    address: SocketAddr,
    /// Its certificate, PEM in base64, as definitions have it.
    pub(super) bundle: String,
}

impl Webhook {
    /// Starts it on the current runtime.
    pub(super) fn start() -> anyhow::Result<Webhook> {
        let (config, certificate) = identity()?;
        let bundle = STANDARD.encode(certificate);
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        // A valid text up to its end, so that all of it has to be read.
        let much =
            Bytes::from(format!(r#"{{"kind":"ConversionReview","response":{{"uid":"{}"}}}}"#, "x".repeat(LENGTH)));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, much) = (acceptor.clone(), much.clone());
                tokio::spawn(async move {
                    let stream = acceptor.accept(stream).await?;
                    let service = service_fn(move |request| answer(request, much.clone()));
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await?;
                    anyhow::Ok(())
                });
            }
        });
        Ok(Webhook { address, bundle })
    }

    /// Its URL with that path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }
}

async fn answer(request: Request<Incoming>, much: Bytes) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() == HUNG {
        pending::<()>().await;
    }
    Ok(Response::new(Full::new(much)))
}
