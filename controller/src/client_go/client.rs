//! Clients with a `User-Agent`, which retry a request only if the API server says when.
//!
//! kube's own retry repeats any 429, 503 and 504. client-go repeats a 429 or 5xx only if the response has a `Retry-After`,
//! and otherwise leaves it to the caller. The difference decides which calls a server gets, so this follows client-go
//! v0.37.1 `rest/with_retry.go`.
//!
//! GAP: controller-manager: client-go's rate limit of 20 requests a second

use super::answer_limit::AnswerLimit;
use http::{HeaderValue, Request, Response, header};
use kube::client::{Body, ClientBuilder, DynBody};
use kube::{Client, Config};
use std::time::Duration;
use tokio::time::{Sleep, sleep};
use tower::BoxError;
use tower::buffer::BufferLayer;
use tower::layer::layer_fn;
use tower::retry::{Policy, RetryLayer};
use tower::util::BoxService;

/// The most retries of a request (`maxRetries` of `rest.Request`).
const MAX_RETRIES: u32 = 10;
/// The number of requests that can be queued before callers have to wait.
const BUFFERED_REQUESTS: usize = 1024;

/// A client for `config` with the `User-Agent` `user_agent`.
///
/// # Errors
/// If `user_agent` is not a header value, or `config` is unusable.
pub fn new(config: Config, user_agent: &str) -> anyhow::Result<Client> {
    Ok(with_retries(ClientBuilder::try_from(named(config, user_agent)?)?))
}

/// `config` with the `User-Agent` `user_agent` and without kube's retries, for [`with_retries`].
///
/// # Errors
/// If `user_agent` is not a header value.
pub fn named(mut config: Config, user_agent: &str) -> anyhow::Result<Config> {
    config.headers.push((header::USER_AGENT, HeaderValue::from_str(user_agent)?));
    config.default_retry = false;
    Ok(config)
}

/// The service beneath kube's own layers.
pub type Service = BoxService<Request<Body>, Response<Box<DynBody>>, BoxError>;

/// The client that `builder` builds, with bounded responses, and with retries when the API server says so.
pub fn with_retries(builder: ClientBuilder<Service>) -> Client {
    let retry = RetryLayer::new(RetryAfter { retries: 0 });
    // A retry needs a service that can be cloned, as a buffer can.
    let limit = layer_fn(AnswerLimit::new);
    builder.with_layer(&limit).with_layer(&BufferLayer::new(BUFFERED_REQUESTS)).with_layer(&retry).build()
}

#[derive(Clone)]
struct RetryAfter {
    retries: u32,
}

impl<B, E> Policy<Request<Body>, Response<B>, E> for RetryAfter {
    type Future = Sleep;

    fn retry(&mut self, _: &mut Request<Body>, result: &mut Result<Response<B>, E>) -> Option<Sleep> {
        let response = result.as_ref().ok()?;
        let pause = retry_after(response)?;
        self.retries += 1;
        (self.retries <= MAX_RETRIES).then(|| sleep(pause))
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        let mut copy = Request::new(request.body().try_clone()?);
        *copy.method_mut() = request.method().clone();
        *copy.uri_mut() = request.uri().clone();
        *copy.version_mut() = request.version();
        *copy.headers_mut() = request.headers().clone();
        *copy.extensions_mut() = request.extensions().clone();
        Some(copy)
    }
}

/// The delay of a `Retry-After`; `None` if the request must not be repeated.
fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let status = response.status();
    let busy = status.is_server_error() || status == http::StatusCode::TOO_MANY_REQUESTS;
    let seconds = response.headers().get(header::RETRY_AFTER).filter(|_| busy)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_busy_server_that_names_a_time_is_asked_again() {
        for (status, header, expected) in [
            (429, Some("2"), Some(2)),
            (503, Some("0"), Some(0)),
            (500, Some("1"), Some(1)),
            (503, None, None),
            (503, Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
            (409, Some("1"), None),
            (200, Some("1"), None),
        ] {
            let mut response = Response::builder().status(status);
            if let Some(header) = header {
                response = response.header(header::RETRY_AFTER, header);
            }
            let response = response.body(()).expect("a valid response");
            assert_eq!(retry_after(&response), expected.map(Duration::from_secs), "{status} {header:?}");
        }
    }
}
