//! Writes: the one place where an object from a client is defaulted, admitted, prepared and validated, in the order of the
//! real server (`Store.Create`, `Store.Update`, `BeforeCreate`, `BeforeUpdate` of `k8s.io/apiserver/pkg/registry`, v0.37.1).
//!
//! ```text
//!   default ─▶ mutating admission ─▶ escalation ─▶ prepare ─▶ validate ─▶ validating admission ─▶ commit
//! ```

use super::request::options::{WriteOptions, parse_uint};
use super::{Reply, Request, admission, escalation, owners};
use crate::admission::{namespace_missing, namespace_terminating};
use crate::auth::authorizer::{Attributes, Decision, Target, forbidden};
use crate::clock::format_seconds;
use crate::commit::{Change, draft, namespace, size};
use crate::error::{ApiError, ApiResult};
use crate::object::{generation, meta, validate};
use crate::registry::{Findings, Strategy};
use crate::schema;
use crate::store::{CreateError, Entry};
use std::sync::Arc;
use tree::{Text, Value};

/// `maxNameGenerationCreateAttempts`.
const NAME_ATTEMPTS: usize = 8;

/// An object that a client wants.
pub(super) enum Wanted {
    /// As it came.
    Plain(Value),
    /// With the owners of its fields.
    Owned(Value),
}

/// Creates a decoded object.
pub(super) async fn create(request: &mut Request<'_>, object: Wanted, options: &WriteOptions) -> ApiResult<Reply> {
    let is_owned = matches!(object, Wanted::Owned(_));
    let (Wanted::Plain(mut object) | Wanted::Owned(mut object)) = object;
    (request.kind.rules.strategy.default)(&mut object);
    meta::wipe_system_fields(&mut object);
    if !is_owned {
        request.warnings.extend(validate::dedup_owner_references(&mut object, false));
        owners::created(request, options, &mut object);
    }
    admission::create(request, &mut object).await?;
    escalation::check(request, &object, None)?;
    let base = meta::generate_name(&object).to_string();
    if !meta::name(&object).is_empty() || base.is_empty() {
        let created = create_named(request, &mut object, is_owned, options).await?;
        return created.map_err(|existing| already_exists(request, &object, &existing));
    }
    for _ in 0..NAME_ATTEMPTS {
        meta::set(&mut object, "name", request.cluster.ids.name(&base));
        if let Ok(reply) = create_named(request, &mut object, is_owned, options).await? {
            return Ok(reply);
        }
    }
    let suffix = ", the server was not able to generate a unique name for the object";
    let error = ApiError::already_exists(request.version.qualified(), meta::name(&object));
    Err(error.with_retry_after(1).with_message(|message| format!("{message}{suffix}")))
}

/// Creates the object under its name. The inner error is an existing object of that name.
async fn create_named(
    request: &mut Request<'_>,
    object: &mut Value,
    is_owned: bool,
    options: &WriteOptions,
) -> ApiResult<Result<Reply, Arc<Entry>>> {
    let kind = request.kind;
    prepare_create(request, object);
    let findings = kind.validate_create(request.version, object, &request.deadline);
    refuse(request, meta::name(object), findings)?;
    request.warnings.extend((kind.rules.strategy.warnings)(object, None));
    authorize_create(request)?;
    admission::validate(request, object, None)?;
    // A resource version that is not a number is ignored, and a dry run returns the one that was sent.
    let sent = Some(meta::resource_version(object)).filter(|sent| !sent.is_empty());
    let sent = sent.and_then(|sent| parse_uint(sent).ok());
    if !options.dry_run && sent.is_some_and(|revision| revision != 0) {
        return Err(ApiError::untyped("resourceVersion should not be set on objects to be created"));
    }
    let mut draft = draft(kind, &*request.version.stored(object, options.dry_run).await?)?;
    if !options.dry_run
        && let Err(refusal) = size::check(kind, &draft, None)
    {
        disown(object, is_owned, refusal)?;
        draft = self::draft(kind, &*request.version.stored(object, false).await?)?;
        size::check(kind, &draft, None)?;
    }
    let complete_under = request.version.completes(object);
    draft.meta.complete_under = complete_under;
    if options.dry_run {
        return Ok(match request.cluster.store.get(&draft.key) {
            Some(existing) => Err(existing),
            None => Ok(Reply::object(201, request.line_in_version(draft.line(sent)).await?, complete_under)),
        });
    }
    let parent = if kind.meta.namespaced { namespace::parent(request.namespace) } else { None };
    match request.cluster.commits.create(draft, parent.as_ref()).await {
        Ok(entry) => Ok(Ok(Reply::object(201, request.line_in_version(entry.line().clone()).await?, complete_under))),
        Err(CreateError::Exists(existing)) => Ok(Err(existing)),
        Err(CreateError::ParentClosed) => {
            Err(namespace_terminating(request.version.qualified(), request.namespace, meta::name(object)))
        }
        Err(CreateError::NoParent) => Err(namespace_missing(request.namespace)),
        // The answer to requests that come a moment later.
        Err(CreateError::Closed) => Err(ApiError::no_such_path()),
    }
}

