//! Conditions in statuses.

use super::read::{self, stamp};
use jiff::Timestamp;
use tree::{Value, json};

/// The condition of a type.
pub(crate) fn get<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    in_status(object.get("status")?, kind)
}

/// The condition of a type in a status.
pub(crate) fn in_status<'v>(status: &'v Value, kind: &str) -> Option<&'v Value> {
    read::list(status, "/conditions").iter().find(|condition| read::text(condition, "/type") == kind)
}

/// Whether the condition of a type is `True`.
pub(crate) fn holds(object: &Value, kind: &str) -> bool {
    get(object, kind).is_some_and(|condition| read::text(condition, "/status") == "True")
}

/// Removes the condition of a type from a status.
pub(crate) fn remove(status: &mut Value, kind: &str) {
    let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) else { return };
    conditions.retain(|condition| read::text(condition, "/type") != kind);
    if conditions.is_empty() {
        super::status::unset(status, "conditions");
    }
}

/// Appends a condition to a status.
pub(crate) fn push(status: &mut Value, condition: Value) {
    match status.get_mut("conditions").and_then(Value::as_array_mut) {
        Some(conditions) => conditions.push(condition),
        None => status["conditions"] = Value::Array(vec![condition]),
    }
}

/// A condition with the time of its transition, as most kinds have them.
pub(crate) fn new(kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    let mut condition = json!({"type": kind, "status": status, "lastTransitionTime": stamp(now)});
    super::status::text(&mut condition, "reason", reason);
    super::status::text(&mut condition, "message", message);
    condition
}

/// Puts a condition behind the others, unless there is one with the same status and reason.
pub(crate) fn set(status: &mut Value, condition: Value) {
    let kind = read::text(&condition, "/type").to_owned();
    let same = |field: &str, old: &Value| read::text(old, field) == read::text(&condition, field);
    if in_status(status, &kind).is_some_and(|old| same("/status", old) && same("/reason", old)) {
        return;
    }
    remove(status, &kind);
    push(status, condition);
}
