//! Turns of migrations: one of a resource runs at a time (`migrationrunner.go`).

use super::{MIGRATIONS, is_over, is_running, of, set, update};
use crate::act::{Act, PatchType};
use crate::plan::{Plan, View};
use crate::resource::{Key, Resource};
use crate::workloads::facts::read::{self, stamp};
use crate::workloads::facts::{conditions, status};
use machinery::object::meta;
use std::sync::Arc;
use tree::{Value, json};

const DEFINITIONS: Resource = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
/// The manager of what it says in definitions.
const MANAGER: &str = "migration-runner-controller";
const MIGRATING: &str = "StorageMigrating";
pub(super) const RUNNING: &str = "MigrationRunning";
pub(super) const RUNS: &str = "The migration is running";

/// Ends the migrations of a resource that are over, and lets the first of the others run.
pub(super) fn turns(group: &str, plural: &str, view: &View<'_>) -> Plan {
    let all = view.objects.all(&MIGRATIONS).map(|(_, migration)| migration);
    let all: Vec<&Arc<Value>> = all.filter(|migration| of(migration) == (group, plural)).collect();
    let name = Key { namespace: String::new(), name: format!("{plural}.{group}") };
    let definition = view.objects.get(&DEFINITIONS, &name);
    let mut acts = Vec::new();
    for over in all.iter().filter(|one| is_running(one) && is_over(one)) {
        acts.extend(definition.map(|definition| ended(definition, conditions::holds(over, "Succeeded"), view)));
        acts.extend(update(over, over_status(over, view)));
    }
    let waiting = all.iter().filter(|one| !is_running(one) && !is_over(one));
    let first = waiting.min_by(|one, other| age(one).cmp(&age(other)));
    if let Some(first) = first.filter(|_| !all.iter().any(|one| is_running(one) && !is_over(one))) {
        acts.extend(definition.map(|definition| begun(definition, meta::name(first), view)));
        let mut status = status::of(first);
        if conditions::get(first, "Running").is_none() {
            set(&mut status, "Running", "True", (RUNNING, RUNS), view.now);
        }
        acts.extend(update(first, status));
    }
    Plan::of(acts)
}

/// The order in which migrations get their turn.
fn age(migration: &Value) -> (&str, &str) {
    (read::text(migration, "/metadata/creationTimestamp"), meta::name(migration))
}

fn over_status(migration: &Value, view: &View<'_>) -> Value {
    let mut status = status::of(migration);
    set(&mut status, "Running", "False", ("MigrationCompleted", "Migration completed"), view.now);
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    let running = conditions.and_then(|all| all.iter_mut().find(|one| read::text(one, "/type") == "Running"));
    if let Some(running) = running {
        status::count(running, "observedGeneration", meta::generation(migration));
    }
    status
}

/// Says in a definition that its objects are being migrated.
fn begun(definition: &Value, migration: &str, view: &View<'_>) -> Act {
    let message = format!("Migration {migration} is running");
    applied(definition, "True", (RUNNING, &message), None, view)
}

/// Says in a definition that the migration has ended; the versions in which objects may be stored are then one, unless it has changed meanwhile.
fn ended(definition: &Value, succeeded: bool, view: &View<'_>) -> Act {
    let condition = conditions::get(definition, MIGRATING);
    let observed = condition.map(|condition| read::int(condition, "/observedGeneration"));
    let is_same = observed == Some(meta::generation(definition));
    let said = match (succeeded, is_same) {
        (true, true) => ("MigrationSucceeded", "The migration has succeeded and the stored versions have been updated"),
        (true, false) => (
            "MigrationSucceeded",
            "The migration has succeeded but the stored versions have not been updated due to a generation mismatch",
        ),
        (false, _) => ("MigrationFailed", "The migration has failed"),
    };
    let mut versions = read::list(definition, "/spec/versions").iter();
    let stored = versions.find(|version| read::flag(version, "/storage")).map(|version| read::text(version, "/name"));
    applied(definition, "False", said, stored.filter(|_| is_same), view)
}

fn applied(
    definition: &Value,
    value: &str,
    (reason, message): (&str, &str),
    stored: Option<&str>,
    view: &View<'_>,
) -> Act {
    let mut patch = json!({
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": meta::name(definition), "resourceVersion": meta::resource_version(definition)},
        "status": {"conditions": [{
            "type": MIGRATING,
            "status": value,
            "lastTransitionTime": stamp(view.now),
            "reason": reason,
            "message": message,
            "observedGeneration": meta::generation(definition),
        }]},
    });
    if let Some(stored) = stored {
        patch["status"]["storedVersions"] = json!([stored]);
    }
    let key = Key { namespace: String::new(), name: meta::name(definition).to_owned() };
    let patch_type = PatchType::ApplyAs(MANAGER);
    Act::Patch { resource: DEFINITIONS, key, subresource: "status", patch_type, patch }
}
