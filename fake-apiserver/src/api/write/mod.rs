//! Writes: the one pipeline on which objects from clients are created and changed, in the order of the real server
//! (`createHandler`, `UpdateResource`, `Store.Create`, `Store.Update`, `BeforeCreate`, `BeforeUpdate` of `k8s.io/apiserver`, v0.37.1).
//!
//! ```text
//!   default ─▶ managers ─▶ mutate ─▶ begin ─▶ prepare ─▶ validate ─▶ admit ─▶ encode ─▶ commit ─▶ finish
//!                                    └──────── once for each attempt at a generated name ────────┘
//! ```
//! Most stages are methods of [`Write`] (`stages.rs`). A refusal by any stage ends the write. Allocations (`begin.rs`) are finished then, too,
//! and when the request is cancelled.

mod begin;
mod stages;

use super::request::ensure_namespace;
use super::request::options::{WriteOptions, parse_uint};
use super::{Act, Reply, escalation};
use crate::admission::{namespace_missing, namespace_terminating};
use crate::commit::{Change, draft, namespace};
use crate::error::{ApiError, ApiResult};
use crate::object::{meta, validate};
use crate::schema;
use crate::store::{CreateError, Entry};
use begin::{Allocators, finish};
use stages::{Current, Write, authorize_create, check_version};
use std::ops::DerefMut;
use std::sync::Arc;
use tree::Value;

/// `maxNameGenerationCreateAttempts`.
const NAME_ATTEMPTS: usize = 8;

/// The object that a client wants to store.
pub(super) enum Wanted {
    /// As the client sent it.
    Plain(Value),
    /// With its managed fields.
    Managed(Value),
}

/// Creates a decoded object.
pub(super) async fn create(act: &mut Act<'_>, object: Wanted, options: &WriteOptions) -> ApiResult<Reply> {
    let is_managed = matches!(object, Wanted::Managed(_));
    let (Wanted::Plain(mut object) | Wanted::Managed(mut object)) = object;
    let has_labels = !meta::labels(&object).is_empty();
    let mut write = Write { act, options, current: None, is_managed, has_labels };
    write.default(&mut object);
    meta::wipe_system_fields(&mut object);
    if !is_managed {
        write.act.warnings.extend(validate::dedup_owner_references(&mut object, false));
        write.managers(&mut object).await;
    }
    write.mutate(&mut object).await?;
    ensure_namespace(write.act, &mut object)?;
    escalation::check(write.act, &object, None)?;
    let base = meta::generate_name(&object).to_string();
    if meta::name(&object).is_empty() && base.is_empty() && write.act.target.resource.rules.named_by_uid {
        meta::set(&mut object, "name", write.act.server.cluster.ids.uid());
    }
    if !meta::name(&object).is_empty() || base.is_empty() {
        let created = create_named(&mut write, &mut object).await?;
        return created.map_err(|existing| already_exists(write.act, &object, &existing));
    }
    for _ in 0..NAME_ATTEMPTS {
        let name = write.act.server.cluster.ids.name(&base);
        let mut attempt = object.clone();
        meta::set(&mut attempt, "name", name.as_str());
        if let Ok(reply) = create_named(&mut write, &mut attempt).await? {
            return Ok(reply);
        }
        meta::set(&mut object, "name", name);
    }
    let suffix = ", the server was not able to generate a unique name for the object";
    let error = ApiError::already_exists(write.act.target.version.qualified(), meta::name(&object));
    Err(error.with_retry_after(1).with_message(|message| format!("{message}{suffix}")))
}

/// Creates the object under its name. The inner error is an existing object of that name.
async fn create_named(write: &mut Write<'_, '_>, object: &mut Value) -> ApiResult<Result<Reply, Arc<Entry>>> {
    let allocators = Allocators::of(write);
    let begun = allocators.begin(write, object).await?;
    let created = store_new(write, object).await;
    finish(begun, matches!(created, Ok(Ok(_)))).await;
    created
}

/// Stores a new object, after allocation.
async fn store_new(write: &mut Write<'_, '_>, object: &mut Value) -> ApiResult<Result<Reply, Arc<Entry>>> {
    write.prepare(object);
    write.validate(object)?;
    authorize_create(write.act)?;
    write.admit(object).await?;
    let dry_run = write.options.dry_run;
    // A resource version that is not a number is ignored, and a dry run returns the one that was sent.
    let sent = Some(meta::resource_version(object)).filter(|sent| !sent.is_empty());
    let sent = sent.and_then(|sent| parse_uint(sent).ok());
    if !dry_run && sent.is_some_and(|revision| revision != 0) {
        return Err(ApiError::untyped("resourceVersion should not be set on objects to be created"));
    }
    let draft = write.encode(object, !dry_run).await?;
    let act = &write.act;
    let complete_under = draft.meta.complete_under;
    if dry_run {
        return Ok(match act.server.cluster.store.get(&draft.key) {
            Some(existing) => Err(existing),
            None => Ok(Reply::object(201, act.line_in_version(draft.line(sent)).await?, complete_under)),
        });
    }
    let needs_namespace = act.target.resource.meta.namespaced && act.server.cluster.policy.admission.needs_namespaces();
    let parent = if needs_namespace { namespace::parent(act.target.namespace) } else { None };
    match act.server.commits.create(draft, parent.as_ref()).await {
        Ok(entry) => Ok(Ok(Reply::object(201, act.line_in_version(entry.line().clone()).await?, complete_under))),
        Err(CreateError::Exists(existing)) => Ok(Err(existing)),
        Err(CreateError::ParentClosed) => {
            Err(namespace_terminating(act.target.version.qualified(), act.target.namespace, meta::name(object)))
        }
        Err(CreateError::NoParent) => Err(namespace_missing(act.target.namespace)),
        // The answer to requests that come a moment later.
        Err(CreateError::Closed) => Err(ApiError::no_such_path()),
    }
}

