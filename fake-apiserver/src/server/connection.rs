//! One connection: HTTP/1.1 or HTTP/2, with the limits of a real server, from its first byte to its end, which may be that of a watch over
//! WebSocket.

use super::lifetime::{Expired, Lifetime, OpenBody, Watched};
use super::refusals::Refusals;
use crate::http::{Broken, Switched};
use bytes::Bytes;
use http::{Request, Response, Version};
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::error::Error;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Time for requests in flight to end once the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// Time for an idle client to read the GOAWAY before its connection is closed (`goAwayTimeout` of Go's server).
const GO_AWAY_GRACE: Duration = Duration::from_secs(1);
/// The most bytes of a response that are buffered for an HTTP/2 stream whose client does not read.
const MAX_STREAM_BYTES: usize = 64 * 1024;
/// The most bytes of the head of a request (`MaxHeaderBytes`).
const MAX_HEAD_BYTES: u32 = 1 << 20;
/// The most headers of an HTTP/1.1 request. Go limits only their bytes; hyper reserves room for that many in each request.
const MAX_HEADERS: usize = 256;

/// Serves `stream` with the responses of `answer` until it ends, is silent for too long, or `stop`. Where `ends` says so of a request's version, the
/// client is told to send no others, and the connection ends with the last of its responses.
pub(super) async fn serve<A, B>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    answer: impl Fn(Request<Incoming>) -> A,
    ends: impl Fn(Version) -> bool,
    max_streams: u32,
    stop: CancellationToken,
) where
    A: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let lifetime = Lifetime::new();
    let switched = Arc::new(OnceLock::<Switched>::new());
    let farewell = CancellationToken::new();
    // Cancelled by a fault that breaks the connection.
    let cut = CancellationToken::new();
    let service = service_fn(|request: Request<Incoming>| {
        let open = lifetime.request();
        let farewell = ends(request.version()).then(|| farewell.clone());
        let (answer, switched, cut) = (answer(request), switched.clone(), cut.clone());
        async move {
            let mut response = answer.await;
            if let Some(broken) = response.extensions_mut().remove::<Broken>() {
                if broken.whole {
                    cut.cancel();
                }
                return Err(CutOff);
            }
            if let Some(to) = response.extensions_mut().remove() {
                switched.get_or_init(|| to);
            }
            if let Some(farewell) = farewell {
                farewell.cancel();
            }
            Ok(response.map(|body| OpenBody::new(body, open)))
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // The lifetime limits the time of heads.
    let head_bytes = MAX_HEAD_BYTES as usize;
    builder.http1().header_read_timeout(None).max_headers(MAX_HEADERS).max_buf_size(head_bytes);
    let mut http2 = builder.http2();
    http2.timer(TokioTimer::new()).max_concurrent_streams(max_streams).max_header_list_size(MAX_HEAD_BYTES);
    http2.max_send_buf_size(MAX_STREAM_BYTES);
    let stream = TokioIo::new(Refusals::new(Watched::new(stream, lifetime.clone())));
    let mut connection = pin!(builder.serve_connection_with_upgrades(stream, service));
    let mut is_leaving = false;
    let grace = loop {
        tokio::select! {
        biased;
        // No other request is read once the server stops, even if a response ends at the same time.
        () = stop.cancelled() => break SHUTDOWN_GRACE,
        () = cut.cancelled() => return,
        () = farewell.cancelled(), if !is_leaving => {
            is_leaving = true;
            connection.as_mut().graceful_shutdown();
        }
        ended = &mut connection => {
            log(ended);
            let Some(switched) = switched.get() else { return };
            return tokio::select! {
                () = switched.clone().serve() => {}
                () = stopped_for(&stop, SHUTDOWN_GRACE) => {}
            };
        },
        expired = lifetime.expired() => match expired {
            Expired::Head => return,
            Expired::Idle => break GO_AWAY_GRACE,
        },
        }
    };
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        ended = connection => log(ended),
        () = tokio::time::sleep(grace) => {}
        () = stopped_for(&stop, SHUTDOWN_GRACE) => {}
    }
}

/// A fault has kept a response from its client.
#[derive(Debug, thiserror::Error)]
#[error("cut off by a fault rule")]
struct CutOff;

/// Completes `time` after `stop`.
async fn stopped_for(stop: &CancellationToken, time: Duration) {
    stop.cancelled().await;
    tokio::time::sleep(time).await;
}

fn log(ended: Result<(), Box<dyn Error + Send + Sync>>) {
    if let Err(error) = ended {
        tracing::debug!(error, "connection ended early");
    }
}

#[cfg(test)]
mod tests;