/// Takes the owners of its fields from an object that is too large to be stored with them, as upstream does unless it is applied.
fn disown(object: &mut Value, is_owned: bool, refusal: ApiError) -> ApiResult<()> {
    let disowned = !is_owned && meta::metadata_mut(object).remove("managedFields").is_some();
    if disowned { Ok(()) } else { Err(refusal) }
}

fn prepare_create(request: &mut Request<'_>, object: &mut Value) {
    let kind = request.kind;
    let metadata = meta::metadata_mut(object);
    metadata.insert("uid".into(), request.cluster.ids.uid().into());
    metadata.insert("creationTimestamp".into(), format_seconds(request.now).into());
    if kind.rules.owns_generation {
        metadata.insert("generation".into(), 1.into());
    }
    if request.version.is_custom()
        && request.version.has_status()
        && let Some(members) = object.as_object_mut()
    {
        members.remove("status");
    }
    (kind.rules.strategy.prepare_create)(object);
    request.warnings.extend(validate::dedup_owner_references(object, false));
}

/// 422 if there are findings, except for those that the server's options allow. 504 if the time for them is up.
fn refuse(request: &mut Request<'_>, name: &str, findings: Findings) -> ApiResult<()> {
    request.deadline.check()?;
    let Findings { mut errors, warnings } = findings;
    request.warnings.extend(warnings);
    if request.cluster.allow_privileged {
        errors.retain(|error| !error.is_about_privileged());
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(request.kind.qualified_kind(), name, &errors))
}

