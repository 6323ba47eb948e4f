//! Delete: `Store.Delete` and `BeforeDelete` of `k8s.io/apiserver` (pkg/registry).
//!
//! ```text
//!            no finalizers, no grace
//!   stored ───────────────────────────────────────────────▶ removed
//!      │                                                       ▲
//!      │ finalizers, or a pod with a grace period              │ last finalizer gone, grace 0
//!      └──────────────▶ deleting (deletionTimestamp set) ──────┘
//! ```
//! Nobody plays the garbage collector: objects deleted in the foreground, or orphaning, wait for whoever takes those
//! finalizers off, as on a server without controllers.

use super::decode::{Expected, not_registered};
use super::draft::{draft, tree};
use super::options::{DeleteOptions, Propagation};
use super::{Reply, Request, admission, namespace_controller, namespaces};
use crate::clock::format_seconds;
use crate::cluster::Cluster;
use crate::error::{ApiError, ApiResult};
use crate::http::content_type::{BodyFormat, body_format};
use crate::object::meta;
use crate::registry::Resource;
use crate::schema;
use crate::store::{Draft, Entry, Key, WriteError};
use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

pub(crate) fn delete(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = options(request)?;
    let outcome = by_request(request, &request.key(), &options)?.ok_or_else(|| request.not_found())?;
    let reply = reply(request, &outcome, &options);
    if !options.dry_run {
        let namespace = if namespaces::is_namespace(request.kind) { request.name } else { request.namespace };
        namespace_controller::reap(request.cluster, namespace, request.now)?;
    }
    Ok(reply)
}

/// The options from the body or, without one, from the query.
pub(super) fn options(request: &Request<'_>) -> ApiResult<DeleteOptions> {
    let bytes = &request.body.bytes;
    if bytes.is_empty() {
        return DeleteOptions::from_query(request.query);
    }
    let type_ref = Expected::named("v1", "DeleteOptions")?.ty;
    let body = match body_format(request.body.content_type)? {
        BodyFormat::Protobuf => {
            let envelope = schema::decode_protobuf(bytes).map_err(|why| ApiError::bad_request(why.to_string()))?;
            check_kind(&envelope.api_version, &envelope.kind)?;
            schema::decode_protobuf_message(envelope.raw, type_ref)
        }
        BodyFormat::Json => {
            let (api_version, kind) = schema::interpret(bytes).map_err(|why| ApiError::bad_request(why.to_string()))?;
            check_kind(&api_version, &kind)?;
            schema::decode_json(bytes, type_ref).map(|decoded| decoded.object)
        }
    };
    DeleteOptions::from_object(&body.map_err(|why| ApiError::bad_request(why.to_string()))?)
}

/// Any group's version of `DeleteOptions` will do.
fn check_kind(api_version: &str, kind: &str) -> ApiResult<()> {
    if matches!(kind, "" | "DeleteOptions") {
        return Ok(());
    }
    let api_version = if api_version.is_empty() { "v1" } else { api_version };
    Err(ApiError::bad_request(not_registered(api_version, kind)))
}

/// What a delete did.
pub(super) struct Outcome {
    line: Bytes,
    entry: std::sync::Arc<Entry>,
    removed: bool,
}

/// Deletes one object as the request asks.
pub(super) fn by_request(request: &mut Request<'_>, key: &Key, options: &DeleteOptions) -> ApiResult<Option<Outcome>> {
    let (cluster, kind, now) = (request.cluster, request.kind, request.now);
    delete_key(cluster, kind, key, options, now, |old| admission::delete(request, old))
}

/// Deletes as the namespace controller does; whether the object is gone.
pub(super) fn by_controller(cluster: &Cluster, kind: &Resource, key: &Key, now: Timestamp) -> ApiResult<bool> {
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    let outcome = delete_key(cluster, kind, key, &options, now, |_| Ok(()))?;
    Ok(outcome.is_none_or(|outcome| outcome.removed))
}

/// One object's deletion, or the next step of it, if `admit` lets it. None if there is no such object.
fn delete_key(
    cluster: &Cluster,
    kind: &Resource,
    key: &Key,
    options: &DeleteOptions,
    now: Timestamp,
    mut admit: impl FnMut(&Value) -> ApiResult<()>,
) -> ApiResult<Option<Outcome>> {
    loop {
        let Some(entry) = cluster.store.get(key) else { return Ok(None) };
        check_preconditions(kind, &entry, options)?;
        let old = tree(&entry)?;
        let (object, step) = next_step(kind, &old, options, now);
        if !matches!(step, Step::Wait) {
            admit(&old)?;
        }
        let draft = draft(kind, key.resource, &object)?;
        let result = match step {
            Step::Wait => Ok(Outcome { line: entry.line().clone(), entry: entry.clone(), removed: false }),
            _ if options.dry_run => {
                let line = draft.line(Some(entry.revision));
                Ok(Outcome { line, entry: entry.clone(), removed: !matches!(step, Step::Mark) })
            }
            Step::Mark => mark(cluster, draft, &entry),
            Step::Remove => remove(cluster, key, entry.revision),
            // Watchers see that a graceful deletion is over before they see the end.
            Step::MarkAndRemove => {
                mark(cluster, draft, &entry).and_then(|marked| remove(cluster, key, marked.entry.revision))
            }
        };
        match result {
            Ok(outcome) => return Ok(Some(outcome)),
            Err(WriteError::Modified(_) | WriteError::NotFound) => {}
            Err(_) => return Err(ApiError::internal("a delete met the refusal of a create")),
        }
    }
}

fn mark(cluster: &Cluster, draft: Draft, entry: &Entry) -> Result<Outcome, WriteError> {
    use crate::store::Updated::{Changed, Unchanged};
    let (Changed(stored) | Unchanged(stored)) = cluster.store.update(draft, entry.revision)?;
    Ok(Outcome { line: stored.line().clone(), entry: stored, removed: false })
}

