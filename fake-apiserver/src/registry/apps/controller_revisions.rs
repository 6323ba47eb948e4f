//! Controller revisions.
//!
//! Follows `pkg/registry/apps/controllerrevision/strategy.go`, `ValidateControllerRevisionCreate` and `ValidateControllerRevisionUpdate`
//! of `pkg/apis/apps/validation/validation.go` and `printControllerRevision` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::error::Errors;
use crate::object::validate::IMMUTABLE;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::{flag, items, number, text};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    cells: &[
        ("Controller", |revision, _| controller(revision).into()),
        ("Revision", |revision, _| number(revision, "/revision").unwrap_or_default().into()),
    ],
    strategy: Strategy { validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn at(revision: &Value) -> At<'static, '_> {
    At::object(revision, "apps/v1", "ControllerRevision")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let (revision, old) = (at(new), old.map(at));
    revision.field("revision").not_negative(errors);
    let data = revision.field("data");
    match (old, data.value()) {
        // Nothing is not the same as an object without fields.
        (Some(old), now) if now != old.field("data").value() => data.invalid(IMMUTABLE, errors),
        (Some(_), _) => {}
        (None, Value::Object(_)) => {}
        (None, Value::Null) => data.required("data is mandatory", errors),
        (None, _) => data.required("data must be a valid JSON object", errors),
    }
}

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
