//! Deletion: `BeforeDelete` and `deletionFinalizersForGarbageCollection` of `k8s.io/apiserver` (pkg/registry, v0.37.1).
//!
//! ```text
//!            no finalizers, no grace
//!   stored ───────────────────────────────────────────────▶ removed
//!      │                                                       ▲
//!      │ finalizers, or a pod with a grace period              │ last finalizer gone, grace 0
//!      └──────────────▶ deleting (deletionTimestamp set) ──────┘
//! ```
//! There is no garbage collector: objects deleted in the foreground, or orphaning, wait for a client that removes those
//! finalizers, as on a server without controllers.

use super::{Change, definition, draft, namespace};
use crate::clock::{format_seconds, go_seconds, plus};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{Closes, Resource};
use crate::store::Entry;
use bytes::Bytes;
use jiff::Timestamp;
use tree::Value;

/// The finalizers of propagation policies: `FinalizerOrphanDependents`, `FinalizerDeleteDependents`.
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// The policy about an object's dependents: `DeletionPropagation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    Orphan,
    Background,
    Foreground,
}

/// Options of delete and deletecollection.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    /// The grace period in seconds; negative ones were turned into 1.
    pub(crate) grace_period: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    /// `orphanDependents` was false: upstream then answers 202 while the object remains.
    pub(crate) waits: bool,
}

/// The plan of a deletion, or of the next step of one.
pub(crate) struct Plan {
    /// The object before the change; `None` while its deletion waits for something.
    pub(crate) old: Option<Value>,
    /// The change to commit.
    pub(crate) change: Change,
    /// The object that a dry run shows in place of the committed one.
    pub(crate) shown: Option<Bytes>,
    /// Whether the change removes the object.
    pub(crate) removes: bool,
}

/// Plans the deletion of an object, or the next step of it.
///
/// # Errors
/// 409 if the object does not meet the preconditions.
pub(crate) fn plan(resource: &Resource, entry: &Entry, options: &DeleteOptions, now: Timestamp) -> ApiResult<Plan> {
    check_preconditions(resource, entry, options)?;
    let old = entry.object();
    let (object, step) = next_step(resource, &old, options, now);
    let draft = || draft(resource, &object);
    let removes = matches!(step, Step::Remove | Step::MarkAndRemove);
    let (change, shown) = match step {
        Step::Wait => return Ok(Plan { old: None, change: Change::Leave, shown: None, removes }),
        _ if options.dry_run => (Change::Leave, Some(draft()?.line(Some(entry.revision)))),
        Step::Mark => (Change::Put(draft()?), None),
        Step::Remove => (Change::Remove, None),
        // Watchers see the end of the grace period before the removal.
        Step::MarkAndRemove => (Change::PutAndRemove(draft()?), None),
    };
    Ok(Plan { old: Some(old), change, shown, removes })
}

/// Whether nothing keeps an object that is being deleted any more, once it is changed to `new` (`ShouldDeleteDuringUpdate`).
pub(crate) fn ends(resource: &Resource, old: &Value, new: &Value) -> bool {
    meta::deletion_timestamp(old).is_some()
        && meta::deletion_grace_period_seconds(old).unwrap_or(0) == 0
        && meta::finalizers(new).next().is_none()
        && !namespace::awaits_finalizers(resource, new)
}

