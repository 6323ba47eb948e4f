//! Update: `UpdateResource` of `k8s.io/apiserver` (pkg/endpoints/handlers), for objects and their subresources.

use super::request::check_identity;
use super::request::decode::{self, Expected};
use super::request::options::WriteOptions;
use super::write::{self, Wanted};
use super::{Reply, Request, preconditions};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::object::{meta, validate};
use tree::{Value, json};

pub(crate) async fn update(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(request.query, "UpdateOptions")?;
    let expected = Expected::of(request.kind, request.version);
    let mut body = read(request, &expected, &options)?;
    let key = request.key();
    let creates = request.subresource.is_none() && request.kind.rules.create_on_update;
    if creates && request.cluster.store.get(&key).is_none() {
        preconditions::check_uid(request, &options, &key, meta::uid(&body), None)?;
        meta::remove(&mut body, "resourceVersion");
        return write::create(request, Wanted::Plain(body), &options).await;
    }
    request.warnings.extend(validate::dedup_owner_references(&mut body, false));
    let mut first = Some(body);
    let update = write::update(request, &options, |request, entry, _| {
        let body = first.take().map_or_else(|| read_again(request, &expected, &options), Ok)?;
        preconditions::check_uid(request, &options, &entry.key, meta::uid(&body), Some(entry))?;
        if request.subresource.is_none_or(|subresource| subresource.name == "status") {
            require_version(request, &body)?;
        }
        Ok(Wanted::Plain(body))
    });
    update.await
}

/// The object in the body of the request.
fn read(request: &mut Request<'_>, expected: &Expected<'_>, options: &WriteOptions) -> ApiResult<Value> {
    let mut body = decode::object(request, expected, options.field_validation)?;
    check_identity(request, &mut body)?;
    Ok(body)
}

/// The same once more, as another writer was faster: what was read at first is changed by now. Warnings are not repeated.
fn read_again(request: &mut Request<'_>, expected: &Expected<'_>, options: &WriteOptions) -> ApiResult<Value> {
    let warnings = request.warnings.len();
    let mut body = read(request, expected, options)?;
    validate::dedup_owner_references(&mut body, false);
    request.warnings.truncate(warnings);
    Ok(body)
}

/// 422 for an update without a resource version, where the kind requires one.
pub(super) fn require_version(request: &Request<'_>, body: &Value) -> ApiResult<()> {
    let blind = matches!(meta::resource_version(body), "" | "0");
    let built_in_status = request.subresource.is_some() && !request.version.is_custom();
    if !blind || request.kind.rules.unconditional_update || built_in_status {
        return Ok(());
    }
    let error = FieldError::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
    // The one place where upstream names the resource, not the kind, in an Invalid.
    Err(ApiError::invalid(request.version.qualified(), request.name, &[error]))
}
