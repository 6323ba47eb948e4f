//! Migrations at work (`resourceversion.go`, `storageversionmigrator.go`).

use super::runner::{RUNNING, RUNS};
use super::{MIGRATIONS, Migrator, PROFILE, is_new, is_over, is_running, of, revision, set, update};
use crate::act::{Act, PatchType, Refusal};
use crate::kinds::ServedKind;
use crate::objects::Objects;
use crate::plan::{Plan, View};
use crate::resource::{Key, Resource};
use crate::workloads::facts::{read, status};
use machinery::object::meta;
use std::sync::Arc;
use tree::{Value, json};

/// The verbs that a resource has to have.
const VERBS: [&str; 3] = ["update", "patch", "list"];
/// A namespace that there is not.
const NOWHERE: &str = "@fake:svm_ns!";
const FAILED: &str = "StorageVersionMigrationFailed";
const SUCCEEDED: &str = "StorageVersionMigrationSucceeded";

/// The progress of a migration.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The objects that are written, in order.
    candidates: Vec<Key>,
    /// The number of all objects.
    total: usize,
}

impl Migrator {
    /// The next step of a migration.
    pub(super) fn migrate(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(migration) = view.objects.get(&MIGRATIONS, key).filter(|one| !is_over(one)) else {
            self.progress.remove(&key.name);
            return Plan::default();
        };
        match (is_running(migration), read::text(migration, "/status/resourceVersion")) {
            (false, "") => Plan::default(),
            (true, "") => ask(migration, view),
            (_, since) => self.write_all(migration, since, view),
        }
    }

    /// Writes all objects that are as old as the revision.
    fn write_all(&mut self, migration: &Value, since: &str, view: &View<'_>) -> Plan {
        let Some(kind) = kind(migration, view.objects) else {
            return match is_new(migration, view.now) {
                true => Plan::failed("resource does not exist in rest mapper, requeuing to attempt again"),
                false => failed(migration, "unable to obtain GVR from discovery", None, view),
            };
        };
        if &*kind.resource.plural == "events" {
            return match is_new(migration, view.now) {
                true => Plan::failed("resource does not exist in GC, requeuing to attempt again"),
                false => failed(migration, "resource does not exist in GC: %!w(<nil>)", None, view),
            };
        }
        let since = since.parse().unwrap_or(u64::MAX);
        let all: Vec<(&Key, &Arc<Value>)> = view.objects.all(&kind.resource).collect();
        let is_old = |object: &Value| revision(object).is_some_and(|revision| revision <= since);
        let candidates: Vec<Key> =
            all.iter().filter(|(_, object)| is_old(object)).map(|(key, _)| (*key).clone()).collect();
        let progress = Progress { total: all.len(), candidates };
        let plan = progress.rest(0, migration, kind, view);
        self.progress.insert(meta::name(migration).to_owned(), progress);
        plan
    }

    /// An object was not written: it is gone or new, it is tried again later, or the migration has failed.
    pub(super) fn could_not_write(&mut self, key: &Key, act: &Act, why: &Refusal, view: &View<'_>) -> Option<Plan> {
        let Act::Patch { key: object, patch_type: PatchType::MergeAs(_), .. } = act else { return None };
        let migration = view.objects.get(&MIGRATIONS, key)?;
        let kind = kind(migration, view.objects)?;
        let progress = self.progress.get(&key.name)?;
        let at = progress.candidates.iter().position(|candidate| candidate == object)?;
        if why.code == 404 || why.reason == "Conflict" {
            return Some(progress.rest(at + 1, migration, kind, view));
        }
        let left = progress.candidates.len() - at;
        Some(match is_passing(why) {
            true => {
                let mut status = status::of(migration);
                let message = format!("{}; transient error: {why}", progress.says(left));
                set(&mut status, "Running", "True", (RUNNING, &message), view.now);
                let acts = update(migration, status).into_iter().collect();
                Plan { acts, failed: Some(why.to_string()), again: None }
            }
            false => failed(migration, &why.to_string(), Some((progress, left)), view),
        })
    }
}

/// Whether a refusal may be another one next time.
fn is_passing(refusal: &Refusal) -> bool {
    const REASONS: [&str; 5] = ["ServerTimeout", "TooManyRequests", "ServiceUnavailable", "InternalError", "Timeout"];
    refusal.code == 0 || REASONS.contains(&&*refusal.reason)
}

