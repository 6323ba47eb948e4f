//! A connection to the API server, and the number of requests that it can carry at once.

use bytes::Bytes;
use http::header::{HOST, HeaderValue};
use http::{Method, Request, Response, Uri};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use kube::client::Body;
use std::error::Error as _;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex, Notify};
use tracing::debug;

/// Requests that share a connection even if the server allows more: its events are decoded one after the other. A real
/// API server allows as many (`--http2-max-streams-per-connection`).
const MAX_STREAMS: usize = 100;
/// The time without a frame after which a connection is pinged (`readIdleTimeout`).
const READ_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The time in which a ping has to be answered (`pingTimeout`).
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection, open or closed.
pub(super) struct Connection {
    sender: Sender,
    /// The number of requests in flight.
    load: AtomicUsize,
    /// The number of requests that the server allows at once (`SETTINGS_MAX_CONCURRENT_STREAMS`).
    limit: Arc<AtomicUsize>,
    /// Whether it has carried a response.
    proven: AtomicBool,
    broken: AtomicBool,
}

enum Sender {
    Http1(Mutex<http1::SendRequest<Body>>),
    Http2(http2::SendRequest<Body>),
}

type Sent = Result<Response<Incoming>, TrySendError<Request<Body>>>;

impl Connection {
    /// Does the handshake of HTTP/1.1 over a stream.
    pub(super) async fn http1(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> io::Result<Self> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(drive(connection));
        Ok(Connection::new(Sender::Http1(Mutex::new(sender)), Arc::new(AtomicUsize::new(1))))
    }