/// Checks that an object meets the preconditions of its deletion.
///
/// # Errors
/// 409 if it does not.
pub(crate) fn check_preconditions(resource: &Resource, entry: &Entry, options: &DeleteOptions) -> ApiResult<()> {
    match resource.rules.closes {
        Some(Closes::Namespace) => return check_own_preconditions(resource, entry, options, "Precondition"),
        Some(Closes::Definition) => return check_own_preconditions(resource, entry, options, "precondition"),
        None => {}
    }
    let conflict = |why: String| Err(ApiError::conflict(resource.qualified_kind(), entry.key.name(), why));
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

/// The preconditions of namespaces and definitions, which have an error message of their own.
fn check_own_preconditions(resource: &Resource, entry: &Entry, options: &DeleteOptions, word: &str) -> ApiResult<()> {
    let revision = entry.revision.to_string();
    let wanted = [("UID", &options.uid, &*entry.meta.uid), ("ResourceVersion", &options.resource_version, &revision)];
    for (what, wanted, found) in wanted {
        if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != found) {
            let why = format!("{word} failed: {what} in precondition: {wanted}, {what} in object meta: {found}");
            return Err(ApiError::conflict(resource.storage().qualified(), entry.key.name(), why));
        }
    }
    Ok(())
}

enum Step {
    /// The deletion is in progress; there is nothing to do.
    Wait,
    /// Store the object as deleting.
    Mark,
    /// Remove the object.
    Remove,
    /// Store the object as deleting, then remove it.
    MarkAndRemove,
}

/// The object after the next step of a deletion, and that step. Pure.
fn next_step(resource: &Resource, old: &Value, options: &DeleteOptions, now: Timestamp) -> (Value, Step) {
    let mut object = old.clone();
    // The first request only closes such an object, whatever its finalizers: its content is deleted first.
    if let Some(closes) = resource.rules.closes.filter(|_| meta::deletion_timestamp(old).is_none()) {
        match closes {
            Closes::Namespace => {
                namespace::close(&mut object);
                meta::set_finalizers(&mut object, finalizers(resource, old, options.propagation));
            }
            Closes::Definition => definition::close(&mut object, &format_seconds(now)),
        }
        meta::set(&mut object, "deletionTimestamp", format_seconds(now));
        return (object, Step::Mark);
    }
    if namespace::awaits_finalizers(resource, old) {
        return (object, Step::Wait);
    }
    let graceful = match grace(resource, old, options, now) {
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
    let finalizers = finalizers(resource, old, options.propagation);
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
        meta::set(object, "generation", generation.wrapping_add(1));
    }
}

enum Grace {
    /// Not graceful: the object is removed once it has no finalizers.
    None,
    /// The time by which it is removed, and the grace period in seconds.
    Until(Timestamp, i64),
    /// The deletion is in progress, and these options do not shorten it.
    Pending,
}

/// Graceful deletion, of the kinds that have it: pods.
fn grace(resource: &Resource, object: &Value, options: &DeleteOptions, now: Timestamp) -> Grace {
    let Some(seconds) = (resource.rules.strategy.grace_period)(object, options.grace_period) else {
        return Grace::None;
    };
    let Some(deleting) = meta::deletion_timestamp(object) else {
        return Grace::Until(plus(now, go_seconds(seconds)), seconds);
    };
    let current = meta::deletion_grace_period_seconds(object).unwrap_or(0);
    match options.grace_period {
        _ if current == 0 => Grace::None,
        Some(seconds) if seconds < current => {
            let begun = deleting.parse().unwrap_or(now);
            let time = plus(plus(begun, go_seconds(current.wrapping_neg())), go_seconds(seconds));
            // The time must not be in the past; the rest of the grace period is then a second.
            if time < now { Grace::Until(now, seconds.min(1)) } else { Grace::Until(time, seconds) }
        }
        _ => Grace::Pending,
    }
}

/// `deletionFinalizersForGarbageCollection`: the finalizers, with that of the policy.
fn finalizers(resource: &Resource, object: &Value, policy: Option<Propagation>) -> Vec<String> {
    let has = |wanted| meta::finalizers(object).any(|finalizer| finalizer == wanted);
    let policy = policy.filter(|_| !resource.rules.ignores_propagation).unwrap_or_else(|| match () {
        () if resource.rules.ignores_propagation => Propagation::Background,
        () if has(ORPHAN) => Propagation::Orphan,
        () if has(FOREGROUND) => Propagation::Foreground,
        () if resource.rules.orphans_dependents => Propagation::Orphan,
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
