//! JSON Patch. A port of `patch.go` of `gopkg.in/evanphx/json-patch.v4` (v4.13.0) with its leniencies: negative indexes
//! count from the end, `replace` of a missing key adds it, `copy` of one copies null, and a missing value is null.
//!
//! The cost of a patch is linear in its length: copies are limited as upstream, the depth of the document by that of decoded
//! ones, and only copied or compared values are walked through.

use super::echo;
use super::tree::{Content, Items, Node};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::schema::{MAX_DEPTH, MAX_FINDINGS, TypeRef, json_type};
use std::collections::BTreeMap;
use tree::Value;

/// The media type of JSON patches.
pub const MEDIA_TYPE: &str = "application/json-patch+json";

/// `maxJSONPatchOperations`.
const MAX_OPERATIONS: usize = 10_000;
/// The limit of all `copy` operations of a patch together, in bytes of JSON (`JSONPatchMaxCopyBytes`).
const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// Applies a patch to a document. Unless `checked` is false (`fieldValidation=Ignore`), operations are checked against
/// their type, and unknown fields are returned: the findings of strict validation.
///
/// # Errors
/// 400, if the patch is malformed; 413, if it is too long; 422, if it does not apply, copies too much or nests too deep;
/// 504, if the deadline has passed.
pub fn apply(document: Value, patch: &Value, checked: bool, deadline: &Deadline) -> ApiResult<(Value, Vec<String>)> {
    let (root, findings) = applied(document, patch, checked, deadline)?;
    Ok((root.into(), findings))
}

/// The text of a patched object of the type in a message.
///
/// # Errors
/// The errors of [`apply`], unchecked.
pub fn echo(document: Value, patch: &Value, ty: TypeRef<'_>, deadline: &Deadline) -> ApiResult<String> {
    let (root, _) = applied(document, patch, false, deadline)?;
    let read = root.read().unwrap_or_default();
    Ok(echo::echo(&root.into(), ty, &read))
}

fn applied(document: Value, patch: &Value, checked: bool, deadline: &Deadline) -> ApiResult<(Node, Vec<String>)> {
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
    check_length(operations.len())?;
    let mut root = Node::from(document);
    let mut copied_bytes = 0;
    for operation in operations {
        deadline.check()?;
        // The real server does not give the reason.
        step(&mut root, &mut copied_bytes, operation).ok_or_else(ApiError::unprocessable)?;
    }
    Ok((root, findings))
}

/// Refuses a patch of too many operations, before it is parsed, as trees take many times the memory of their JSON.
///
/// # Errors
/// 413, if there are too many.
pub fn check_length(operations: usize) -> ApiResult<()> {
    if operations <= MAX_OPERATIONS {
        return Ok(());
    }
    Err(ApiError::too_large(format!(
        "Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {operations}"
    )))
}

fn cannot_unmarshal(prefix: &str, value: &Value, into: &str) -> ApiError {
    ApiError::bad_request(format!("{prefix}json: cannot unmarshal {} into {into}", json_type(value)))
}

fn cannot_decode(value: &Value, into: &str) -> ApiError {
    cannot_unmarshal("error decoding patch: ", value, into)
}

/// Checks operations against the fields of `jsonPatchOp`; returns the unknown ones.
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
                _ if findings.len() == MAX_FINDINGS => {}
                _ => findings.push(format!("json patch unknown field \"[{index}].{name}\"")),
            }
        }
    }
    Ok(findings)
}

/// Applies one operation; `None` if it does not apply.
fn step(root: &mut Node, copied_bytes: &mut usize, operation: &Value) -> Option<()> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let value = || operation.get("value").unwrap_or(&Value::Null);
    let new = || Node::from(value().clone()).all_read();
    match text("op")? {
        "add" => put(root, text("path")?, new(), Place::add),
        "remove" => locate(root, text("path")?, 0)?.remove().map(drop),
        "replace" => match text("path")? {
            "" => {
                *root = Some(new()).filter(|node| (1..=MAX_DEPTH).contains(&node.height()))?;
                Some(())
            }
            path => put(root, path, new(), Place::replace),
        },
        "move" => {
            let moved = locate(root, text("from")?, 0)?.remove()?;
            put(root, text("path")?, moved, Place::add)
        }
        "copy" => {
            let copied = locate(root, text("from")?, 0)?.get()?;
            *copied_bytes += copied.json_bytes();
            if *copied_bytes > MAX_COPIED_BYTES {
                return None;
            }
            let copied = copied.clone();
            put(root, text("path")?, copied, Place::add)
        }
        "test" => {
            let found = match text("path")? {
                "" => root,
                path => match locate(root, path, 0)?.existing()? {
                    Some(found) => found,
                    None => return value().is_null().then_some(()),
                },
            };
            (*found == *value()).then(|| found.compared())
        }
        _ => None,
    }
}

