//! Storage version migrations: every object of a resource is written anew, so that it is stored in the version of today.
//!
//! Follows `pkg/controller/storageversionmigrator` (v1.37.1), whose three controllers are one loop here: `runner.rs` lets one migration of a
//! resource run at a time, and says so in its definition; `migrate.rs` finds out from which revision on objects are new anyway, and writes the others.

mod migrate;
mod runner;

use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::conditions;
use crate::workloads::facts::read::{self, stamp};
use jiff::Timestamp;
use machinery::object::meta;
use migrate::Progress;
use std::collections::HashMap;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "storage-version-migrator-controller",
    alias: "svm",
    user: "system:serviceaccount:kube-system:storage-version-migrator-controller",
    program: "kube-controller-manager",
    component: "storage-version-migrator-controller",
};

const MIGRATIONS: Resource = Resource::new("storagemigration.k8s.io", "v1", "storageversionmigrations");
/// The namespace in the key of a resource whose migrations take turns; its name is the plural, and the group behind a blank.
const TURNS: &str = "turns of";

/// The loop that migrates.
#[derive(Default)]
pub(crate) struct Migrator {
    /// The migrations in progress, by name.
    progress: HashMap<String, Progress>,
}

impl Loop for Migrator {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        &[]
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        if *change.resource != MIGRATIONS {
            return;
        }
        if let Some(migration) = change.object() {
            let (group, plural) = of(migration);
            keys.add(Key { namespace: TURNS.to_owned(), name: format!("{plural} {group}") });
        }
        match change.new {
            Some(_) => keys.add(change.key.clone()),
            None => drop(self.progress.remove(&change.key.name)),
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        if key.namespace == TURNS {
            let (plural, group) = key.name.split_once(' ').unwrap_or_default();
            return runner::turns(group, plural, view);
        }
        self.migrate(key, view)
    }

    fn says(&self, key: &Key, _: &Objects) -> String {
        match key.namespace.as_str() {
            TURNS => format!("{TURNS} {}", key.name.trim_end().replace(' ', ".")),
            _ => key.to_string(),
        }
    }

    fn told(&mut self, key: &Key, _: &Act, answer: &Value, view: &View<'_>) -> Plan {
        migrate::begin(key, read::text(answer, "/metadata/resourceVersion"), view)
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        self.could_not_write(key, act, refusal, view)
    }
}

/// The group and the plural name of the resource that a migration is of.
fn of(migration: &Value) -> (&str, &str) {
    (read::text(migration, "/spec/resource/group"), read::text(migration, "/spec/resource/resource"))
}

fn is_running(migration: &Value) -> bool {
    conditions::holds(migration, "Running")
}

fn is_over(migration: &Value) -> bool {
    conditions::holds(migration, "Succeeded") || conditions::holds(migration, "Failed")
}

/// Writes the status of a migration, if it says anything new.
fn update(migration: &Value, status: Value) -> Option<Act> {
    let object = crate::workloads::facts::status::changed(migration, status)?;
    Some(Act::Update { resource: MIGRATIONS, subresource: "status", object })
}

/// Sets a condition in its place, as `meta.SetStatusCondition` does: its time changes with its status.
fn set(status: &mut Value, kind: &str, value: &str, (reason, message): (&str, &str), now: Timestamp) {
    let mut condition = json!({
        "type": kind, "status": value, "lastTransitionTime": stamp(now), "reason": reason, "message": message,
    });
    let present = status.get_mut("conditions").and_then(Value::as_array_mut);
    let found = present.and_then(|all| all.iter_mut().find(|old| read::text(old, "/type") == kind));
    let Some(old) = found else { return conditions::push(status, condition) };
    if read::text(old, "/status") == value {
        condition["lastTransitionTime"] = old["lastTransitionTime"].clone();
    }
    if let Some(generation) = old.get("observedGeneration") {
        condition["observedGeneration"] = generation.clone();
    }
    *old = condition;
}

/// Whether it is less than a minute since a migration was created, so that its resource may be one that is served soon.
fn is_new(migration: &Value, now: Timestamp) -> bool {
    read::time(migration, "/metadata/creationTimestamp")
        .is_some_and(|time| read::until(read::after(time, 60), now).is_some())
}

/// The revision of an object as a number.
fn revision(object: &Value) -> Option<u64> {
    meta::resource_version(object).parse().ok()
}
