//! Get: one object, not older than asked.

use super::list::require_revision;
use super::options::{ResourceVersion, parse_resource_version};
use super::{Reply, Request};
use crate::error::{ApiError, ApiResult};

pub(crate) fn get(request: &Request<'_>) -> ApiResult<Reply> {
    match parse_resource_version(request.query.get("resourceVersion")).map_err(ApiError::untyped)? {
        ResourceVersion::At(revision) => require_revision(request, revision)?,
        ResourceVersion::Latest | ResourceVersion::Any => {}
    }
    let entry = request.cluster.store.get(&request.key()).ok_or_else(|| request.not_found())?;
    Ok(Reply::object(200, entry.line().clone()))
}
