//! Presets: the failures of a real kube-apiserver, in its own words.
//!
//! Recorded ones are compared with it (`fixtures/presets.toml`); the others follow `pkg/server/filters/wrap.go` of `k8s.io/apiserver` v0.37.1 and etcd.

use super::body::ReplyBody;
use super::respond::{plain_text, too_many};
use super::time_limit::allotted;
use crate::admission::namespace_terminating;
use crate::error::{ApiError, ApiResult, Qualified};
use control::Preset;
use http::header::{CONNECTION, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

/// The facts about a request that the messages name.
pub(super) struct About<'a> {
    pub(super) group: &'a str,
    pub(super) resource: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// The newest revision.
    pub(super) revision: u64,
}

/// The answer of a server that fails so.
///
/// # Errors
/// The failures that are objects.
pub(super) fn answer(preset: Preset, about: &About<'_>) -> ApiResult<Option<Response<ReplyBody>>> {
    let what = Qualified { group: about.group, resource: about.resource };
    Err(match preset {
        Preset::ApfRejected => return Ok(Some(too_many(1))),
        Preset::ShuttingDown => return Ok(Some(shutting_down())),
        Preset::Panic => {
            let text = "This request caused apiserver to panic. Look in the logs for details.\n";
            return Ok(Some(plain_text(StatusCode::INTERNAL_SERVER_ERROR, text).map(ReplyBody::whole)));
        }
        Preset::Conflict => ApiError::modified(what, about.name),
        Preset::EtcdLeaderChanged => ApiError::untyped("etcdserver: leader changed"),
        Preset::EtcdTimeout => ApiError::untyped("etcdserver: request timed out"),
        Preset::Expired => ApiError::expired(format!("too old resource version: 1 ({})", about.revision)),
        Preset::NamespaceTerminating => namespace_terminating(what, about.namespace, about.name),
        Preset::StorageInitializing => ApiError::too_many_requests("storage is (re)initializing").with_retry_after(1),
        Preset::Timeout => return Ok(Some(allotted())),
        Preset::TooLargeResourceVersion => {
            let (asked, now) = (about.revision.saturating_add(1000), about.revision);
            let why = format!("Too large resource version: {asked}, current: {now}");
            ApiError::timeout(why, 1).with_cause("ResourceVersionTooLarge", "Too large resource version", "")
        }
        Preset::Unauthorized => ApiError::unauthorized(),
        Preset::WebhookFailed => {
            let namespace = if about.namespace.is_empty() { "default" } else { about.namespace };
            ApiError::internal(format!(
                "failed calling webhook \"missing.hooks.example.com\": failed to call webhook: Post \
                 \"https://missing.{namespace}.svc:443/?timeout=10s\": service \"missing\" not found"
            ))
        }
    })
}

/// The mark of a response that is made before the headers of all others are, as an extension of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BeforeHandlers;

fn shutting_down() -> Response<ReplyBody> {
    let text = "The apiserver is shutting down, please try again later.\n";
    let mut response = plain_text(StatusCode::TOO_MANY_REQUESTS, text).map(ReplyBody::whole);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response.extensions_mut().insert(BeforeHandlers);
    response
}
