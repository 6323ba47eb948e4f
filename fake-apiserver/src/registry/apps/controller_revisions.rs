//! Controller revisions.
//!
//! Follows `pkg/registry/apps/controllerrevision/strategy.go` and `printControllerRevision` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::registry::rules::Rules;
use crate::registry::{flag, items, number, text};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    cells: &[
        ("Controller", |revision, _| controller(revision).into()),
        ("Revision", |revision, _| number(revision, "/revision").unwrap_or_default().into()),
    ],
    ..Rules::ORDINARY
};

/// The controller that owns a revision: its kind with its group, and its name (`formatResourceName`).
fn controller(revision: &Value) -> String {
    let owners = items(revision, "/metadata/ownerReferences");
    let Some(owner) = owners.iter().find(|owner| flag(owner, "/controller")) else { return "<none>".into() };
    let group = text(owner, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    let (kind, name) = (text(owner, "/kind"), text(owner, "/name"));
    match (kind, group) {
        ("", "") => name.into(),
        (kind, "") => format!("{}/{name}", kind.to_lowercase()),
        (kind, group) => format!("{}.{}/{name}", kind.to_lowercase(), group.to_lowercase()),
    }
}
