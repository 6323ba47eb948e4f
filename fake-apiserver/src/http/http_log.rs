//! The line about a request in the log, for `-v 3` and up.
//!
//! Follows `Log` of `k8s.io/apiserver/pkg/server/httplog` (v0.37.1), which comes when the response has ended.

use super::peer::Peer;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use std::time::Duration;

/// The target of these lines in the log.
const TARGET: &str = "httplog";

/// Writes the line of a request whose response begins; `verb` is that of authorizers, "" if it is not about a resource.
pub(super) fn write(
    parts: &Parts,
    peer: &Peer,
    verb: &str,
    audit_id: &HeaderValue,
    status: StatusCode,
    latency: Duration,
) {
    if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return;
    }
    // Lists and watches are told from other requests with `GET`.
    let verb = match verb {
        "list" | "watch" => verb.to_ascii_uppercase(),
        _ => parts.method.to_string(),
    };
    tracing::info!(
        target: TARGET,
        verb,
        URI = ?parts.uri.path_and_query().map_or("", |path| path.as_str()),
        ?latency,
        userAgent = ?parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default(),
        contentType = ?parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default(),
        "audit-ID" = audit_id.to_str().unwrap_or_default(),
        srcIP = ?peer.address.map(|address| address.to_string()).unwrap_or_default(),
        resp = status.as_u16(),
        "HTTP"
    );
}