impl Progress {
    /// The writes from one object on, and the end of the migration.
    fn rest(&self, from: usize, migration: &Value, kind: &ServedKind, view: &View<'_>) -> Plan {
        let write = |key: &Key| {
            let object = view.objects.get(&kind.resource, key)?;
            let patch = json!({
                "kind": kind.kind.as_str(),
                "apiVersion": kind.api_version.as_str(),
                "metadata": {"resourceVersion": meta::resource_version(object)},
            });
            let (resource, patch_type) = (kind.resource.clone(), PatchType::MergeAs(PROFILE.name));
            Some(Act::Patch { resource, key: key.clone(), subresource: "", patch_type, patch })
        };
        let mut acts: Vec<Act> = self.candidates.iter().skip(from).filter_map(write).collect();
        let mut status = status::of(migration);
        set(&mut status, "Running", "True", (RUNNING, &self.says(0)), view.now);
        set(&mut status, "Succeeded", "True", (SUCCEEDED, "Migration completed"), view.now);
        acts.extend(update(migration, status));
        Plan::of(acts)
    }

    /// The words for it, if so many objects are left.
    fn says(&self, left: usize) -> String {
        match (left, self.total) {
            (_, 0) => RUNS.to_owned(),
            (0, total) => format!("{RUNS}, {total} objects verified migrated"),
            (left, total) => format!("{RUNS}, {left}/{total} objects not yet migrated"),
        }
    }
}

/// The kind of the objects that a migration is about, if it is served.
fn kind<'o>(migration: &Value, objects: &'o Objects) -> Option<&'o ServedKind> {
    let (group, plural) = of(migration);
    objects.kinds().named(group, plural)
}

/// Asks for the present revision, unless the resource cannot be migrated.
fn ask(migration: &Value, view: &View<'_>) -> Plan {
    let Some(kind) = kind(migration, view.objects) else {
        return match is_new(migration, view.now) {
            true => Plan::failed("resource does not exist in our rest mapper, requeuing to attempt again"),
            false => refused(migration, "resource does not exist in discovery", view),
        };
    };
    let Resource { group, version, plural } = &kind.resource;
    if !VERBS.iter().all(|verb| kind.verbs.iter().any(|own| own == verb)) {
        let place = if group.is_empty() { format!("/{version}") } else { format!("{group}/{version}") };
        let named = format!("{place}, Resource={plural}");
        let verbs = VERBS.join(" ");
        return refused(
            migration,
            &format!("resource {named:?} does not support discovery operations: [{verbs}]"),
            view,
        );
    }
    let namespace = if kind.namespaced { NOWHERE } else { "" };
    let collection = Key { namespace: namespace.to_owned(), name: String::new() };
    let path = crate::engine::path(&kind.resource, &collection, "");
    Plan::of(vec![Act::Ask { path, query: vec![("limit", "1".to_owned())], review: None }])
}

/// Notes from which revision on objects are new.
pub(super) fn begin(key: &Key, revision: &str, view: &View<'_>) -> Plan {
    let Some(migration) = view.objects.get(&MIGRATIONS, key) else { return Plan::default() };
    let mut status = status::of(migration);
    status["resourceVersion"] = revision.into();
    Plan::of(update(migration, status).into_iter().collect())
}

/// The end of a migration that cannot begin.
fn refused(migration: &Value, message: &str, view: &View<'_>) -> Plan {
    let mut status = status::of(migration);
    set(&mut status, "Failed", "True", (FAILED, message), view.now);
    Plan::of(update(migration, status).into_iter().collect())
}

/// The end of a migration that has met an error, with so many objects left.
fn failed(migration: &Value, why: &str, left: Option<(&Progress, usize)>, view: &View<'_>) -> Plan {
    let mut status = status::of(migration);
    let mut message = format!("migration encountered unhandled error: {why}");
    if let Some((progress, left)) = left {
        set(&mut status, "Running", "True", (RUNNING, &progress.says(left)), view.now);
        message = format!("{left}/{} not yet migrated. {message}", progress.total);
    }
    set(&mut status, "Failed", "True", (FAILED, &message), view.now);
    Plan::of(update(migration, status).into_iter().collect())
}
