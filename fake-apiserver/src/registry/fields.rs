//! The fields of objects by path, as rules read and set them.

use tree::{Map, Value};

/// The value at a JSON pointer without escapes. Allocates nothing, unlike `Value::pointer`.
pub(crate) fn at<'a>(mut value: &'a Value, mut pointer: &str) -> Option<&'a Value> {
    while let Some(rest) = pointer.strip_prefix('/') {
        let end = rest.bytes().position(|byte| byte == b'/').unwrap_or(rest.len());
        let token;
        (token, pointer) = rest.split_at(end);
        value = match value {
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            value => value.get(token)?,
        };
    }
    Some(value)
}

/// The text at a JSON pointer, "" when there is none.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    at(value, pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<i64> {
    at(value, pointer).and_then(Value::as_i64)
}

/// Whether the value at a JSON pointer is `true`.
pub(crate) fn flag(value: &Value, pointer: &str) -> bool {
    at(value, pointer) == Some(&Value::Bool(true))
}

/// The items at a JSON pointer.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    at(value, pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The texts in a list; none if it is absent.
pub(crate) fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_string)).collect()
}

/// Sets a field of the object to its value in another.
pub(crate) fn carry_over(object: &mut Value, from: &Value, field: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => fields.insert(field.into(), value.clone()),
        None => fields.remove(field),
    };
}

/// A field that is an object, created if it is absent.
pub(crate) fn child<'a>(object: &'a mut Value, field: &str) -> &'a mut Value {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    &mut object[field]
}

/// Sets a field where it is unset or empty, as Go's zero values are.
pub(super) fn default_to(object: &mut Value, field: &str, value: impl Into<Value>) {
    if object.is_null() {
        *object = Value::Object(Map::new());
    }
    let Some(fields) = object.as_object_mut() else { return };
    let unset = match fields.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(_) => false,
    };
    if unset {
        fields.insert(field.into(), value.into());
    }
}

/// Synchronises a field and the first item of the list that replaced it: each fills the other; on conflict the field wins.
pub(super) fn sync_first(
    object: &mut Value,
    field: &str,
    list: &str,
    wrap: fn(Value) -> Value,
    unwrap: fn(&Value) -> Value,
) {
    let Some(fields) = object.as_object_mut() else { return };
    let single = fields.get(field).filter(|value| value.as_str() != Some("")).cloned();
    let first = fields.get(list).and_then(Value::as_array).and_then(|items| items.first()).map(unwrap);
    match (single, first) {
        (Some(single), first) if first.as_ref() != Some(&single) => {
            fields.insert(list.into(), Value::Array(vec![wrap(single)]));
        }
        (None, Some(first)) => {
            fields.insert(field.into(), first);
        }
        _ => {}
    }
}

/// Renames members of an object, from the first of each pair to the second.
pub(super) fn rename<'n>(object: &mut Value, names: impl Iterator<Item = (&'n str, &'n str)>) {
    let Some(members) = object.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = members.remove(from) {
            members.insert(to.into(), value);
        }
    }
}
