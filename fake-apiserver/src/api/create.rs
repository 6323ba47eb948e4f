//! Create: `Store.Create` and `BeforeCreate` of `k8s.io/apiserver` (pkg/registry).

use super::decode::{self, Expected};
use super::draft::draft;
use super::options::{WriteOptions, parse_uint};
use super::{Reply, Request, admission, escalation, namespaces};
use crate::auth::authorizer::{Attributes, Decision, Target, forbidden};
use crate::clock::format_seconds;
use crate::error::{ApiError, ApiResult};
use crate::object::{meta, validate};
use crate::store::{Entry, WriteError};
use serde_json::Value;
use std::sync::Arc;

/// `maxNameGenerationCreateAttempts`.
const NAME_ATTEMPTS: usize = 8;
/// The field of `metadata` that clients may send and this server does not keep.
pub(super) const UNTRACKED: &str = "managedFields";

pub(crate) fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = Expected::of(request.kind, request.version);
    let (options, object) = decode::creation(request, &expected)?;
    create_object(request, object, &options)
}

/// Creates a decoded object; an update of a missing one comes here too.
pub(super) fn create_object(request: &mut Request<'_>, mut object: Value, options: &WriteOptions) -> ApiResult<Reply> {
    (request.kind.strategy.default)(&mut object);
    meta::wipe_system_fields(&mut object);
    admission::create(request, &mut object)?;
    escalation::check(request, &object, None)?;
    let generated = meta::name(&object).is_empty() && !meta::generate_name(&object).is_empty();
    let attempts = if generated { NAME_ATTEMPTS } else { 1 };
    let mut taken = None;
    for _ in 0..attempts {
        let mut candidate = object.clone();
        if generated {
            let name = request.cluster.ids.name(meta::generate_name(&object));
            meta::set(&mut candidate, "name", name);
        }
        let name = meta::name(&candidate).to_string();
        match store(request, candidate, options)? {
            Ok(reply) => return Ok(reply),
            Err(existing) => taken = Some((name, existing)),
        }
    }
    Err(already_exists(request, generated, taken))
}

/// One attempt. The inner error is the object that has the name already.
fn store(request: &mut Request<'_>, mut object: Value, options: &WriteOptions) -> ApiResult<Result<Reply, Arc<Entry>>> {
    let kind = request.kind;
    prepare(request, &mut object);
    let errors = kind.validate_create(request.version, &object);
    if !errors.is_empty() {
        return Err(ApiError::invalid(kind.qualified_kind(), meta::name(&object), &errors));
    }
    authorize(request)?;
    admission::validate(request, &object, None)?;
    // What is no number is not looked at, and a dry run shows what it was sent.
    let sent = parse_uint(meta::resource_version(&object)).ok();
    if !options.dry_run && sent.is_some_and(|revision| revision != 0) {
        return Err(ApiError::untyped("resourceVersion should not be set on objects to be created"));
    }
    request.warnings.extend((kind.strategy.warnings)(&object, None));
    let draft = draft(kind, request.resource, &object)?;
    if options.dry_run {
        return Ok(match request.cluster.store.get(&draft.key) {
            Some(existing) => Err(existing),
            None => Ok(Reply::object(201, draft.line(sent))),
        });
    }
    let name = draft.key.name().to_string();
    match request.cluster.store.create(draft, namespaces::parent(request).as_ref()) {
        Ok(entry) => Ok(Ok(Reply::object(201, entry.line().clone()))),
        Err(WriteError::Exists(existing)) => Ok(Err(existing)),
        Err(WriteError::ParentClosed) => Err(namespaces::terminating(request, &name)),
        Err(WriteError::NoParent) => Err(namespaces::missing(request.namespace)),
        Err(WriteError::NotFound | WriteError::Modified(_)) => Err(ApiError::internal("a create found no object")),
    }
}

fn prepare(request: &mut Request<'_>, object: &mut Value) {
    let kind = request.kind;
    meta::remove(object, UNTRACKED);
    meta::set(object, "uid", request.cluster.ids.uid());
    meta::set(object, "creationTimestamp", format_seconds(request.now));
    if kind.owns_generation {
        meta::set(object, "generation", 1);
    }
    (kind.strategy.prepare_create)(object);
    request.warnings.extend(validate::dedup_owner_references(object, false));
}

/// Who may update what is not there need not be allowed to create it (`withAuthorization`). Creations themselves were
/// authorized before they came here.
fn authorize(request: &Request<'_>) -> ApiResult<()> {
    if request.name.is_empty() {
        return Ok(());
    }
    let target = Target::Resource {
        group: &request.version.group,
        version: &request.version.name,
        resource: &request.kind.resource,
        subresource: "",
        namespace: request.namespace,
        name: request.name,
    };
    let attributes = Attributes::new(&request.user, "create", target);
    match request.cluster.authorizer.authorize(&attributes) {
        Decision::Allow(_) => Ok(()),
        Decision::NoOpinion(reason) => Err(forbidden(&attributes, &reason)),
    }
}

/// `EnsureObjectNamespaceMatchesRequestNamespace`: filled in if empty, dropped where there are none, else refused if other.
pub(super) fn ensure_namespace(request: &Request<'_>, object: &mut Value) -> ApiResult<()> {
    let wanted = if request.kind.meta.namespaced { request.namespace } else { "" };
    let sent = meta::namespace(object);
    if sent == wanted {
        return Ok(());
    }
    if !sent.is_empty() && !wanted.is_empty() {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(message));
    }
    meta::set(object, "namespace", wanted);
    Ok(())
}

fn already_exists(request: &Request<'_>, generated: bool, taken: Option<(String, Arc<Entry>)>) -> ApiError {
    let Some((name, existing)) = taken else { return ApiError::internal("no attempt was made to create") };
    let error = ApiError::already_exists(request.version.qualified(), &name);
    if generated {
        let suffix = ", the server was not able to generate a unique name for the object";
        return error.with_retry_after(1).with_message(|message| format!("{message}{suffix}"));
    }
    let deleting = super::draft::tree(&existing).is_ok_and(|object| meta::deletion_timestamp(&object).is_some());
    if deleting { error.with_message(|message| format!("object is being deleted: {message}")) } else { error }
}
