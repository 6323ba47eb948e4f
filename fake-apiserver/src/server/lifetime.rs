//! The time that a connection may be silent.
//!
//! ```text
//!            HTTP/1.1: head is read               its answer is sent
//!   Opening ───────────────────────▶ Busy ◀──────────────────────────▶ Idle ── first byte of the next ──▶ Head ──▶ Busy
//!    32 s                            no limit                          90 s                               32 s
//!      │     HTTP/2: preface is read                                     ▲
//!      └─────────────────────────────────────────────────────────────────┘ from then on only requests count, not bytes
//! ```
//!
//! Follows apiserver v0.37.1 `pkg/server/secure_serving.go` and Go's server: `ReadHeaderTimeout`, which limits the TLS
//! handshake too, and `IdleTimeout`. Pings do not prolong the lifetime of a connection without requests.

use crate::clock::later;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// Time for a TLS handshake, for the preface of HTTP/2, and for the head of an HTTP/1.1 request (`ReadHeaderTimeout`).
pub(super) const HEAD: Duration = Duration::from_secs(32);
/// Time between requests (`IdleTimeout`).
pub(super) const IDLE: Duration = Duration::from_secs(90);

/// The longest write that does not count as part of a response, in bytes.
const MAX_CONTROL_BYTES: usize = 64;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The timeout that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expired {
    /// The head of a request, or the preface, is not complete.
    Head,
    /// No request is in progress.
    Idle,
}

/// The lifetime of a connection. Clones share it.
#[derive(Clone)]
pub(super) struct Lifetime(Arc<Mutex<State>>);

struct State {
    protocol: Protocol,
    phase: Phase,
    /// The beginning of the phase.
    since: Instant,
    /// The number of requests in flight.
    open: usize,
}

#[derive(Clone, Copy)]
enum Protocol {
    /// So many bytes were received, all of them part of the preface.
    Unknown(usize),
    Http1,
    Http2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the first request or the preface, and within the head of a later request.
    Head,
    Busy,
    Idle,
}

impl Lifetime {
    /// The lifetime of a connection that has just been opened.
    pub(super) fn new() -> Self {
        let state = State { protocol: Protocol::Unknown(0), phase: Phase::Head, since: Instant::now(), open: 0 };
        Lifetime(Arc::new(Mutex::new(state)))
    }

    /// Notes a request, which is in flight until the result is dropped.
    pub(super) fn request(&self) -> OpenRequest {
        let mut state = self.state();
        state.open += 1;
        // It may last: no time is read.
        state.phase = Phase::Busy;
        OpenRequest(self.clone())
    }

    /// Completes when the connection has been silent for too long.
    pub(super) async fn expired(&self) -> Expired {
        loop {
            let next = match self.state().due() {
                Ok(expired) => return expired,
                Err(next) => next,
            };
            sleep_until(next).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

impl State {
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.since = Instant::now();
    }

    /// The timeout that has passed, or the time of the next check, which no event in between can bring forward.
    fn due(&self) -> Result<Expired, Instant> {
        let now = Instant::now();
        let (limit, expired) = match self.phase {
            Phase::Head => (HEAD, Expired::Head),
            Phase::Idle => (IDLE, Expired::Idle),
            Phase::Busy => return Err(later(now, HEAD)),
        };
        let end = later(self.since, limit);
        if end <= now { Ok(expired) } else { Err(end.min(later(now, HEAD))) }
    }

    fn received(&mut self, bytes: &[u8]) {
        match self.protocol {
            Protocol::Unknown(seen) => {
                let expected = &PREFACE[seen..];
                let length = expected.len().min(bytes.len());
                if expected[..length] != bytes[..length] {
                    self.protocol = Protocol::Http1;
                } else if length == expected.len() {
                    self.protocol = Protocol::Http2;
                    self.enter(Phase::Idle);
                } else {
                    self.protocol = Protocol::Unknown(seen + length);
                }
            }
            Protocol::Http1 if self.phase == Phase::Idle => self.enter(Phase::Head),
            Protocol::Http1 | Protocol::Http2 => {}
        }
    }

    /// Notes a write: the rest of a response is sent after its request is over. Short writes answer pings.
    fn sent(&mut self, bytes: usize) {
        if self.phase == Phase::Idle && bytes > MAX_CONTROL_BYTES {
            self.enter(Phase::Idle);
        }
    }
}

/// A request in flight.
pub(super) struct OpenRequest(Lifetime);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open -= 1;
        if state.open == 0 {
            state.enter(Phase::Idle);
        }
    }
}

/// The body of a response, whose request is in flight until it is sent.
pub(super) struct OpenBody<B> {
    body: B,
    _request: OpenRequest,
}

impl<B> OpenBody<B> {
    pub(super) fn new(body: B, request: OpenRequest) -> Self {
        OpenBody { body, _request: request }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for OpenBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that reports its reads and writes to the lifetime of its connection.
pub(super) struct Watched<S> {
    stream: S,
    lifetime: Lifetime,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, lifetime: Lifetime) -> Self {
        Watched { stream, lifetime }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let received = &buffer.filled()[before..];
        if !received.is_empty() {
            this.lifetime.state().received(received);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(context, bytes))?;
        this.lifetime.state().sent(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(context, slices))?;
        this.lifetime.state().sent(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
