//! Storage version migrations.
//!
//! Follows `pkg/registry/storagemigration/storagemigration/strategy.go` and `printStorageVersionMigration` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::rules::Rules;
use super::{items, text};
use tree::Value;

pub(super) const RULES: Rules = Rules {
    status_keeps_metadata: true,
    cells: &[
        ("Resource", |migration, _| {
            match (text(migration, "/spec/resource/resource"), text(migration, "/spec/resource/group")) {
                (resource, "") => resource.into(),
                (resource, group) => format!("{resource}.{group}").into(),
            }
        }),
        ("Status", |migration, _| status(migration).into()),
    ],
    ..Rules::ORDINARY
};

/// The last condition that is met.
fn status(migration: &Value) -> &str {
    let met = |condition: &&Value| {
        text(condition, "/status") == "True" && matches!(text(condition, "/type"), "Running" | "Failed" | "Succeeded")
    };
    let last = items(migration, "/status/conditions").iter().rev().find(met);
    last.map_or("Unknown", |condition| text(condition, "/type"))
}
