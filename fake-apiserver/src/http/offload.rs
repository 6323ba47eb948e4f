//! Long computations, off the threads that serve others.
//!
//! ```text
//!   head ── may be long ──▶ body read ── is long ──▶ waits for a worker ──▶ computed on a thread of its own
//!     │                         │                          │                        │
//!     └─ is short ──────────────┴──▶ computed where        └── time is up: 504 ─────┘ which then ends at its next check
//!                                    connections are served
//! ```
//! This works in every tokio runtime, also in one with a single thread. A short request costs nothing more.

use super::body::ReplyBody;
use crate::api::LONG_BODY;
use crate::deadline::Deadline;
use http::header::{ACCEPT, CONTENT_LENGTH};
use http::request::Parts;
use http::{HeaderMap, Method, Response};
use std::future::{Future, pending, poll_fn};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, timeout_at};

/// Long computations that may be under way at once, however few processors there are.
const LEAST_WORKERS: usize = 2;

/// A permit for each long computation that may be under way.
pub(crate) fn workers() -> Arc<Semaphore> {
    let processors = available_parallelism().map_or(1, NonZero::get);
    Arc::new(Semaphore::new(processors.max(LEAST_WORKERS)))
}

/// Whether a request may turn out to take long, as far as its head tells.
pub(super) fn may_be_long(parts: &Parts) -> bool {
    let length = |headers: &HeaderMap| headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    match parts.method {
        Method::GET | Method::HEAD => parts.uri.query().is_some() || parts.headers.contains_key(ACCEPT),
        Method::POST | Method::PUT => {
            length(&parts.headers).is_none_or(|length: usize| length >= LONG_BODY)
                || parts.uri.path().starts_with("/apis/rbac.authorization.k8s.io/")
        }
        _ => true,
    }
}

/// A request's way to a thread of its own, and the time that it has there.
#[derive(Clone, Default)]
pub(super) struct Offload {
    way: Option<Arc<Mutex<Option<Late>>>>,
    pub(super) deadline: Deadline,
}

/// What a client is told when the time of its request is up.
pub(super) struct Late {
    /// Time from when the request came.
    pub(super) after: Duration,
    pub(super) answer: Response<ReplyBody>,
}

impl Offload {
    /// For a request that may be long. By default there is no way, and no end of time.
    pub(super) fn possible() -> Offload {
        Offload { way: Some(Arc::default()), deadline: Deadline::new() }
    }

    /// Goes on on a thread of its own, if there is a way.
    pub(super) async fn leave(&self, late: impl FnOnce() -> Late) {
        let Some(way) = &self.way else { return };
        *way.lock().expect("no code that runs under this lock panics") = Some(late());
        // The next poll comes from over there.
        let mut left = false;
        poll_fn(|_| if std::mem::replace(&mut left, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn leaving(&self) -> Option<Late> {
        self.way.as_ref()?.lock().expect("no code that runs under this lock panics").take()
    }
}

/// What computes for a request: told to end when nothing waits for it any more.
struct Waiting(Deadline);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Drives a request here until it wants to leave, then on a thread of its own, when one of the `workers` is free.
pub(super) async fn drive(
    request: impl Future<Output = Response<ReplyBody>> + Send + 'static,
    offload: Offload,
    workers: Arc<Semaphore>,
) -> Response<ReplyBody> {
    let begin = Instant::now();
    let mut request = Box::pin(request);
    let here = poll_fn(|context| match request.as_mut().poll(context) {
        Poll::Ready(response) => Poll::Ready(Ok(response)),
        Poll::Pending => offload.leaving().map_or(Poll::Pending, |late| Poll::Ready(Err(late))),
    });
    let late = match here.await {
        Ok(response) => return response,
        Err(late) => late,
    };
    let _waiting = Waiting(offload.deadline);
    let there = async {
        let worker = workers.acquire_owned().await.expect("it is never closed");
        let runtime = Handle::current();
        let computed = spawn_blocking(move || {
            let response = runtime.block_on(request);
            drop(worker);
            response
        });
        match computed.await.map_err(JoinError::try_into_panic) {
            Ok(response) => response,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime ends.
            Err(Err(_)) => pending().await,
        }
    };
    timeout_at(begin + late.after, there).await.unwrap_or(late.answer)
}
