//! Limits on the requests in flight.
//!
//! Follows apiserver v0.37.1 `pkg/server/filters/maxinflight.go`, which is used if priority and fairness is off.

use crate::auth::User;
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The default limits of requests, which are upstream's.
const DEFAULT_REQUESTS: usize = 400;
const DEFAULT_MUTATING_REQUESTS: usize = 200;
/// The default limit of streams; client-go has all its watches on one connection. Upstream's is 100, and 250 before 1.27.
const DEFAULT_STREAMS: u32 = 1000;
/// The subresources whose requests are long-running.
const LONG_RUNNING: [&str; 5] = ["attach", "exec", "proxy", "log", "portforward"];

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Whether requests are limited by priority and fairness.
    pub(crate) is_fair: bool,
    /// The maximum of concurrent read-only requests; 0 means no limit. With priority and fairness the sum of both is the number of seats.
    pub(crate) requests: usize,
    /// The maximum of other concurrent requests; 0 means no limit.
    pub(crate) mutating_requests: usize,
    /// The maximum of concurrent streams on an HTTP/2 connection.
    pub(crate) streams: u32,
    /// The maximum of concurrent connections to each port; 0 means no limit.
    pub(crate) connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            is_fair: true,
            requests: DEFAULT_REQUESTS,
            mutating_requests: DEFAULT_MUTATING_REQUESTS,
            streams: DEFAULT_STREAMS,
            connections: 0,
        }
    }
}

/// A semaphore with `limit` permits; `None` for 0, which means no limit.
pub(crate) fn places(limit: usize) -> Option<Semaphore> {
    (limit > 0).then(|| Semaphore::new(limit.min(Semaphore::MAX_PERMITS)))
}

/// The requests of a server that are in flight.
pub(crate) struct InFlight {
    requests: Option<Semaphore>,
    mutating_requests: Option<Semaphore>,
    /// The numbers of read-only requests and of others.
    now: [AtomicUsize; 2],
}

/// The refusal of a request beyond the limits.
pub(super) struct Full;

/// A request in flight, until it is dropped.
pub(super) struct Place<'f> {
    _permit: Option<SemaphorePermit<'f>>,
    now: &'f AtomicUsize,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a request that is not a watch lasts as long as its client wants.
pub(super) fn is_long_running(verb: &str, subresource: &str) -> bool {
    verb == "proxy" || LONG_RUNNING.contains(&subresource)
}

impl InFlight {
    /// The requests of a server with these limits, which are counted only if they are limited by priority and fairness.
    pub(super) fn new(limits: &Limits) -> Self {
        let limit = |limit| if limits.is_fair { None } else { places(limit) };
        InFlight {
            requests: limit(limits.requests),
            mutating_requests: limit(limits.mutating_requests),
            now: Default::default(),
        }
    }

    /// The numbers of requests in flight that only read, and of others.
    pub(super) fn now(&self) -> [usize; 2] {
        self.now.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// The place of a request; `None` if it needs none.
    ///
    /// # Errors
    /// [`Full`], if all permits are taken, except for members of `system:masters`.
    pub(super) fn enter(&self, verb: &str, subresource: &str, user: &User) -> Result<Option<Place<'_>>, Full> {
        if verb == "watch" || is_long_running(verb, subresource) {
            return Ok(None);
        }
        let [read_only, mutating] = &self.now;
        let (places, now) = match verb {
            "get" | "list" => (&self.requests, read_only),
            _ => (&self.mutating_requests, mutating),
        };
        let permit = match places.as_ref().map(Semaphore::try_acquire) {
            Some(Err(_)) if !user.groups.iter().any(|group| group == SYSTEM_PRIVILEGED_GROUP) => {
                return Err(Full);
            }
            permit => permit.and_then(Result::ok),
        };
        now.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Place { _permit: permit, now }))
    }
}
