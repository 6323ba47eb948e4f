//! Limits on the requests in flight, and the 429 beyond them.
//!
//! Follows apiserver v0.37.1 `pkg/server/filters/maxinflight.go`, which is used if priority and fairness is off.

use super::body::ReplyBody;
use crate::auth::User;
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use http::header::{CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{Response, StatusCode};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The default limit of streams; client-go has all its watches on one connection. Upstream's is 100, and 250 before 1.27.
const DEFAULT_STREAMS: u32 = 1000;
/// The subresources whose requests are long-running.
const LONG_RUNNING: [&str; 5] = ["attach", "exec", "proxy", "log", "portforward"];

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most concurrent requests that only read; 0 is no limit.
    pub(crate) requests: usize,
    /// The most other concurrent requests; 0 is no limit.
    pub(crate) mutating_requests: usize,
    /// The most concurrent streams of an HTTP/2 connection.
    pub(crate) streams: u32,
    /// The most concurrent connections of each port; 0 is no limit.
    pub(crate) connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { requests: 0, mutating_requests: 0, streams: DEFAULT_STREAMS, connections: 0 }
    }
}

/// A semaphore with that many permits; `None` for 0, which is no limit.
pub(crate) fn places(limit: usize) -> Option<Semaphore> {
    (limit > 0).then(|| Semaphore::new(limit.min(Semaphore::MAX_PERMITS)))
}

/// The requests of a server that are in flight.
pub(crate) struct InFlight {
    requests: Option<Semaphore>,
    mutating_requests: Option<Semaphore>,
}

impl InFlight {
    pub(super) fn new(limits: &Limits) -> Self {
        InFlight { requests: places(limits.requests), mutating_requests: places(limits.mutating_requests) }
    }

    /// A permit for a request; `None` if it needs none.
    ///
    /// # Errors
    /// 429, if all permits are taken, except for members of `system:masters`.
    pub(super) fn enter(
        &self,
        verb: &str,
        subresource: &str,
        user: &User,
    ) -> Result<Option<SemaphorePermit<'_>>, Box<Response<ReplyBody>>> {
        if matches!(verb, "watch" | "proxy") || LONG_RUNNING.contains(&subresource) {
            return Ok(None);
        }
        let places = if matches!(verb, "get" | "list") { &self.requests } else { &self.mutating_requests };
        let Some(places) = places else { return Ok(None) };
        match places.try_acquire() {
            Ok(place) => Ok(Some(place)),
            Err(_) if user.groups.iter().any(|group| group == SYSTEM_PRIVILEGED_GROUP) => Ok(None),
            Err(_) => Err(Box::new(too_many())),
        }
    }
}

fn too_many() -> Response<ReplyBody> {
    Response::builder()
        .status(StatusCode::TOO_MANY_REQUESTS)
        .header(CONTENT_TYPE, "text/plain; charset=utf-8")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(RETRY_AFTER, "1")
        .body(ReplyBody::whole("Too many requests, please try again later.\n".into()))
        .expect("constants make a response")
}