    /// Does the handshake of HTTP/2 over a stream, and waits for the server's limit of concurrent streams.
    pub(super) async fn http2(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> io::Result<Self> {
        let tasks = Tasks::default();
        let mut builder = http2::Builder::new(tasks.clone());
        builder.timer(TokioTimer::new()).keep_alive_interval(READ_IDLE_TIMEOUT).keep_alive_timeout(PING_TIMEOUT);
        builder.initial_max_send_streams(0);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        let mut connection = Box::pin(connection);
        loop {
            let progress = tasks.progress.notified();
            if connection.current_max_send_streams() > 0 {
                break;
            }
            tokio::select! {
                () = progress => {}
                ended = &mut connection => {
                    ended.map_err(io::Error::other)?;
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        let limit = Arc::new(AtomicUsize::new(connection.current_max_send_streams()));
        let current = limit.clone();
        // A server may change its limit later.
        let connection = poll_fn(move |context| {
            let ended = connection.as_mut().poll(context);
            current.store(connection.current_max_send_streams(), Ordering::Relaxed);
            ended
        });
        tokio::spawn(drive(connection));
        Ok(Connection::new(Sender::Http2(sender), limit))
    }

    fn new(sender: Sender, limit: Arc<AtomicUsize>) -> Self {
        Connection { sender, load: AtomicUsize::new(0), limit, proven: AtomicBool::new(false), broken: false.into() }
    }

    /// Whether it will never take another request.
    pub(super) fn is_closed(&self) -> bool {
        let closed = match &self.sender {
            // While the lock is held, a request is being sent.
            Sender::Http1(sender) => sender.try_lock().is_ok_and(|sender| sender.is_closed()),
            Sender::Http2(sender) => sender.is_closed(),
        };
        closed || self.broken.load(Ordering::Relaxed)
    }

    /// The number of requests in flight.
    pub(super) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    /// Reserves room for a request; `None` if the connection is full. Calls must not overlap.
    pub(super) fn reserve(self: &Arc<Self>) -> Option<Lease> {
        let limit = self.limit.load(Ordering::Relaxed).min(MAX_STREAMS);
        if self.load() >= limit {
            return None;
        }
        self.load.fetch_add(1, Ordering::Relaxed);
        Some(Lease(self.clone()))
    }

    async fn try_send(&self, request: Request<Body>) -> Sent {
        match &self.sender {
            Sender::Http1(sender) => {
                let mut sender = sender.lock().await;
                // If it never becomes ready, sending fails and returns the request.
                let _ = sender.ready().await;
                sender.try_send_request(in_origin_form(request)).await
            }
            Sender::Http2(sender) => sender.clone().try_send_request(request).await,
        }
    }
}

/// Room for one request on a connection, until it is dropped.
pub(super) struct Lease(Arc<Connection>);

/// An error of sending a request.
pub(super) enum SendError {
    /// The request was never sent, or can be repeated; it can be sent over another connection.
    Unsent(Box<Request<Body>>),
    /// The request may have been sent, or the connection failed without ever having carried a response.
    Failed(hyper::Error),
}

impl Lease {
    /// Sends a request with an absolute URI. The room is free again when the response's body is dropped.
    pub(super) async fn send(self, request: Request<Body>) -> Result<Response<LeasedBody>, SendError> {
        let connection = &self.0;
        let uri = request.uri().clone();
        let again = repeatable(&request).filter(|_| connection.proven.load(Ordering::Relaxed));
        match connection.try_send(request).await {
            Ok(response) => {
                connection.proven.store(true, Ordering::Relaxed);
                Ok(response.map(|body| LeasedBody { body, _lease: self }))
            }
            Err(mut error) => {
                // The server has closed a connection that was used before: perhaps it had not seen the request.
                let unseen = again.filter(|_| is_cut(error.error()));
                let Some(mut request) = error.take_message().or(unseen) else {
                    return Err(SendError::Failed(error.into_error()));
                };
                connection.broken.store(true, Ordering::Relaxed);
                // A server that accepts connections only to drop them must not be retried for ever.
                if !connection.proven.load(Ordering::Relaxed) {
                    return Err(SendError::Failed(error.into_error()));
                }
                *request.uri_mut() = uri;
                Err(SendError::Unsent(Box::new(request)))
            }
        }
    }
}

/// A copy of a request that can be repeated, as Go's transport does (`isReplayable`): one that reads, without a body.
fn repeatable(request: &Request<Body>) -> Option<Request<Body>> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD) && request.body().is_end_stream();
    reads.then(|| {
        let mut copy = Request::new(Body::empty());
        *copy.method_mut() = request.method().clone();
        *copy.uri_mut() = request.uri().clone();
        *copy.headers_mut() = request.headers().clone();
        copy
    })
}

/// Whether the connection ended before a response began.
fn is_cut(error: &hyper::Error) -> bool {
    error.is_incomplete_message() || error.source().is_some_and(|cause| cause.is::<io::Error>())
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.load.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response's body, which holds its room on a connection until it is dropped.
pub(super) struct LeasedBody {
    body: Incoming,
    _lease: Lease,
}

impl hyper::body::Body for LeasedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An executor for hyper's tasks that signals their progress: only then can a server's settings have arrived, which hyper
/// does not report.
#[derive(Clone, Default)]
struct Tasks {
    progress: Arc<Notify>,
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, task: F) {
        let progress = self.progress.clone();
        let mut task = Box::pin(task);
        tokio::spawn(poll_fn(move |context| {
            let polled = task.as_mut().poll(context);
            progress.notify_waiters();
            polled
        }));
    }
}

async fn drive(connection: impl Future<Output = hyper::Result<()>>) {
    if let Err(error) = connection.await {
        debug!(%error, "a connection broke");
    }
}

/// The request as HTTP/1.1 has it: the host in a header, not in the target.
fn in_origin_form(mut request: Request<Body>) -> Request<Body> {
    let host = request.uri().authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().entry(HOST).or_insert(host);
    }
    if let Some(target) = request.uri().path_and_query() {
        *request.uri_mut() = Uri::from(target.clone());
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper_util::rt::TokioExecutor;
    use std::convert::Infallible;
    use tokio::io::DuplexStream;
    use tokio::time::Instant;

    /// A connection to a server that allows `max_streams` requests at once.
    async fn connection(max_streams: impl Into<Option<u32>>) -> io::Result<Arc<Connection>> {
        let (ours, theirs) = tokio::io::duplex(1024);
        serve(theirs, max_streams);
        Connection::http2(ours).await.map(Arc::new)
    }

    /// A server that allows `max_streams` requests at once, and answers none.
    fn serve(stream: DuplexStream, max_streams: impl Into<Option<u32>>) {
        let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        builder.max_concurrent_streams(max_streams);
        let silent = hyper::service::service_fn(|_| std::future::pending::<Result<Response<Body>, Infallible>>());
        tokio::spawn(builder.serve_connection(TokioIo::new(stream), silent));
    }

    #[tokio::test]
    async fn a_connection_carries_what_the_server_allows_and_a_hundred_at_most() {
        for (allowed, expected) in [(Some(1), 1), (Some(3), 3), (Some(100), 100), (Some(1000), 100), (None, 100)] {
            let connection = connection(allowed).await.expect("a handshake");
            let leases: Vec<_> = std::iter::from_fn(|| connection.reserve()).take(1000).collect();
            assert_eq!(leases.len(), expected, "the server allows {allowed:?}");
            drop(leases);
            assert_eq!(connection.load(), 0);
            assert!(connection.reserve().is_some(), "there is room again");
        }
    }

    /// Copies bytes between the two until `cut`, and then holds both open, as a cut cable does.
    async fn cable(mut one: DuplexStream, mut other: DuplexStream, cut: Arc<Notify>) {
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut one, &mut other) => {}
            () = cut.notified() => std::future::pending().await,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_silent_for_too_long_is_given_up() {
        let (ours, one) = tokio::io::duplex(1024);
        let (other, theirs) = tokio::io::duplex(1024);
        let cut = Arc::new(Notify::new());
        tokio::spawn(cable(one, other, cut.clone()));
        serve(theirs, 100);
        let connection = Connection::http2(ours).await.map(Arc::new).expect("a handshake");
        cut.notify_one();
        let start = Instant::now();
        let lease = connection.reserve().expect("there is room");
        let sent = lease.send(Request::get("http://host/").body(Body::empty()).expect("a request")).await;
        assert!(matches!(sent, Err(SendError::Failed(_))));
        assert_eq!(start.elapsed().as_secs(), (READ_IDLE_TIMEOUT + PING_TIMEOUT).as_secs());
        assert!(connection.is_closed());
        assert_eq!(connection.load(), 0);
    }

    #[tokio::test]
    async fn a_server_that_hangs_up_instead_of_shaking_hands_is_no_connection() {
        let (ours, theirs) = tokio::io::duplex(1024);
        drop(theirs);
        assert!(Connection::http2(ours).await.is_err());
    }
}
