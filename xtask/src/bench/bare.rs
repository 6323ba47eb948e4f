//! The least that an HTTPS server can do: what is PUT is kept under its path and GET there, other bodies are sent back.
//! How fast it is, is how fast any server built on hyper could be.

use anyhow::Context;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, RwLock};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

type Kept = Arc<RwLock<HashMap<String, Bytes>>>;

/// Serves until the standard input ends.
pub(crate) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    runtime.spawn(accept(listener, TlsAcceptor::from(Arc::new(server_config()?))));
    writeln!(io::stdout(), "ready https://{address}")?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).context("unable to read the standard input")?;
    runtime.shutdown_background();
    Ok(())
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor) {
    let kept = Kept::default();
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, kept) = (acceptor.clone(), kept.clone());
        tokio::spawn(async move {
            if let Err(error) = converse(stream, acceptor, kept).await {
                eprintln!("{error}");
            }
        });
    }
}

async fn converse(stream: TcpStream, acceptor: TlsAcceptor, kept: Kept) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let stream = acceptor.accept(stream).await?;
    let service = service_fn(move |request| answer(kept.clone(), request));
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}

async fn answer(kept: Kept, request: Request<Incoming>) -> anyhow::Result<Response<Full<Bytes>>> {
    const POISONED: &str = "no holder of this lock can panic";
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let bytes = match parts.method {
        Method::GET => kept.read().expect(POISONED).get(path).cloned().unwrap_or_default(),
        _ => body.collect().await?.to_bytes(),
    };
    if parts.method == Method::PUT {
        kept.write().expect(POISONED).insert(path.to_string(), bytes.clone());
    }
    let mut response = Response::new(Full::new(bytes));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn server_config() -> anyhow::Result<ServerConfig> {
    let identity = rcgen::generate_simple_self_signed(["localhost".to_string(), "127.0.0.1".to_string()])?;
    let key = PrivateKeyDer::try_from(identity.signing_key.serialize_der()).map_err(anyhow::Error::msg)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_no_client_auth().with_single_cert(vec![identity.cert.der().clone()], key)?)
}
