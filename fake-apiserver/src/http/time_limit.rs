//! The time limit of a request: the server's, or a shorter one of the client. Watches have none.
//!
//! Ports `WithRequestDeadline` and `WithTimeoutForNonLongRunningRequests`, and the shorter limit of handlers that write, of
//! `k8s.io/apiserver/pkg/endpoints` and `pkg/server/filters` (v0.37.1).

use super::body::ReplyBody;
use super::negotiate::Encoding;
use super::respond::refusal;
use crate::duration;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use std::time::Duration;

/// The limit of handlers that write (`requestTimeoutUpperBound`).
const LONGEST_WRITE: Duration = Duration::from_secs(34);
/// The duration that stands for no limit: a year, for which no timer overflows.
const UNLIMITED: Duration = Duration::from_secs(365 * 24 * 3600);
/// The shortest limit that is not over at once.
const SHORTEST: Duration = Duration::from_millis(1);
/// The body of the response when the limit around handlers has passed, encoded as by Go without a kind.
const EXCEEDED: &str = "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Timeout: request did not complete within the allotted \
    timeout\",\"reason\":\"Timeout\",\"details\":{},\"code\":504}\n";

/// The time limit of a request, from when it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    pub(super) duration: Duration,
    /// Whether it is the handler's own limit.
    of_handler: bool,
}

impl TimeLimit {
    /// The limit of a request, given the server's, if it has one, the client's `timeout` (or "") and whether it writes.
    ///
    /// # Errors
    /// 400, if `timeout` is not a Go duration.
    pub(super) fn of(longest: Option<Duration>, timeout: &str, writes: bool) -> ApiResult<TimeLimit> {
        let refusal = |why| ApiError::bad_request(format!("invalid timeout specified in the request URL - {why}"));
        let wanted = match timeout {
            "" => None,
            text => Some(duration::parse(text).map_err(refusal)?),
        };
        // Zero means no limit.
        let wanted = wanted.filter(|wanted| !wanted.is_zero());
        let duration = wanted.into_iter().chain(longest).min().unwrap_or(UNLIMITED);
        Ok(match longest.is_some() && writes && duration > LONGEST_WRITE {
            true => TimeLimit { duration: LONGEST_WRITE, of_handler: true },
            false => TimeLimit { duration, of_handler: false },
        })
    }

    /// Whether it is over at once.
    pub(super) fn is_over(self) -> bool {
        self.duration < SHORTEST
    }

    /// The time from when it came until it is answered even if its consequences are not dealt with: the rest is for the response.
    pub(super) fn of_consequences(self) -> Duration {
        self.duration / 10 * 9
    }

    /// The response to a request that took longer.
    pub(super) fn exceeded(self, encoding: Encoding) -> Response<ReplyBody> {
        if self.of_handler {
            return refusal(&ApiError::deadline_exceeded(), encoding);
        }
        allotted()
    }
}

/// The response to a request whose allotted time is over.
pub(super) fn allotted() -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(Bytes::from_static(EXCEEDED.as_bytes())));
    *response.status_mut() = StatusCode::GATEWAY_TIMEOUT;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_limit_holds() {
        let table = [
            (60, "", false, 60_000, false),
            (60, "", true, 34_000, true),
            (60, "40s", true, 34_000, true),
            (60, "20s", true, 20_000, false),
            (60, "2m", false, 60_000, false),
            (10, "", true, 10_000, false),
            (60, "0s", false, 60_000, false),
            (60, "-1s", false, 60_000, false),
            (60, "250ms", false, 250, false),
        ];
        for (longest, timeout, writes, millis, of_handler) in table {
            let limit = TimeLimit::of(Some(Duration::from_secs(longest)), timeout, writes).unwrap();
            assert_eq!(
                (limit.duration.as_millis(), limit.of_handler),
                (millis, of_handler),
                "{longest} {timeout} {writes}"
            );
            assert!(!limit.is_over());
        }
        assert!(TimeLimit::of(Some(Duration::from_secs(60)), "1us", false).unwrap().is_over());
        let patient = |timeout| TimeLimit::of(None, timeout, true).unwrap().duration;
        assert_eq!((patient(""), patient("40s")), (UNLIMITED, Duration::from_secs(40)));
    }

    /// The handler's own refusal is a `Status` in the encoding that the client accepts.
    #[test]
    fn what_is_told() {
        let of = |timeout| TimeLimit::of(Some(Duration::from_secs(60)), timeout, true).unwrap();
        let content_type = |limit: TimeLimit| {
            let response = limit.exceeded(Encoding::Json { pretty: false });
            (response.status().as_u16(), response.headers()[CONTENT_TYPE].to_str().unwrap().to_string())
        };
        assert_eq!(content_type(of("")), (504, "application/json".into()));
        assert_eq!(content_type(of("1s")), (504, "text/plain; charset=utf-8".into()));
    }
}
