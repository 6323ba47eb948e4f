//! JSON Merge Patch. A port of `merge.go` of `gopkg.in/evanphx/json-patch.v4` (v4.13.0).

use super::echo::{self, Read};
use crate::error::{ApiError, ApiResult};
use crate::schema::{TypeRef, json_type};
use tree::{Map, Text, Value};

/// The media type of merge patches.
pub const MEDIA_TYPE: &str = "application/merge-patch+json";

/// Merges a patch into a document. `checked` is false for `fieldValidation=Ignore`, which lets arrays through: they
/// replace the document.
///
/// # Errors
/// 400, if the patch is not an object.
pub fn apply(document: Value, patch: Value, checked: bool) -> ApiResult<Value> {
    match patch {
        Value::Object(_) => Ok(merged(document, patch)),
        Value::Array(_) if !checked => Ok(merged(document, patch)),
        Value::Null => Err(ApiError::bad_request("Invalid JSON Patch")),
        _ if !checked => Err(ApiError::bad_request("Invalid JSON Patch")),
        other => Err(ApiError::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_type(&other)
        ))),
    }
}

/// The text of a merged object of the type in a message.
pub fn echo(document: Value, patch: Value, ty: TypeRef<'_>) -> String {
    let read = read(&document, &patch).unwrap_or_default();
    echo::echo(&merged(document, patch), ty, &read)
}

/// The part of the merged document that is read, or comes from the patch.
fn read(current: &Value, patch: &Value) -> Option<Read> {
    let (Value::Object(current), Value::Object(patch)) = (current, patch) else { return Read::whole(patch) };
    let changes = patch.iter().filter(|(_, change)| !change.is_null());
    let part = |(key, change): (&Text, &Value)| {
        Some((key.to_string(), read(current.get(key).unwrap_or(&Value::Null), change)?))
    };
    Some(Read::of(changes.filter_map(part)))
}

/// The document with a patch merged into it; a patch that is an array takes its place.
fn merged(document: Value, patch: Value) -> Value {
    if patch.is_array() { without_nulls(patch) } else { merge(document, patch) }
}

fn merge(current: Value, patch: Value) -> Value {
    match (current, patch) {
        (Value::Object(mut current), Value::Object(patch)) => {
            merge_fields(&mut current, patch);
            Value::Object(current)
        }
        (Value::Object(_), patch) => patch,
        (_, patch) => without_nulls(patch),
    }
}

fn merge_fields(current: &mut Map, patch: Map) {
    for (key, change) in patch {
        let before = current.remove(&key).unwrap_or_default();
        if !change.is_null() {
            current.insert(key, merge(before, change));
        }
    }
}

/// Nulls mean removal, so new maps are stored without them. Nulls in lists stay.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn patches_merge() {
        let table = [
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": "b", "x": 1}), json!({"a": null}), json!({"x": 1})),
            (json!({"a": ["b"]}), json!({"a": {"c": {"d": null}}}), json!({"a": {"c": {}}})),
            (json!({"a": {"b": 1}}), json!({"a": [{"x": null}, null]}), json!({"a": [{"x": null}, null]})),
            (json!({}), json!({"a": [{"x": null}, null]}), json!({"a": [{}, null]})),
        ];
        for (document, patch, merged) in table {
            assert_eq!(apply(document, patch.clone(), true).unwrap(), merged, "{patch}");
        }
    }

    /// The messages of the real server (v1.37.1).
    #[test]
    fn only_objects_merge() {
        let decoding = |type_: &str| {
            format!(
                "error decoding patch: json: cannot unmarshal {type_} into Go value of type map[string]interface {{}}"
            )
        };
        let table = [
            (json!([]), true, decoding("array")),
            (json!(3), true, decoding("number")),
            (json!("x"), true, decoding("string")),
            (json!(null), true, "Invalid JSON Patch".into()),
            (json!(3), false, "Invalid JSON Patch".into()),
        ];
        for (patch, checked, message) in table {
            let error = apply(json!({}), patch, checked).unwrap_err();
            assert_eq!((error.code(), error.to_string()), (400, message));
        }
        assert_eq!(apply(json!({}), json!([]), false).unwrap(), json!([]));
    }
}
