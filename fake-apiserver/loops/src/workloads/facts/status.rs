//! Statuses, written as Go encodes them: what is zero is left out, where the type says so.

use super::read;
use machinery::object::generation;
use tree::{Map, Value};

/// Sets a number, or unsets it if it is 0.
pub(crate) fn count(status: &mut Value, name: &str, number: i64) {
    match number {
        0 => unset(status, name),
        number => status[name] = number.into(),
    }
}

/// Sets a text, or unsets it if it is empty.
pub(crate) fn text(status: &mut Value, name: &str, text: &str) {
    match text {
        "" => unset(status, name),
        text => status[name] = text.into(),
    }
}

/// Unsets a field.
pub(crate) fn unset(status: &mut Value, name: &str) {
    if let Some(fields) = status.as_object_mut() {
        fields.remove(name);
    }
}

/// An object's status; empty if it has none.
pub(crate) fn of(object: &Value) -> Value {
    object.get("status").filter(|status| status.is_object()).cloned().unwrap_or_else(|| Value::Object(Map::new()))
}

/// The object with that status, if it says anything new.
pub(crate) fn changed(object: &Value, status: Value) -> Option<Value> {
    if generation::equal(object.get("status"), Some(&status)) {
        return None;
    }
    let mut object = object.clone();
    object["status"] = status;
    Some(object)
}

/// The generation that a status is about.
pub(crate) fn observed(object: &Value) -> i64 {
    read::int(object, "/status/observedGeneration")
}
