//! JSON Patch. A port of `patch.go` of `gopkg.in/evanphx/json-patch.v4` (v4.13.0) with its leniencies: negative indexes
//! count from the end, `replace` of a missing key adds it, `copy` of one copies null, and a missing value is null.

use super::go_type;
use crate::error::{ApiError, ApiResult};
use serde_json::{Map, Value};

/// Media type of such patches.
pub const MEDIA_TYPE: &str = "application/json-patch+json";

/// `maxJSONPatchOperations`.
const MAX_OPERATIONS: usize = 10_000;

/// Applies a patch to a document. Unless `checked` is false (`fieldValidation=Ignore`), operations are also held to
/// their type, and what they have too many of is returned: the findings of strict validation.
///
/// # Errors
/// 400, if the patch is malformed; 413, if it is too long; 422, if it does not apply.
pub fn apply(mut document: Value, patch: &Value, checked: bool) -> ApiResult<(Value, Vec<String>)> {
    let operations = match (patch, checked) {
        (Value::Array(operations), _) => operations.as_slice(),
        (Value::Null, _) => &[],
        (other, true) => return Err(cannot_decode(other, "Go value of type []handlers.jsonPatchOp")),
        (other, false) => return Err(cannot_unmarshal("", other, "Go value of type jsonpatch.Patch")),
    };
    let findings = if checked { check(operations)? } else { Vec::new() };
    if let Some(operation) = operations.iter().find(|operation| !operation.is_object() && !operation.is_null()) {
        return Err(cannot_unmarshal("", operation, "Go value of type jsonpatch.Operation"));
    }
    if operations.len() > MAX_OPERATIONS {
        return Err(ApiError::too_large(format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    for operation in operations {
        // The real server keeps the reason to itself.
        step(&mut document, operation).ok_or_else(ApiError::unprocessable)?;
    }
    Ok((document, findings))
}

fn cannot_unmarshal(prefix: &str, value: &Value, into: &str) -> ApiError {
    ApiError::bad_request(format!("{prefix}json: cannot unmarshal {} into {into}", go_type(value)))
}

fn cannot_decode(value: &Value, into: &str) -> ApiError {
    cannot_unmarshal("error decoding patch: ", value, into)
}

/// Holds operations to the fields of `jsonPatchOp`; returns those that it does not have.
fn check(operations: &[Value]) -> ApiResult<Vec<String>> {
    let mut findings = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        let fields = match operation {
            Value::Object(fields) => fields,
            Value::Null => continue,
            other => return Err(cannot_decode(other, "Go value of type handlers.jsonPatchOp")),
        };
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("value", _) | ("op" | "path" | "from", Value::String(_) | Value::Null) => {}
                ("op" | "path" | "from", other) => {
                    return Err(cannot_decode(other, &format!("Go struct field jsonPatchOp.{name} of type string")));
                }
                _ => findings.push(format!("json patch unknown field \"[{index}].{name}\"")),
            }
        }
    }
    Ok(findings)
}

/// One operation; `None` if it does not apply.
fn step(document: &mut Value, operation: &Value) -> Option<()> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let value = || operation.get("value").cloned().unwrap_or_default();
    match text("op")? {
        "add" => locate(document, text("path")?)?.add(value()),
        "remove" => locate(document, text("path")?)?.remove().map(drop),
        "replace" => match text("path")? {
            "" => {
                *document = Some(value()).filter(|value| value.is_object() || value.is_array())?;
                Some(())
            }
            path => locate(document, path)?.replace(value()),
        },
        "move" => {
            let moved = locate(document, text("from")?)?.remove()?;
            locate(document, text("path")?)?.add(moved)
        }
        "copy" => {
            let copied = locate(document, text("from")?)?.get()?;
            locate(document, text("path")?)?.add(copied)
        }
        "test" => {
            let found = match text("path")? {
                "" => document.clone(),
                path => locate(document, path)?.get()?,
            };
            (found == value()).then_some(())
        }
        _ => None,
    }
}

