//! Long computations, moved off the threads that serve connections.
//!
//! ```text
//!   head ── may be long ──▶ body read ── is long ──▶ waits for a worker ──▶ computed there
//!     │                         │                          │                        │
//!     └─ is short ──────────────┴──▶ computed where        └── time is up: 504 ─────┘ which then ends at its next check
//!                                    connections are served
//! ```
//! This works in every tokio runtime, also in one with a single thread. A short request costs nothing more.

use super::body::ReplyBody;
use crate::api::LONG_BODY;
use crate::api::request::media::{BodyFormat, body_format};
use crate::deadline::Deadline;
use crate::workers::Workers;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, Response};
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

/// The response to a request, once it is computed.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Response<ReplyBody>> + Send>>;

/// Whether a request may take long, judged by its head. A short body can be slow too: it may patch a large object, or its group may have
/// expensive validation rules or grant many RBAC rules.
pub(super) fn may_be_long(parts: &Parts) -> bool {
    let length = |headers: &HeaderMap| headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    match parts.method {
        Method::GET | Method::HEAD => {
            parts.uri.query().is_some() || parts.headers.contains_key(ACCEPT) || !parts.uri.path().starts_with("/api")
        }
        Method::POST => {
            length(&parts.headers).is_none_or(|length: usize| length >= LONG_BODY)
                || !parts.uri.path().starts_with("/api/")
                // Aliases may repeat much.
                || parts.headers.get(CONTENT_TYPE).is_some_and(|value| is_yaml(value.to_str().unwrap_or_default()))
        }
        _ => true,
    }
}

fn is_yaml(content_type: &str) -> bool {
    matches!(body_format(content_type), Ok(BodyFormat::Yaml))
}

/// The means to move a request to a thread of its own, and its deadline.
#[derive(Clone, Default)]
pub(super) struct Offload {
    way: Option<Arc<Mutex<Option<Late>>>>,
    pub(super) deadline: Deadline,
}

/// The response to a request whose time limit has passed.
pub(super) struct Late {
    /// The time limit, from when the request came.
    pub(super) after: Duration,
    pub(super) answer: Response<ReplyBody>,
}

impl Offload {
    /// The offload of a request that may be long. The default has no way, and no deadline.
    pub(super) fn possible() -> Offload {
        Offload { way: Some(Arc::default()), deadline: Deadline::new() }
    }

    /// Continues on a thread of its own, if there is a way.
    pub(super) async fn leave(&self, late: impl FnOnce() -> Late) {
        let Some(way) = &self.way else { return };
        *way.lock().expect("no code that runs under this lock panics") = Some(late());
        // The next poll is made on that thread.
        let mut left = false;
        poll_fn(|_| if std::mem::replace(&mut left, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn leaving(&self) -> Option<Late> {
        self.way.as_ref()?.lock().expect("no code that runs under this lock panics").take()
    }
}

/// A guard that ends a computation when its request is dropped.
struct Waiting(Deadline);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.expire();
    }
}

/// Runs a request here until it leaves, then on one of the `workers`.
pub(super) async fn drive(mut request: Answer, offload: Offload, workers: Arc<Workers>) -> Response<ReplyBody> {
    let begin = Instant::now();
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
        let runtime = Handle::current();
        workers.compute(move || runtime.block_on(request)).await.unwrap_or_else(|panic| resume_unwind(panic))
    };
    timeout_at(begin + late.after, there).await.unwrap_or(late.answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    #[test]
    fn a_short_request_is_known_by_its_head() {
        let long = LONG_BODY.to_string();
        let body = |length: &str| Some((CONTENT_LENGTH, length.to_owned()));
        for (method, target, header, expected) in [
            ("GET", "/api/v1/namespaces/a/configmaps/b", None, false),
            ("GET", "/api/v1/pods?labelSelector=a", None, true),
            ("GET", "/api", Some((ACCEPT, "application/json".to_owned())), true),
            ("GET", "/openapi/v2", None, true),
            ("GET", "/%6fpenapi/v2", None, true),
            ("POST", "/api/v1/namespaces/a/pods", body("10"), false),
            ("POST", "/api/v1/namespaces/a/pods", body(&long), true),
            ("POST", "/api/v1/namespaces/a/pods", None, true),
            ("POST", "/api/v1/namespaces/a/pods", Some((CONTENT_TYPE, "application/yaml".to_owned())), true),
            (
                "POST",
                "/api/v1/namespaces/a/pods",
                Some((CONTENT_TYPE, "Application/YAML; charset=utf-8".to_owned())),
                true,
            ),
            ("POST", "/apis/example.com/v1/namespaces/a/things", body("10"), true),
            ("PUT", "/api/v1/namespaces/a/configmaps/b", body("10"), true),
            ("POST", "/%61pis/rbac.authorization.k8s.io/v1/clusterroles", body("10"), true),
            ("PATCH", "/api/v1/namespaces/a/pods/b", body("10"), true),
            ("DELETE", "/api/v1/namespaces/a/pods", None, true),
        ] {
            let mut request = Request::builder().method(method).uri(target);
            if let Some((name, value)) = &header {
                request = request.header(name, value);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(may_be_long(&parts), expected, "{method} {target} {header:?}");
        }
    }
}
