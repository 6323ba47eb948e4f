//! Storage version migrations.
//!
//! Follows `pkg/registry/storagemigration/storagemigration/strategy.go`, `pkg/apis/storagemigration/validation/validation.go` and
//! `printStorageVersionMigration` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::cursor::At;
use super::rules::{Rules, Strategy};
use super::types::conditions;
use super::{items, text};
use crate::error::Errors;
use crate::object::name;
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
    strategy: Strategy { validate, ..Strategy::NONE },
    subresources: &[("status", Strategy { validate: validate_status, ..Strategy::STATUS })],
    ..Rules::ORDINARY
};

fn at(migration: &Value) -> At<'static, '_> {
    At::object(migration, "storagemigration.k8s.io/v1", "StorageVersionMigration")
}

/// `ValidateStorageVersionMigration` and `ValidateStorageVersionMigrationUpdate`, without the metadata.
fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let object = at(new);
    let spec = object.field("spec");
    let (resource, group) = (spec.field("resource.resource"), spec.field("resource.group"));
    let objections = name::dns1035_label(resource.text());
    if resource.is_empty() {
        resource.required("resource is required to be set", errors);
    } else if !objections.is_empty() {
        resource.invalid(objections.join(","), errors);
    }
    let objections = name::dns_subdomain(group.text());
    if !group.is_empty() && !objections.is_empty() {
        group.invalid(objections.join(","), errors);
    }
    if let Some(old) = old {
        spec.immutable(&at(old).field("spec"), errors);
    }
}

/// `ValidateStorageVersionMigrationStatusUpdate`.
fn validate_status(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let object = at(new);
    let status = object.field("status");
    let (version, list) = (status.field("resourceVersion"), status.field("conditions"));
    if !version.is_empty()
        && let Some(objection) = version_objection(version.text())
    {
        version.invalid(objection, errors);
    }
    conditions(list, errors);
    let before = old.map_or("", |old| text(old, "/status/resourceVersion"));
    if !before.is_empty() && before != version.text() {
        version.invalid_value(version.text(), "field is immutable", errors);
    }
    if is_true(new, "Succeeded") && is_true(new, "Failed") {
        list.invalid("Both success and failed conditions cannot be true at the same time", errors);
    }
    for (condition, noun) in [("Succeeded", "Success"), ("Failed", "Failed")] {
        if old.is_some_and(|old| is_true(old, condition)) && !is_true(new, condition) {
            list.invalid(format!("{noun} condition cannot be set to false once it is true"), errors);
        }
    }
}

/// The objection to a resource version (`CompareResourceVersion`).
fn version_objection(version: &str) -> Option<String> {
    let is_number = version.bytes().all(|byte| byte.is_ascii_digit());
    match version {
        _ if !is_number => Some(format!("resource version is not well formed: {version}")),
        _ if version.starts_with('0') => Some(format!("resource version is not well formed: {version}")),
        _ => None,
    }
}

/// Whether the first condition of a type is true.
fn is_true(migration: &Value, wanted: &str) -> bool {
    let first = items(migration, "/status/conditions").iter().find(|condition| text(condition, "/type") == wanted);
    first.is_some_and(|condition| text(condition, "/status") == "True")
}

/// The last condition that is met.
fn status(migration: &Value) -> &str {
    let met = |condition: &&Value| {
        text(condition, "/status") == "True" && matches!(text(condition, "/type"), "Running" | "Failed" | "Succeeded")
    };
    let last = items(migration, "/status/conditions").iter().rev().find(met);
    last.map_or("Unknown", |condition| text(condition, "/type"))
}