/// A place in a document: what holds it, and the key or index in there.
enum Place<'a> {
    Field(&'a mut Map<String, Value>, String),
    Item(&'a mut Vec<Value>, String),
}

/// `findObject`. What stands before the first slash is not looked at.
fn locate<'a>(document: &'a mut Value, path: &str) -> Option<Place<'a>> {
    let (_, path) = path.split_once('/')?;
    let (parents, key) = path.rsplit_once('/').map_or((None, path), |(parents, key)| (Some(parents), key));
    let mut holder = document;
    for parent in parents.into_iter().flat_map(|parents| parents.split('/')) {
        holder = match holder {
            Value::Object(fields) => fields.get_mut(&unescape(parent))?,
            Value::Array(items) => {
                let index = existing(items, &unescape(parent))?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    match holder {
        Value::Object(fields) => Some(Place::Field(fields, unescape(key))),
        Value::Array(items) => Some(Place::Item(items, unescape(key))),
        _ => None,
    }
}

fn unescape(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// An index below `length`; negative ones count from the end.
fn index(key: &str, length: usize) -> Option<usize> {
    let index: isize = key.parse().ok()?;
    let index = if index < 0 { length.checked_sub(index.unsigned_abs())? } else { index.unsigned_abs() };
    (index < length).then_some(index)
}

/// The index of an item that is there.
fn existing(items: &[Value], key: &str) -> Option<usize> {
    index(key, items.len())
}

impl Place<'_> {
    /// What stands there; in an object, null if nothing does.
    fn get(&self) -> Option<Value> {
        match self {
            Place::Field(fields, key) => Some(fields.get(key).cloned().unwrap_or_default()),
            Place::Item(items, key) => items.get(existing(items, key)?).cloned(),
        }
    }

    fn add(self, value: Value) -> Option<()> {
        match self {
            Place::Field(fields, key) => drop(fields.insert(key, value)),
            Place::Item(items, key) if key == "-" => items.push(value),
            Place::Item(items, key) => {
                let index = index(&key, items.len() + 1)?;
                items.insert(index, value);
            }
        }
        Some(())
    }

    fn replace(self, value: Value) -> Option<()> {
        match self {
            Place::Field(fields, key) => drop(fields.insert(key, value)),
            Place::Item(items, key) => {
                let index = existing(items, &key)?;
                items[index] = value;
            }
        }
        Some(())
    }

    fn remove(self) -> Option<Value> {
        match self {
            Place::Field(fields, key) => fields.remove(&key),
            Place::Item(items, key) => {
                let index = existing(items, &key)?;
                Some(items.remove(index))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({"data": {"a": "1"}, "list": ["x", "y"]})
    }

    /// Outcomes as the real server (v1.37.1) gave them; `null` for 422.
    #[test]
    fn operations_apply_or_do_not() {
        let table = [
            (json!([{"op": "test", "path": "/data/a", "value": "1"}]), document()),
            (json!([{"op": "test", "path": "/data/a", "value": "2"}]), json!(null)),
            (json!([{"op": "test", "path": "/data/a"}]), json!(null)),
            (json!([{"op": "test", "path": "/data/z"}]), document()),
            (json!([{"op": "test", "path": "/data/z", "value": null}]), document()),
            (json!([{"op": "test", "path": "", "value": {}}]), json!(null)),
            (json!([{"op": "test", "path": "/list/-1", "value": "y"}]), document()),
            (json!([{"op": "remove", "path": "/data/z"}]), json!(null)),
            (json!([{"op": "remove", "path": ""}]), json!(null)),
            (json!([{"op": "remove", "path": "/list/2"}]), json!(null)),
            (json!([{"op": "remove", "path": "/list/-"}]), json!(null)),
            (json!([{"op": "remove", "path": "/list/-1"}]), json!({"data": {"a": "1"}, "list": ["x"]})),
            (
                json!([{"op": "remove", "path": "/list/00"}, {"op": "remove", "path": "/list/+0"}]),
                json!({"data": {"a": "1"}, "list": []}),
            ),
            (
                json!([{"op": "replace", "path": "/data/z", "value": "x"}]),
                json!({"data": {"a": "1", "z": "x"}, "list": ["x", "y"]}),
            ),
            (json!([{"op": "replace", "path": "", "value": {"b": 1}}]), json!({"b": 1})),
            (json!([{"op": "replace", "path": "", "value": 1}]), json!(null)),
            (json!([{"op": "add", "path": "/nope/z", "value": "x"}]), json!(null)),
            (json!([{"op": "add", "path": "/data/a/z", "value": "x"}]), json!(null)),
            (json!([{"op": "add", "path": "", "value": {}}]), json!(null)),
            (json!([{"op": "add", "value": {}}]), json!(null)),
            (json!([{"op": "add", "path": "/list/3", "value": "z"}]), json!(null)),
            (json!([{"op": "add", "path": "/list/x", "value": "z"}]), json!(null)),
            (
                json!([{"op": "add", "path": "/list/-", "value": "z"}]),
                json!({"data": {"a": "1"}, "list": ["x", "y", "z"]}),
            ),
            (
                json!([{"op": "add", "path": "/list/-1", "value": "z"}]),
                json!({"data": {"a": "1"}, "list": ["x", "y", "z"]}),
            ),
            (
                json!([{"op": "add", "path": "/data/b~1c~0d"}]),
                json!({"data": {"a": "1", "b/c~d": null}, "list": ["x", "y"]}),
            ),
            (
                json!([{"op": "move", "from": "/data/a", "path": "/data/b"}]),
                json!({"data": {"b": "1"}, "list": ["x", "y"]}),
            ),
            (json!([{"op": "move", "from": "/data/z", "path": "/data/b"}]), json!(null)),
            (json!([{"op": "move", "from": "/data", "path": "/data/b"}]), json!(null)),
            (
                json!([{"op": "copy", "from": "/data/a", "path": "/data/b"}]),
                json!({"data": {"a": "1", "b": "1"}, "list": ["x", "y"]}),
            ),
            (json!([{"op": "copy", "path": "/data/b"}]), json!(null)),
            (json!([{"op": "bogus", "path": "/data/a"}]), json!(null)),
            (json!([{"path": "/data/a"}]), json!(null)),
            (json!([null]), json!(null)),
            (json!([]), document()),
            (json!(null), document()),
        ];
        for (patch, outcome) in table {
            match apply(document(), &patch, true) {
                Ok((patched, findings)) => assert_eq!((patched, findings.len()), (outcome, 0), "{patch}"),
                Err(error) => {
                    assert_eq!((error.code(), outcome), (422, Value::Null), "{patch}");
                    assert_eq!(error.to_string(), "the server rejected our request due to an error in our request");
                }
            }
        }
    }

    /// Every text as the real server (v1.37.1) gave it.
    #[test]
    fn malformed_patches_are_named() {
        let table = [
            (
                json!({}),
                true,
                "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
            ),
            (json!({}), false, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
            (
                json!([3]),
                true,
                "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
            ),
            (
                json!([{"op": 3}]),
                true,
                "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
            ),
        ];
        for (patch, checked, message) in table {
            let error = apply(document(), &patch, checked).unwrap_err();
            assert_eq!((error.code(), error.to_string().as_str()), (400, message));
        }
        assert_eq!(super::super::parse(b"{} x").unwrap_err().to_string(), "invalid JSON patch");
    }

    #[test]
    fn length_is_bounded_and_extra_fields_are_found() {
        let operation = json!({"op": "test", "path": "/data/a", "value": "1"});
        let error = apply(document(), &vec![operation; 10_001].into(), true).unwrap_err();
        assert_eq!(error.code(), 413);
        assert_eq!(
            error.to_string(),
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
        );
        let extra = json!([{"op": "add", "path": "/data/x", "value": "1", "bogus": 1}]);
        let (_, findings) = apply(document(), &extra, true).unwrap();
        assert_eq!(findings, ["json patch unknown field \"[0].bogus\""]);
    }
}
