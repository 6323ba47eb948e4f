//! Requests that become tasks of their own, so that the task of their connection sees the client leave, and the time limit pass, while they
//! compute.
//!
//! ```text
//!   head ── a plain get, or a small create ──────────▶ computed by the task of the connection
//!     └─ else ──▶ body read ──▶ a task of its own ──┬─▶ answered
//!                                                   └── time is up: 504, and it ends at its next check
//! ```

use super::body::ReplyBody;
use super::computation::{Computation, Paced};
use crate::api::request::media::{BodyFormat, body_format};
use crate::clock::later;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, Response};
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tree::counting::{Work, count};

/// The length from which a body is not small, in bytes.
pub(super) const SMALL: usize = 64 * 1024;

/// The response to a request, once it is computed.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Response<ReplyBody>> + Send>>;

/// Whether a request may take longer than a client waits, judged by its head. This decides nothing for other clients.
pub(super) fn may_be_long(parts: &Parts) -> bool {
    let length = |headers: &HeaderMap| headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    match parts.method {
        Method::GET | Method::HEAD => parts.uri.query().is_some() || !parts.uri.path().starts_with("/api"),
        Method::POST => {
            length(&parts.headers).is_none_or(|length: usize| length >= SMALL)
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

/// The computation of a request, and the means to make it a task of its own.
#[derive(Clone)]
pub(super) struct Offload {
    way: Option<Arc<Mutex<Option<Late>>>>,
    pub(super) computation: Arc<Computation>,
}

/// The response to a request whose time limit has passed.
pub(super) struct Late {
    /// The time limit, from when the request came.
    pub(super) after: Duration,
    pub(super) answer: Response<ReplyBody>,
}

impl Offload {
    /// Of a request that stays with its connection.
    pub(super) fn none(computation: Arc<Computation>) -> Offload {
        Offload { way: None, computation }
    }

    /// Of a request that may leave.
    pub(super) fn possible(computation: Arc<Computation>) -> Offload {
        Offload { way: Some(Arc::default()), computation }
    }

    /// Continues as a task of its own, if there is a way.
    pub(super) async fn leave(&self, late: impl FnOnce() -> Late) {
        let Some(way) = &self.way else { return };
        *way.lock().expect("no code that runs under this lock panics") = Some(late());
        // The next poll is made by that task.
        let mut left = false;
        poll_fn(|_| if std::mem::replace(&mut left, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn leaving(&self) -> Option<Late> {
        self.way.as_ref()?.lock().expect("no code that runs under this lock panics").take()
    }
}

/// A guard that ends a computation when its request is dropped.
struct Waiting(Arc<Computation>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Runs a request here until it leaves, then as a task of its own.
pub(super) async fn drive(request: Answer, offload: Offload) -> Response<ReplyBody> {
    let begin = Instant::now();
    let mut request = Paced::new(request, offload.computation.clone());
    let here = poll_fn(|context| match Pin::new(&mut request).poll(context) {
        Poll::Ready(response) => Poll::Ready(Ok(response)),
        Poll::Pending => offload.leaving().map_or(Poll::Pending, |late| Poll::Ready(Err(late))),
    });
    let late = match here.await {
        Ok(response) => return response,
        Err(late) => late,
    };
    let _waiting = Waiting(offload.computation);
    count(Work::Task, 1);
    match timeout_at(later(begin, late.after), tokio::spawn(request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(failed)) => resume_unwind(failed.into_panic()),
        Err(_) => late.answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;
    use http::header::ACCEPT;

    #[test]
    fn a_short_request_is_known_by_its_head() {
        let long = SMALL.to_string();
        let body = |length: &str| Some((CONTENT_LENGTH, length.to_owned()));
        for (method, target, header, expected) in [
            ("GET", "/api/v1/namespaces/a/configmaps/b", None, false),
            ("GET", "/api/v1/pods?labelSelector=a", None, true),
            ("GET", "/api", Some((ACCEPT, "application/json".to_owned())), false),
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
