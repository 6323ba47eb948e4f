//! Update: `UpdateResource` of `k8s.io/apiserver` (pkg/endpoints/handlers), for objects and their subresources.

use super::request::check_identity;
use super::request::decode::{self, Expected};
use super::request::options::WriteOptions;
use super::write::{self, Wanted};
use super::{Reply, Request, preconditions};
use crate::error::ApiResult;
use crate::object::{meta, validate};
use tree::Value;

pub(crate) async fn update(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(request.query, "UpdateOptions")?;
    let expected = Expected::of(&request.target);
    let mut body = read(request, &expected, &options)?;
    let key = request.target.key();
    if creates(request) && request.server.cluster.store.get(&key).is_none() {
        preconditions::check_uid(request, &options, &key, meta::uid(&body), None)?;
        meta::remove(&mut body, "resourceVersion");
        return Box::pin(write::create(request, Wanted::Plain(body), &options)).await;
    }
    request.warnings.extend(validate::dedup_owner_references(&mut body, false));
    let mut first = Some(body);
    let update = write::update(request, &options, |request, entry, _| {
        let body = first.take().map_or_else(|| read_again(request, &expected, &options), Ok)?;
        preconditions::check_uid(request, &options, &entry.key, meta::uid(&body), Some(entry))?;
        Ok(Wanted::Plain(body))
    });
    update.await
}

/// Whether an update of an absent object creates it. Upstream's strategies for a status are derived from those of the object.
pub(super) fn creates(request: &Request<'_>) -> bool {
    request.target.subresource.is_none_or(|own| own.name == "status") && request.target.resource.rules.create_on_update
}

/// The object in the body of the request.
fn read(request: &mut Request<'_>, expected: &Expected<'_>, options: &WriteOptions) -> ApiResult<Value> {
    let mut body = decode::object(request, expected, options.field_validation)?;
    check_identity(request, &mut body)?;
    Ok(body)
}

/// The same once more, because another writer was faster and the object has changed. Warnings are not repeated.
fn read_again(request: &mut Request<'_>, expected: &Expected<'_>, options: &WriteOptions) -> ApiResult<Value> {
    let warnings = request.warnings.len();
    let mut body = read(request, expected, options)?;
    validate::dedup_owner_references(&mut body, false);
    request.warnings.truncate(warnings);
    Ok(body)
}
