//! Update: `Store.Update` and `BeforeUpdate` of `k8s.io/apiserver` (pkg/registry), for objects and their subresources.
//!
//! Update and patch meet in [`write`]: read, compute, compare-and-swap; again if somebody else was faster, unless the
//! client said which revision it means.

use super::create::{UNTRACKED, create_object, ensure_namespace};
use super::decode::{self, Expected};
use super::draft::{draft, tree};
use super::options::{WriteOptions, parse_uint};
use super::{Reply, Request, admission, escalation, namespace_controller, namespaces, preconditions};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::object::{generation, meta, validate};
use crate::registry::Strategy;
use crate::store::{Draft, Entry, Updated, WriteError};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn update(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(request.query, "UpdateOptions")?;
    let expected = Expected::of(request.kind, request.version);
    let mut body = decode::object(request, &expected, options.field_validation)?;
    check_identity(request, &mut body)?;
    if request.subresource.is_none() && request.kind.create_on_update && current(request).is_err() {
        preconditions::check_uid(request.kind, &request.key(), meta::uid(&body), None)?;
        meta::remove(&mut body, "resourceVersion");
        return create_object(request, body, &options);
    }
    require_version(request, &body)?;
    request.warnings.extend(validate::dedup_owner_references(&mut body, false));
    write(request, &options, |request, entry, _| {
        preconditions::check_uid(request.kind, &entry.key, meta::uid(&body), Some(entry))?;
        Ok(body.clone())
    })
}