/// Puts a value at a path, unless the document would get too deep.
fn put<'a>(root: &'a mut Node, path: &str, new: Node, how: fn(Place<'a>, Node) -> Option<()>) -> Option<()> {
    how(locate(root, path, new.height())?, new)
}

/// A place in a document: its parent, and the key or index in there.
enum Place<'a> {
    Field(&'a mut BTreeMap<String, Node>, String),
    Item(&'a mut Items, String),
}

/// `findObject`: the place at a path, for a value of that height. Text before the first slash is ignored.
fn locate<'a>(root: &'a mut Node, path: &str, height: usize) -> Option<Place<'a>> {
    let (_, path) = path.split_once('/')?;
    let (parents, key) = path.rsplit_once('/').map_or((None, path), |(parents, key)| (Some(parents), key));
    let mut height = height + path.matches('/').count() + 1;
    if height > MAX_DEPTH {
        return None;
    }
    let mut holder = root;
    for parent in parents.into_iter().flat_map(|parents| parents.split('/')) {
        holder.raise(height);
        height -= 1;
        holder = match holder.content_mut() {
            Content::Object(fields) => fields.get_mut(&unescape(parent))?,
            Content::Array(items) => {
                let index = index(&unescape(parent), items.len())?;
                items.get_mut(index)?
            }
            Content::Scalar(_) => return None,
        };
    }
    holder.raise(height);
    match holder.content_mut() {
        Content::Object(fields) => Some(Place::Field(fields, unescape(key))),
        Content::Array(items) => Some(Place::Item(items, unescape(key))),
        Content::Scalar(_) => None,
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

impl<'a> Place<'a> {
    /// The value there; null for a missing key of an object.
    fn get(self) -> Option<&'a Node> {
        match self {
            Place::Field(fields, key) => Some(fields.get(&key).unwrap_or(&Node::NULL)),
            Place::Item(items, key) => items.get(index(&key, items.len())?),
        }
    }

    /// The value there; the inner `None` is a missing key of an object.
    fn existing(self) -> Option<Option<&'a mut Node>> {
        match self {
            Place::Field(fields, key) => Some(fields.get_mut(&key)),
            Place::Item(items, key) => {
                let index = index(&key, items.len())?;
                items.get_mut(index).map(Some)
            }
        }
    }

    fn add(self, node: Node) -> Option<()> {
        match self {
            Place::Field(fields, key) => drop(fields.insert(key, node)),
            Place::Item(items, key) if key == "-" => items.insert(items.len(), node),
            Place::Item(items, key) => items.insert(index(&key, items.len() + 1)?, node),
        }
        Some(())
    }

    fn replace(self, node: Node) -> Option<()> {
        match self {
            Place::Field(fields, key) => drop(fields.insert(key, node)),
            Place::Item(items, key) => *items.get_mut(index(&key, items.len())?)? = node,
        }
        Some(())
    }

    fn remove(self) -> Option<Node> {
        match self {
            Place::Field(fields, key) => fields.remove(&key),
            Place::Item(items, key) => items.remove(index(&key, items.len())?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn document() -> Value {
        json!({"data": {"a": "1"}, "list": ["x", "y"]})
    }

    /// The outcomes of the real server (v1.37.1); `null` for 422.
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
            match apply(document(), &patch, true, &Deadline::default()) {
                Ok((patched, findings)) => assert_eq!((patched, findings.len()), (outcome, 0), "{patch}"),
                Err(error) => {
                    assert_eq!((error.code(), outcome), (422, Value::Null), "{patch}");
                    assert_eq!(error.to_string(), "the server rejected our request due to an error in our request");
                }
            }
        }
    }

    /// The messages of the real server (v1.37.1).
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
            let error = apply(document(), &patch, checked, &Deadline::default()).unwrap_err();
            assert_eq!((error.code(), error.to_string().as_str()), (400, message));
        }
        assert_eq!(super::super::parse(b"{} x").unwrap_err().to_string(), "invalid JSON patch");
    }

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, _| json!({"a": inner}))
    }

    /// Whether a patch applies; the result must be decodable.
    fn applies(operations: &[Value]) -> bool {
        match apply(document(), &operations.into(), true, &Deadline::default()) {
            Ok((patched, _)) => {
                // It can be decoded again, and dropped.
                crate::schema::parse_json(patched.to_string().as_bytes()).unwrap();
                true
            }
            Err(error) => {
                assert_eq!(error.code(), 422);
                false
            }
        }
    }

    #[test]
    fn depth_is_bounded() {
        let add = |path: &str, depth| json!({"op": "add", "path": path, "value": nested(depth)});
        let bottom = |depth| "/a".repeat(depth);
        let sink = |op, depth| json!({"op": op, "from": "/data", "path": format!("/x{}", bottom(depth))});
        let table = [
            (vec![add("/x", 119)], true),
            (vec![add("/x", 120)], false),
            (vec![add("/x", 100), add(&format!("/x{}", bottom(99)), 20)], true),
            (vec![add("/x", 100), add(&format!("/x{}", bottom(99)), 21)], false),
            (vec![add("/x", 119), sink("move", 119)], false),
            (vec![add("/x", 119), sink("move", 118)], true),
            (vec![add("/x", 119), sink("copy", 119)], false),
            (vec![add("/x", 119), sink("copy", 118)], true),
            // A moved value counts with the values that were put into it.
            (
                vec![
                    add("/y", 60),
                    add("/x", 60),
                    json!({"op": "move", "from": "/x", "path": format!("/y{}/x", bottom(58))}),
                    json!({"op": "move", "from": "/y", "path": "/list/0"}),
                ],
                false,
            ),
            (vec![json!({"op": "replace", "path": "", "value": nested(120)})], true),
            (vec![json!({"op": "replace", "path": "", "value": nested(121)})], false),
        ];
        for (number, (operations, outcome)) in table.iter().enumerate() {
            assert_eq!(applies(operations), *outcome, "{number}");
        }
    }

    /// The limit of the real server (v1.37.1), to the byte.
    #[test]
    fn copies_are_bounded() {
        let quarter = MAX_COPIED_BYTES / 4;
        let copy = |from: &str| json!({"op": "copy", "from": from, "path": "/copy"});
        let copies = |value: String, more: &[Value]| {
            let add = json!({"op": "add", "path": "/data", "value": value});
            applies(&[&[add][..], &vec![copy("/data"); 4], more].concat())
        };
        let exact = || "z".repeat(quarter - 2);
        assert!(copies(exact(), &[copy("/missing")]));
        assert!(!copies(exact(), &[copy("/list/0")]));
        assert!(!copies("z".repeat(quarter - 1), &[]));
        assert!(!copies("<".repeat(quarter / 6), &[]), "escaped as Go escapes");
        let mut doubling = vec![json!({"op": "add", "path": "/x", "value": {}})];
        doubling.extend((0..28).map(|key| json!({"op": "copy", "from": "/x", "path": format!("/x/{key}")})));
        assert!(!applies(&doubling));
    }

    #[test]
    fn length_is_bounded_and_extra_fields_are_found() {
        let operation = json!({"op": "test", "path": "/data/a", "value": "1"});
        let error = apply(document(), &vec![operation; 10_001].into(), true, &Deadline::default()).unwrap_err();
        assert_eq!(error.code(), 413);
        assert_eq!(
            error.to_string(),
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
        );
        let extra = json!([{"op": "add", "path": "/data/x", "value": "1", "bogus": 1}]);
        let (_, findings) = apply(document(), &extra, true, &Deadline::default()).unwrap();
        assert_eq!(findings, ["json patch unknown field \"[0].bogus\""]);
    }
}
