//! Get: one object, at least as new as its `resourceVersion` asks.

use super::list::seen;
use super::request::options::{ResourceVersion, parse_resource_version};
use super::{Reply, Request};
use crate::error::{ApiError, ApiResult};
use crate::store::Entry;
use std::sync::Arc;

/// The error for the parameter `export`.
const NO_EXPORT: &str = "the export parameter, deprecated since v1.14, is no longer supported";

pub(crate) async fn get(request: &Request<'_>) -> ApiResult<Reply> {
    entry(request).await.map(Reply::Stored)
}

/// The requested object, at least as new as the request's `resourceVersion`, in its version if a webhook converts it.
pub(super) async fn entry(request: &Request<'_>) -> ApiResult<Arc<Entry>> {
    if request.query.flag("export") == Some(true) {
        return Err(ApiError::bad_request(NO_EXPORT));
    }
    let key = request.target.key();
    let entry = match parse_resource_version(request.query.get("resourceVersion")).map_err(ApiError::untyped)? {
        ResourceVersion::Latest => match request.server.view.forced() {
            Some(past) => past.get(&key).cloned(),
            None => request.server.cluster.store.get(&key),
        },
        ResourceVersion::Any => seen(request, 0)?.get(&key).cloned(),
        ResourceVersion::At(revision) => seen(request, revision)?.get(&key).cloned(),
    };
    request.in_version(entry.ok_or_else(|| request.target.not_found())?).await
}