fn remove(cluster: &Cluster, key: &Key, revision: u64) -> Result<Outcome, WriteError> {
    let gone = cluster.store.delete(key, revision)?;
    Ok(Outcome { line: gone.line().clone(), entry: gone, removed: true })
}

fn check_preconditions(kind: &Resource, entry: &Entry, options: &DeleteOptions) -> ApiResult<()> {
    if namespaces::is_namespace(kind) {
        return namespaces::check_preconditions(entry, options);
    }
    let conflict = |why: String| Err(ApiError::conflict(kind.qualified_kind(), entry.key.name(), why));
    if let Some(uid) = options.uid.as_deref().filter(|uid| **uid != *entry.meta.uid) {
        return conflict(format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            entry.meta.uid
        ));
    }
    if let Some(version) = options.resource_version.as_ref().filter(|version| **version != entry.revision.to_string()) {
        return conflict(format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
             The object might have been modified",
            entry.revision
        ));
    }
    Ok(())
}

enum Step {
    /// A deletion is under way; there is nothing to do.
    Wait,
    /// Store the object as deleting.
    Mark,
    /// Take it away.
    Remove,
    /// Store it as deleting, then take it away.
    MarkAndRemove,
}

/// What a deletion makes of the object, and how it goes on. Pure.
fn next_step(kind: &Resource, old: &Value, options: &DeleteOptions, now: Timestamp) -> (Value, Step) {
    let mut object = old.clone();
    if namespaces::is_namespace(kind) {
        if meta::deletion_timestamp(old).is_none() {
            // The first request only closes a namespace, whatever holds it: its content has yet to go.
            namespaces::close(&mut object);
            meta::set(&mut object, "deletionTimestamp", format_seconds(now));
            meta::set_finalizers(&mut object, finalizers(old, options.propagation));
            return (object, Step::Mark);
        }
        if namespaces::awaits_finalizers(kind, old) {
            return (object, Step::Wait);
        }
    }
    let graceful = match grace(kind, old, options, now) {
        Grace::Pending => return (object, Step::Wait),
        Grace::Until(time, seconds) => {
            if meta::deletion_timestamp(old).is_none() {
                bump_generation(&mut object);
            }
            meta::set(&mut object, "deletionTimestamp", format_seconds(time));
            meta::set(&mut object, "deletionGracePeriodSeconds", seconds);
            Some(seconds)
        }
        Grace::None => None,
    };
    let finalizers = finalizers(old, options.propagation);
    let free = finalizers.is_empty();
    meta::set_finalizers(&mut object, finalizers);
    match graceful {
        None if free => return (object, Step::Remove),
        Some(0) if free => return (object, Step::MarkAndRemove),
        _ => {}
    }
    if graceful.is_none() {
        if meta::deletion_timestamp(old).is_none() {
            bump_generation(&mut object);
            meta::set(&mut object, "deletionTimestamp", format_seconds(now));
        }
        meta::set(&mut object, "deletionGracePeriodSeconds", 0);
    }
    (object, Step::Mark)
}

fn bump_generation(object: &mut Value) {
    let generation = meta::generation(object);
    if generation > 0 {
        meta::set(object, "generation", generation + 1);
    }
}

enum Grace {
    /// The object goes as soon as its finalizers let it.
    None,
    /// It is to be gone by then, after so many seconds.
    Until(Timestamp, i64),
    /// It is going already, and may not be hurried by these options.
    Pending,
}

/// Graceful deletion, of the kinds that have it: pods.
fn grace(kind: &Resource, object: &Value, options: &DeleteOptions, now: Timestamp) -> Grace {
    let Some(seconds) = (kind.strategy.grace_period)(object, options.grace_period) else { return Grace::None };
    let Some(deleting) = meta::deletion_timestamp(object) else {
        return Grace::Until(later(now, seconds), seconds);
    };
    let current = meta::deletion_grace_period_seconds(object).unwrap_or(0);
    match options.grace_period {
        _ if current == 0 => Grace::None,
        Some(seconds) if seconds < current => {
            let begun = deleting.parse().unwrap_or(now);
            let time = later(begun, seconds - current);
            // It cannot be due in the past; what is left of a grace period then is a second.
            if time < now { Grace::Until(now, seconds.min(1)) } else { Grace::Until(time, seconds) }
        }
        _ => Grace::Pending,
    }
}

fn later(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(time)
}

/// `deletionFinalizersForGarbageCollection`: the policy is written down as a finalizer.
fn finalizers(object: &Value, policy: Option<Propagation>) -> Vec<String> {
    let has = |wanted| meta::finalizers(object).any(|finalizer| finalizer == wanted);
    let policy = policy.unwrap_or_else(|| match () {
        () if has(ORPHAN) => Propagation::Orphan,
        () if has(FOREGROUND) => Propagation::Foreground,
        () => Propagation::Background,
    });
    let others = meta::finalizers(object).filter(|finalizer| !matches!(*finalizer, ORPHAN | FOREGROUND));
    let own = match policy {
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Background => None,
    };
    others.chain(own).map(str::to_string).collect()
}

fn reply(request: &Request<'_>, outcome: &Outcome, options: &DeleteOptions) -> Reply {
    let Request { kind, version, .. } = request;
    if outcome.removed && !kind.delete_returns_object {
        return Reply::Deleted {
            name: outcome.entry.key.name().to_string(),
            group: version.group.to_string(),
            resource: kind.resource.to_string(),
            uid: outcome.entry.meta.uid.to_string(),
        };
    }
    let code = if options.waits && !outcome.removed { 202 } else { 200 };
    Reply::object(code, outcome.line.clone())
}
