//! Presets: the failures of a real kube-apiserver, in its own words.
//!
//! Recorded ones are compared with it (`fixtures/presets.toml`); the others follow, of `k8s.io/apiserver` v0.37.1, `pkg/server/filters/{priority-and-fairness,with_retry_after,wrap}.go`,
//! `pkg/storage/{errors.go,cacher/ready.go}`, and of `k8s.io/apimachinery` `pkg/api/errors/errors.go`.

use super::body::ReplyBody;
use super::respond::{plain_text, too_many};
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
        Preset::Timeout => ApiError::timeout("request did not complete within the allotted timeout", 0),
        Preset::TooLargeResourceVersion => {
            let (asked, now) = (about.revision.saturating_add(1000), about.revision);
            let why = format!("Too large resource version: {asked}, current: {now}");
            ApiError::timeout(why, 1).with_cause("ResourceVersionTooLarge", "Too large resource version", "")
        }
        Preset::Unauthorized => ApiError::unauthorized(),
    })
}

fn shutting_down() -> Response<ReplyBody> {
    let text = "The apiserver is shutting down, please try again later.\n";
    let mut response = plain_text(StatusCode::TOO_MANY_REQUESTS, text).map(ReplyBody::whole);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