fn already_exists(act: &Act<'_>, object: &Value, existing: &Entry) -> ApiError {
    let error = ApiError::already_exists(act.target.version.qualified(), meta::name(object));
    let deleting = meta::deletion_timestamp(&existing.object()).is_some();
    if deleting { error.with_message(|message| format!("object is being deleted: {message}")) } else { error }
}

/// Stores the object that `wanted` returns for the current one, through the resource or one of its subresources. What the caller knows of the
/// act besides, such as a body, only `wanted` sees.
pub(super) async fn update<'r, D: DerefMut<Target = Act<'r>>>(
    act: &mut D,
    options: &WriteOptions,
    mut wanted: impl FnMut(&mut D, &Entry, &Value) -> ApiResult<Wanted>,
) -> ApiResult<Reply> {
    while let Some(entry) = act.stored() {
        let old = act.target.version.custom_from_storage(act.to_change(&entry).await?.object(), &act.deadline);
        let new = wanted(act, &entry, &old)?;
        let is_managed = matches!(new, Wanted::Managed(_));
        let (Wanted::Plain(mut new) | Wanted::Managed(mut new)) = new;
        if let Some(reply) = replace(act, options, &entry, &old, &mut new, is_managed).await? {
            return Ok(reply);
        }
    }
    Err(act.target.not_found())
}

/// Stores an object in place of the current one, whose tree is `old`; `None` if another request has changed it meanwhile.
/// `is_managed` says whether `new` has its managed fields already.
pub(super) async fn replace(
    act: &mut Act<'_>,
    options: &WriteOptions,
    entry: &Arc<Entry>,
    old: &Value,
    new: &mut Value,
    is_managed: bool,
) -> ApiResult<Option<Reply>> {
    let mut write = Write { act, options, current: Some(Current { entry, object: old }), is_managed, has_labels: true };
    write.default(new);
    if !is_managed {
        write.managers(new).await;
    }
    write.mutate(new).await?;
    let warning = validate::dedup_owner_references(new, true);
    let warning = warning.filter(|warning| !write.act.warnings.contains(warning));
    write.act.warnings.extend(warning);
    escalation::check(write.act, new, Some(old))?;
    check_version(write.act, new, entry)?;
    meta::set(new, "resourceVersion", entry.revision.to_string());
    let allocators = Allocators::of(&write);
    let begun = allocators.begin(&write, new).await?;
    let replaced = store_changed(&mut write, entry, new).await;
    finish(begun, matches!(replaced, Ok(Some(_)))).await;
    replaced
}

/// Stores a changed object, after allocation; `None` if another request has changed the current one meanwhile.
async fn store_changed(write: &mut Write<'_, '_>, entry: &Arc<Entry>, new: &mut Value) -> ApiResult<Option<Reply>> {
    // Admission may have changed it.
    ensure_namespace(write.act, new)?;
    write.prepare(new);
    write.validate(new)?;
    write.admit(new).await?;
    if write.changes_nothing(new) {
        let line = write.act.line_in_version(entry.line().clone()).await?;
        return Ok(Some(Reply::object(200, line, entry.meta.complete_under)));
    }
    let (dry_run, removes) = (write.options.dry_run, write.ends_deletion(new));
    let (change, shown, complete_under) = if removes {
        let ty = write.act.target.resource.storage().ty();
        let mut update = schema::encode_unstored(new, ty).at_revision(entry.revision);
        update.push(b'\n');
        (Change::Remove, Some(update.into()), write.complete_under(new))
    } else {
        let draft = write.encode(new, !dry_run).await?;
        let (shown, complete_under) = (dry_run.then(|| draft.line(Some(entry.revision))), draft.meta.complete_under);
        (Change::Put(draft), shown, complete_under)
    };
    let act = &write.act;
    let change = if dry_run { Change::Leave } else { change };
    let Ok(entry) = act.server.commits.commit(entry, change).await else { return Ok(None) };
    if let Some(count) = act.target.resource.rules.counts.filter(|_| !dry_run) {
        count(act.server.measures, new, write.old().unwrap_or(&Value::Null));
    }
    let line = shown.unwrap_or_else(|| entry.line().clone());
    // The answer for a removed object is the update, at the revision before: it was neither converted for storage nor read from there.
    let line = if removes { line } else { act.line_in_version(line).await? };
    Ok(Some(Reply::object(200, line, complete_under)))
}

/// Changes the current object as an action of the server itself, which may change fields that clients may not.
pub(super) async fn rewrite(
    act: &Act<'_>,
    options: &WriteOptions,
    mut change: impl FnMut(&Act<'_>, &Entry, &mut Value) -> ApiResult<()>,
) -> ApiResult<()> {
    let key = act.target.key();
    let stored = act.server.commits.change(&key, |entry| {
        let mut object = entry.object();
        change(act, entry, &mut object)?;
        if options.dry_run {
            return Ok((Change::Leave, ()));
        }
        Ok((Change::Put(draft(act.target.resource, &object)?), ()))
    });
    stored.await?.map(drop).ok_or_else(|| act.target.not_found())
}