/// Authorizes the create of a missing object by an update (`withAuthorization`). A POST has been authorized before.
fn authorize_create(request: &Request<'_>) -> ApiResult<()> {
    if request.name.is_empty() {
        return Ok(());
    }
    let target = Target::Resource {
        group: &request.version.group,
        version: &request.version.name,
        resource: &request.version.resource,
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

fn already_exists(request: &Request<'_>, object: &Value, existing: &Entry) -> ApiError {
    let error = ApiError::already_exists(request.version.qualified(), meta::name(object));
    let deleting = meta::deletion_timestamp(&existing.object()).is_some();
    if deleting { error.with_message(|message| format!("object is being deleted: {message}")) } else { error }
}

/// Stores the object that `wanted` makes of the current one, through the resource or one of its subresources.
pub(super) async fn update(
    request: &mut Request<'_>,
    options: &WriteOptions,
    mut wanted: impl FnMut(&mut Request<'_>, &Entry, &Value) -> ApiResult<Wanted>,
) -> ApiResult<Reply> {
    let key = request.key();
    while let Some(entry) = request.cluster.store.get(&key) {
        let mut old = request.version.worked_on(request.to_change(&entry).await?.object());
        let new = wanted(request, &entry, &old)?;
        let is_owned = matches!(new, Wanted::Owned(_));
        let (Wanted::Plain(mut new) | Wanted::Owned(mut new)) = new;
        if let Some(reply) = replace(request, options, &entry, &mut old, &mut new, is_owned).await? {
            return Ok(reply);
        }
    }
    Err(request.not_found())
}

/// Stores an object in place of the current one, of which `old` is the tree; `None` if another request has changed it meanwhile.
/// `is_owned` says whether `new` has the owners of its fields already.
pub(super) async fn replace(
    request: &mut Request<'_>,
    options: &WriteOptions,
    entry: &Arc<Entry>,
    old: &mut Value,
    new: &mut Value,
    is_owned: bool,
) -> ApiResult<Option<Reply>> {
    (request.kind.rules.strategy.default)(new);
    if !is_owned {
        owners::changed(request, options, new, old).await;
    }
    admission::update(request, new, old).await?;
    let warning = validate::dedup_owner_references(new, true);
    let warning = warning.filter(|warning| !request.warnings.contains(warning));
    request.warnings.extend(warning);
    escalation::check(request, new, Some(old))?;
    check_version(request, new, entry)?;
    meta::set(new, "resourceVersion", entry.revision.to_string());
    let strategy = request.subresource.map_or(&request.kind.rules.strategy, |subresource| &subresource.strategy);
    prepare_update(request, strategy, new, old);
    owners::settle_times(request, new, old);
    let (kind, subresource) = (request.kind, request.subresource);
    let findings = kind.validate_update(request.version, subresource, new, old, &request.deadline);
    refuse(request, request.name, findings)?;
    request.warnings.extend((strategy.warnings)(new, Some(old)));
    admission::validate(request, new, Some(old))?;
    if new == old && is_stored_so(request, entry) && !ends_deletion(request, new, old) {
        let line = request.line_in_version(entry.line().clone()).await?;
        return Ok(Some(Reply::object(200, line, entry.meta.complete_under)));
    }
    let removes = ends_deletion(request, new, old);
    let mut draft = self::draft(request.kind, &*request.version.stored(new, options.dry_run).await?)?;
    let current = Some(entry.revision);
    if !options.dry_run
        && !removes
        && let Err(refusal) = size::check(request.kind, &draft, current)
    {
        disown(new, is_owned, refusal)?;
        draft = self::draft(request.kind, &*request.version.stored(new, false).await?)?;
        size::check(request.kind, &draft, current)?;
    }
    // What is taken over of an object that is stored in another version is not complete in this one.
    let own = entry.json().starts_with(request.version.head.as_bytes());
    let complete_under = if own { request.version.completes(new) } else { 0 };
    draft.meta.complete_under = complete_under;
    // The answer for a removed object is the update, at the revision before; it was not converted to be stored.
    let removed = match removes && !options.dry_run {
        true => Some(self::draft(request.kind, new)?.line(Some(entry.revision))),
        false => None,
    };
    let shown = options.dry_run.then(|| draft.line(Some(entry.revision)));
    let change = match () {
        () if options.dry_run => Change::Leave,
        () if removes => Change::Remove,
        () => Change::Put(draft),
    };
    let Ok(entry) = request.cluster.commits.commit(entry, change).await else { return Ok(None) };
    let line = match removed {
        Some(line) => line,
        None => request.line_in_version(shown.unwrap_or_else(|| entry.line().clone())).await?,
    };
    Ok(Some(Reply::object(200, line, complete_under)))
}

/// Whether the object is stored as it would be now: then a write that changes nothing of it need not encode it to find that out.
fn is_stored_so(request: &Request<'_>, entry: &Entry) -> bool {
    !request.version.is_custom() && entry.json().starts_with(request.kind.storage().head.as_bytes())
}

/// Changes the current object as an action of the server itself, which may change fields that clients may not.
pub(super) async fn rewrite(
    request: &Request<'_>,
    options: &WriteOptions,
    mut change: impl FnMut(&Request<'_>, &Entry, &mut Value) -> ApiResult<()>,
) -> ApiResult<()> {
    let key = request.key();
    let stored = request.cluster.commits.change(&key, |entry| {
        let mut object = entry.object();
        change(request, entry, &mut object)?;
        if options.dry_run {
            return Ok((Change::Leave, ()));
        }
        Ok((Change::Put(draft(request.kind, &object)?), ()))
    });
    stored.await?.map(drop).ok_or_else(|| request.not_found())
}

/// 409 if the client sent another resource version than the current one.
fn check_version(request: &Request<'_>, new: &Value, entry: &Entry) -> ApiResult<()> {
    let sent = meta::resource_version(new);
    if matches!(sent, "" | "0") || parse_uint(sent).map_err(ApiError::untyped)? == entry.revision {
        return Ok(());
    }
    Err(ApiError::modified(request.version.qualified(), request.name))
}

/// Restores the fields that the endpoint may not change.
fn prepare_update(request: &Request<'_>, strategy: &Strategy, new: &mut Value, old: &Value) {
    let kind = request.kind;
    match request.subresource.map(|subresource| &*subresource.name) {
        None if request.version.has_status() => restore(new, old, "status"),
        None => {}
        Some(name) => {
            // Only the metadata and the subresource's own field come from the client.
            let own = if name == "status" { "status" } else { "spec" };
            let foreign: Vec<Text> = [&*new, old]
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
    let whole = request.subresource.is_none_or(|subresource| subresource.name != "status");
    let annotated = kind.rules.annotations_count && whole && annotations_differ(new, old);
    if kind.rules.owns_generation && (changes(request, new, old) || annotated) {
        meta::set(new, "generation", meta::generation(old) + 1);
    }
}

/// Whether a change counts in `metadata.generation`: for custom resources without the status subresource, the status, too.
fn changes(request: &Request<'_>, new: &Value, old: &Value) -> bool {
    if request.version.is_custom() {
        return generation::untyped_differs(new, old, !request.version.has_status());
    }
    let ty = request.kind.storage().ty();
    // What is stored says of some fields that they are zero.
    let canonical = || schema::check(old, ty).map(|decoded| decoded.object);
    let differs = |old: &Value| generation::spec_differs(new, old, Some(ty));
    differs(old) && canonical().map_or(true, |old| differs(&old))
}

fn annotations_differ(new: &Value, old: &Value) -> bool {
    !meta::annotations(new).iter().eq(meta::annotations(old).iter())
}

/// Gives `new` the member `key` of `old`.
fn restore(new: &mut Value, old: &Value, key: &str) {
    let Some(members) = new.as_object_mut() else { return };
    match old.get(key) {
        Some(value) => members.insert(key.into(), value.clone()),
        None => members.remove(key),
    };
}

/// `ShouldDeleteDuringUpdate`: nothing keeps a deleted object any more.
fn ends_deletion(request: &Request<'_>, new: &Value, old: &Value) -> bool {
    meta::deletion_timestamp(old).is_some()
        && meta::deletion_grace_period_seconds(old).unwrap_or(0) == 0
        && meta::finalizers(new).next().is_none()
        && !namespace::awaits_finalizers(request.kind, new)
}
