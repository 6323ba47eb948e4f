//! A minimal HTTPS server, as the upper bound for any server built on hyper. A PUT stores its body under its path, a GET
//! reads it; other bodies are echoed. A GET with `watch=true` stays open and receives the body stored under its own path
//! with every PUT below that path.

use anyhow::Context;
use bytes::Bytes;
use futures::stream;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Either, Full, StreamBody};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::io::{self, Write};
use std::sync::{Arc, RwLock};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio_rustls::TlsAcceptor;

/// Capacity of a watch in frames: more than any stream is ever behind.
const FRAMES: usize = 16;
/// Maximum of concurrent HTTP/2 streams, as of the server under test.
const MAX_STREAMS: u32 = 1000;

type Kept = Arc<RwLock<HashMap<String, Resource>>>;

/// The content of a path.
struct Resource {
    bytes: Bytes,
    /// The frames for its watches.
    frames: broadcast::Sender<Bytes>,
}

impl Default for Resource {
    fn default() -> Self {
        Resource { bytes: Bytes::new(), frames: broadcast::Sender::new(FRAMES) }
    }
}

/// Serves until the standard input ends.
pub(crate) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    runtime.spawn(accept(listener, TlsAcceptor::from(Arc::new(identity()?.0))));
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
            if let Err(error) = serve_connection(stream, acceptor, kept).await {
                eprintln!("{error}");
            }
        });
    }
}

async fn serve_connection(stream: TcpStream, acceptor: TlsAcceptor, kept: Kept) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let stream = acceptor.accept(stream).await?;
    let service = service_fn(move |request| answer(kept.clone(), request));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http2().max_concurrent_streams(MAX_STREAMS);
    builder.serve_connection(TokioIo::new(stream), service).await.map_err(anyhow::Error::from_boxed)
}

async fn answer(
    kept: Kept,
    request: Request<Incoming>,
) -> anyhow::Result<Response<impl Body<Data = Bytes, Error = Box<dyn Error + Send + Sync>>>> {
    const POISONED: &str = "no holder of this lock can panic";
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    if parts.uri.query().is_some_and(|query| query.contains("watch=true")) {
        let frames = kept.write().expect(POISONED).entry(path.to_owned()).or_default().frames.subscribe();
        let frames = stream::unfold(frames, |mut frames| async move {
            let frame = frames.recv().await.ok()?;
            Some((Ok::<_, Infallible>(Frame::data(frame)), frames))
        });
        return Ok(respond(Either::Right(StreamBody::new(frames))));
    }
    let bytes = match parts.method {
        Method::GET => kept.read().expect(POISONED).get(path).map(|kept| kept.bytes.clone()).unwrap_or_default(),
        _ => body.collect().await?.to_bytes(),
    };
    if parts.method == Method::PUT {
        let mut kept = kept.write().expect(POISONED);
        kept.entry(path.to_owned()).or_default().bytes = bytes.clone();
        let above = path.rsplit_once('/').and_then(|(above, _)| kept.get(above));
        let watched = above.filter(|above| above.frames.receiver_count() > 0);
        let frame = watched.map(|above| (above.frames.clone(), above.bytes.clone()));
        drop(kept);
        if let Some((frames, frame)) = frame {
            frames.send(frame).context("all watches have ended")?;
        }
    }
    Ok(respond(Either::Left(Full::new(bytes))))
}

fn respond<B>(body: B) -> Response<B> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A new identity: the configuration of a server, and its certificate, PEM.
pub(super) fn identity() -> anyhow::Result<(ServerConfig, String)> {
    let identity = rcgen::generate_simple_self_signed(["localhost".to_string(), "127.0.0.1".to_string()])?;
    let key = PrivateKeyDer::try_from(identity.signing_key.serialize_der()).map_err(anyhow::Error::msg)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = config.with_no_client_auth().with_single_cert(vec![identity.cert.der().clone()], key)?;
    Ok((config, identity.cert.pem()))
}