/// Stores what `wanted` makes of the current object.
pub(super) fn write(
    request: &mut Request<'_>,
    options: &WriteOptions,
    mut wanted: impl FnMut(&mut Request<'_>, &Entry, &Value) -> ApiResult<Value>,
) -> ApiResult<Reply> {
    loop {
        let entry = current(request)?;
        let old = tree(&entry)?;
        let mut new = wanted(request, &entry, &old)?;
        (request.kind.strategy.default)(&mut new);
        admission::update(request, &mut new, &old)?;
        escalation::check(request, &new, Some(&old))?;
        check_version(request, &new, &entry)?;
        meta::set(&mut new, "resourceVersion", entry.revision.to_string());
        let strategy = request.subresource.map_or(&request.kind.strategy, |subresource| &subresource.strategy);
        prepare(request, strategy, &mut new, &old);
        validate(request, &new, &old)?;
        admission::validate(request, &new, Some(&old))?;
        let warnings = (strategy.warnings)(&new, Some(&old));
        let draft = draft(request.kind, request.resource, &new)?;
        let removes = ends_deletion(request, &new, &old);
        let result = if removes {
            remove(request, options, draft, &entry)
        } else if options.dry_run {
            Ok(Reply::object(200, draft.line(Some(entry.revision))))
        } else {
            let updated = request.cluster.store.update(draft, entry.revision);
            updated
                .map(|(Updated::Changed(entry) | Updated::Unchanged(entry))| Reply::object(200, entry.line().clone()))
        };
        match result {
            // Somebody else was faster. What the client asked for is looked at again, in the light of that.
            Err(WriteError::Modified(_) | WriteError::NotFound) => {}
            Err(_) => return Err(ApiError::internal("an update met the refusal of a create")),
            Ok(reply) => {
                request.warnings.extend(warnings);
                if removes && !options.dry_run {
                    // It may have been the last thing that held its namespace up.
                    namespace_controller::reap(request.cluster, request.namespace, request.now)?;
                }
                return Ok(reply);
            }
        }
    }
}

/// Changes the current object as an action of the server itself: nothing that clients may not touch is put back.
pub(super) fn rewrite(
    request: &Request<'_>,
    options: &WriteOptions,
    mut change: impl FnMut(&Request<'_>, &Entry, &mut Value) -> ApiResult<()>,
) -> ApiResult<()> {
    loop {
        let entry = current(request)?;
        let mut object = tree(&entry)?;
        change(request, &entry, &mut object)?;
        if options.dry_run {
            return Ok(());
        }
        let draft = draft(request.kind, request.resource, &object)?;
        match request.cluster.store.update(draft, entry.revision) {
            Ok(_) => return Ok(()),
            Err(WriteError::Modified(_) | WriteError::NotFound) => {}
            Err(_) => return Err(ApiError::internal("an update met the refusal of a create")),
        }
    }
}

pub(super) fn current(request: &Request<'_>) -> ApiResult<Arc<Entry>> {
    request.cluster.store.get(&request.key()).ok_or_else(|| request.not_found())
}

/// The body must be about the object of the URL.
pub(super) fn check_identity(request: &Request<'_>, body: &mut Value) -> ApiResult<()> {
    let (sent, url) = (meta::name(body), request.name);
    if sent.is_empty() {
        return Err(undeterminable_name(url));
    }
    if sent != url {
        let message = format!("the name of the object ({sent}) does not match the name on the URL ({url})");
        return Err(ApiError::bad_request(message));
    }
    ensure_namespace(request, body)
}

/// 400: the body does not say which object it is.
pub(super) fn undeterminable_name(url: &str) -> ApiError {
    let message = format!("the name of the object ({url} based on URL) was undeterminable: name must be provided");
    ApiError::bad_request(message)
}

/// 422 where the kind does not let an update overwrite blindly.
fn require_version(request: &Request<'_>, body: &Value) -> ApiResult<()> {
    let blind = matches!(meta::resource_version(body), "" | "0");
    if !blind || request.kind.unconditional_update || request.subresource.is_some() {
        return Ok(());
    }
    current(request)?;
    let error = FieldError::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
    // The one place where upstream names the resource, not the kind, in an Invalid.
    Err(ApiError::invalid(request.version.qualified(), request.name, &[error]))
}

/// 409 if the client means another revision than the current one.
fn check_version(request: &Request<'_>, new: &Value, entry: &Entry) -> ApiResult<()> {
    let sent = meta::resource_version(new);
    if matches!(sent, "" | "0") || parse_uint(sent).map_err(ApiError::untyped)? == entry.revision {
        return Ok(());
    }
    Err(ApiError::modified(request.version.qualified(), request.name))
}

/// Puts back whatever the endpoint may not change.
fn prepare(request: &Request<'_>, strategy: &Strategy, new: &mut Value, old: &Value) {
    let kind = request.kind;
    meta::remove(new, UNTRACKED);
    match request.subresource.map(|subresource| subresource.name) {
        None if kind.has_status() => restore(new, old, "status"),
        None => {}
        Some(name) => {
            // Only metadata and what the subresource is about come from the client.
            let own = if name == "status" { "status" } else { "spec" };
            let foreign: Vec<String> = [new, old]
                .into_iter()
                .filter_map(|object| object.as_object())
                .flat_map(|members| members.keys().cloned())
                .filter(|key| key != "metadata" && key != own)
                .collect();
            foreign.iter().for_each(|key| restore(new, old, key));
        }
    }
    (strategy.prepare_update)(new, old);
    meta::keep_system_fields(new, old);
    if kind.owns_generation && generation::spec_differs(new, old) {
        meta::set(new, "generation", meta::generation(old) + 1);
    }
}

/// Gives `new` the member that `old` has.
fn restore(new: &mut Value, old: &Value, key: &str) {
    let Some(members) = new.as_object_mut() else { return };
    match old.get(key) {
        Some(value) => members.insert(key.to_string(), value.clone()),
        None => members.remove(key),
    };
}

fn validate(request: &Request<'_>, new: &Value, old: &Value) -> ApiResult<()> {
    let kind = request.kind;
    let errors = kind.validate_update(request.version, request.subresource, new, old);
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(kind.qualified_kind(), request.name, &errors))
}

/// `ShouldDeleteDuringUpdate`: the last thing that held a deleted object is gone.
fn ends_deletion(request: &Request<'_>, new: &Value, old: &Value) -> bool {
    meta::deletion_timestamp(old).is_some()
        && meta::deletion_grace_period_seconds(old).unwrap_or(0) == 0
        && meta::finalizers(new).next().is_none()
        && !namespaces::awaits_finalizers(request.kind, new)
}

fn remove(request: &Request<'_>, options: &WriteOptions, draft: Draft, entry: &Entry) -> Result<Reply, WriteError> {
    if !options.dry_run {
        request.cluster.store.delete(&entry.key, entry.revision)?;
    }
    // Upstream shows the object as updated, under the revision that it had.
    Ok(Reply::object(200, draft.line(Some(entry.revision))))
}
