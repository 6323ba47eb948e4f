//! JSON Patch. A port of `patch.go` of `gopkg.in/evanphx/json-patch.v4` (v4.13.0) with its leniencies: negative indexes
//! count from the end, `replace` of a missing key adds it, `copy` of one copies null, and a missing value is null.
//!
//! The cost of a patch is linear in its length: copies are limited as upstream, the depth of the document by that of decoded
//! ones, and only copied or compared values are walked through.

#[cfg(test)]
mod tests;

use super::echo;
use super::tree::{Content, Items, Node};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::schema::{MAX_DEPTH, TypeRef, json_type, parse_list_of};
use std::collections::BTreeMap;
use tree::Value;

/// The media type of JSON patches.
pub const MEDIA_TYPE: &str = "application/json-patch+json";

/// `maxJSONPatchOperations`.
const MAX_OPERATIONS: usize = 10_000;
/// The limit of all `copy` operations of a patch together, in bytes of JSON (`JSONPatchMaxCopyBytes`).
const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// The fields of `jsonPatchOp`.
const FIELDS: &[&str] = &["op", "path", "from", "value"];

/// Parses a patch, and reports duplicate and unknown fields.
///
/// # Errors
/// 400, if it is not JSON.
pub fn parse(body: &[u8]) -> ApiResult<(Value, Vec<String>)> {
    let decoded = parse_list_of(FIELDS, body).map_err(|_| super::not_json())?;
    let findings = decoded.findings.iter().map(|finding| format!("json patch {finding}")).collect();
    Ok((decoded.object, findings))
}

/// Applies a patch to a document. Unless `checked` is false (`fieldValidation=Ignore`), operations are checked against their type.
///
/// # Errors
/// 400, if the patch is malformed; 413, if it is too long; 422, if it does not apply, copies too much or nests too deep;
/// 504, if the deadline has passed.
pub fn apply(document: Value, patch: &Value, checked: bool, deadline: &Deadline) -> ApiResult<Value> {
    applied(document, patch, checked, deadline).map(Value::from)
}

/// The text of a patched object of the type in a message.
///
/// # Errors
/// The errors of [`apply`], unchecked.
pub fn echo(document: Value, patch: &Value, ty: TypeRef<'_>, deadline: &Deadline) -> ApiResult<String> {
    let root = applied(document, patch, false, deadline)?;
    let read = root.read().unwrap_or_default();
    Ok(echo::echo(&root.into(), ty, &read))
}

/// Applies a patch that another server made ([`decode`]).
///
/// # Errors
/// The library's text, if it does not apply, copies too much or nests too deep, or if the deadline has passed.
pub fn apply_explained(document: Value, operations: &[Value], deadline: &Deadline) -> Result<Value, String> {
    let mut root = Node::from(document);
    let mut copied_bytes = 0;
    for operation in operations {
        deadline.check().map_err(|late| late.to_string())?;
        step(&mut root, &mut copied_bytes, operation)?;
    }
    Ok(root.into())
}

/// The operations of a patch.
///
/// # Errors
/// The library's text, if it is not a list of objects.
pub fn decode(patch: &Value) -> Result<&[Value], String> {
    let operations = match patch {
        Value::Array(operations) => operations.as_slice(),
        Value::Null => &[],
        other => return Err(unmarshalled(other, "Go value of type jsonpatch.Patch")),
    };
    match operations.iter().find(|operation| !operation.is_object() && !operation.is_null()) {
        Some(operation) => Err(unmarshalled(operation, "Go value of type jsonpatch.Operation")),
        None => Ok(operations),
    }
}

fn applied(document: Value, patch: &Value, checked: bool, deadline: &Deadline) -> ApiResult<Node> {
    if checked {
        check(patch)?;
    }
    let operations = decode(patch).map_err(ApiError::bad_request)?;
    check_length(operations.len())?;
    let mut root = Node::from(document);
    let mut copied_bytes = 0;
    for operation in operations {
        deadline.check()?;
        // The real server does not give the reason.
        step(&mut root, &mut copied_bytes, operation).map_err(|_| ApiError::unprocessable())?;
    }
    Ok(root)
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

fn unmarshalled(value: &Value, into: &str) -> String {
    format!("json: cannot unmarshal {} into {into}", json_type(value))
}

fn cannot_decode(value: &Value, into: &str) -> ApiError {
    ApiError::bad_request(format!("error decoding patch: {}", unmarshalled(value, into)))
}

/// Checks operations against the fields of `jsonPatchOp`.
fn check(patch: &Value) -> ApiResult<()> {
    let operations = match patch {
        Value::Array(operations) => operations.as_slice(),
        Value::Null => &[],
        other => return Err(cannot_decode(other, "Go value of type []handlers.jsonPatchOp")),
    };
    for operation in operations {
        let fields = match operation {
            Value::Object(fields) => fields,
            Value::Null => continue,
            other => return Err(cannot_decode(other, "Go value of type handlers.jsonPatchOp")),
        };
        let is_text = |value: &Value| matches!(value, Value::String(_) | Value::Null);
        let mut texts = fields.iter().filter(|(name, _)| matches!(name.as_str(), "op" | "path" | "from"));
        if let Some((name, other)) = texts.find(|(_, value)| !is_text(value)) {
            return Err(cannot_decode(other, &format!("Go struct field jsonPatchOp.{name} of type string")));
        }
    }
    Ok(())
}

/// Applies one operation.
///
/// # Errors
/// The library's text, if it does not apply.
fn step(root: &mut Node, copied_bytes: &mut usize, operation: &Value) -> Result<(), String> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let kind = text("op").unwrap_or("unknown");
    let path = || text("path").ok_or_else(|| undecodable(kind, "path"));
    let from = || text("from").ok_or_else(|| undecodable(kind, "from"));
    let value = || operation.get("value").unwrap_or(&Value::Null);
    let new = || Node::from(value().clone()).all_read();
    match kind {
        "add" => {
            let (path, new) = (path()?, new());
            let place = locate(root, path, new.height()).ok_or_else(|| missing(kind, "path", &quote(path)))?;
            place.add(new).map_err(|why| format!("error in add for path: '{path}': {why}"))
        }
        "remove" => {
            let path = path()?;
            let place = locate(root, path, 0).ok_or_else(|| missing(kind, "path", &quote(path)))?;
            place.remove().map(drop).map_err(|why| format!("error in remove for path: '{path}': {why}"))
        }
        "replace" => match path()? {
            "" => {
                let fits = |node: &Node| (1..=MAX_DEPTH).contains(&node.height());
                // The library shows an error that is none.
                *root =
                    Some(new()).filter(fits).ok_or("replace operation value must be object or array: %!w(<nil>)")?;
                Ok(())
            }
            path => {
                let new = new();
                let place = locate(root, path, new.height()).ok_or_else(|| missing(kind, "path", path))?;
                place.replace(new).ok_or_else(|| missing(kind, "key", path))
            }
        },
        "move" => {
            let from = from()?;
            let place = locate(root, from, 0).ok_or_else(|| missing(kind, "from path", from))?;
            let key = place.key().to_owned();
            let moved = place.remove().map_err(|why| format!("error in move for path: '{key}': {why}"))?;
            let path = path()?;
            let place = locate(root, path, moved.height()).ok_or_else(|| missing(kind, "destination path", path))?;
            place.add(moved).map_err(|why| format!("error in move for path: '{path}': {why}"))
        }
        "copy" => {
            let from = from()?;
            let place = locate(root, from, 0).ok_or_else(|| missing(kind, "from path", from))?;
            let copied = place.get().map_err(|why| format!("error in copy for from: '{from}': {why}"))?;
            *copied_bytes += copied.json_bytes();
            if *copied_bytes > MAX_COPIED_BYTES {
                return Err(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is {copied_bytes}, exceeding \
                     the limit {MAX_COPIED_BYTES}"
                ));
            }
            let (copied, path) = (copied.clone(), path()?);
            let place = locate(root, path, copied.height()).ok_or_else(|| missing(kind, "destination path", path))?;
            place.add(copied).map_err(|why| format!("error while adding value during copy: {why}"))
        }
        "test" => {
            let path = path()?;
            let failed = || format!("testing value {path} failed: test failed");
            let found = match path {
                "" => root,
                path => {
                    let place = locate(root, path, 0);
                    let place = place
                        .ok_or_else(|| format!("test operation does not apply: is missing path: {path}: {MISSING}"))?;
                    match place.existing().map_err(|why| format!("error in test for path: '{path}': {why}"))? {
                        Some(found) => found,
                        None => return if value().is_null() { Ok(()) } else { Err(failed()) },
                    }
                }
            };
            if *found != *value() {
                return Err(failed());
            }
            found.compared();
            Ok(())
        }
        other => Err(format!("Unexpected kind: {other}")),
    }
}

/// `ErrMissing`.
const MISSING: &str = "missing value";

/// The error of an operation without a field that it needs. Some do not show the first error, which says the same.
fn undecodable(kind: &str, field: &str) -> String {
    match (kind, field) {
        ("add" | "remove" | "copy", "path") => format!("{kind} operation failed to decode path: {MISSING}"),
        (_, "path") => format!("{kind} operation failed to decode path: operation missing path field: {MISSING}"),
        _ => format!("{kind} operation failed to decode from: operation, missing from field: {MISSING}"),
    }
}

fn missing(kind: &str, what: &str, path: &str) -> String {
    format!("{kind} operation does not apply: doc is missing {what}: {path}: {MISSING}")
}

fn quote(path: &str) -> String {
    format!("\"{path}\"")
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
    find_index(key, length).ok()
}

/// The same.
///
/// # Errors
/// The library's text.
fn find_index(key: &str, length: usize) -> Result<usize, String> {
    let index: isize = key.parse().map_err(|_| format!("strconv.Atoi: parsing {key:?}: invalid syntax"))?;
    let found = if index < 0 { length.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()) };
    let invalid = || format!("Unable to access invalid index: {index}: invalid index referenced");
    found.filter(|found| *found < length).ok_or_else(invalid)
}

impl<'a> Place<'a> {
    fn key(&self) -> &str {
        match self {
            Place::Field(_, key) | Place::Item(_, key) => key,
        }
    }

    /// The value there; null for a missing key of an object.
    fn get(self) -> Result<&'a Node, String> {
        match self {
            Place::Field(fields, key) => Ok(fields.get(&key).unwrap_or(&Node::NULL)),
            Place::Item(items, key) => {
                let index = find_index(&key, items.len())?;
                Ok(items.get(index).unwrap_or(&Node::NULL))
            }
        }
    }

    /// The value there; `None` is a missing key of an object.
    fn existing(self) -> Result<Option<&'a mut Node>, String> {
        match self {
            Place::Field(fields, key) => Ok(fields.get_mut(&key)),
            Place::Item(items, key) => {
                let index = find_index(&key, items.len())?;
                Ok(items.get_mut(index))
            }
        }
    }

    fn add(self, node: Node) -> Result<(), String> {
        match self {
            Place::Field(fields, key) => drop(fields.insert(key, node)),
            Place::Item(items, key) if key == "-" => items.insert(items.len(), node),
            Place::Item(items, key) => {
                let index = find_index(&key, items.len() + 1).map_err(|why| match why.starts_with("strconv") {
                    true => format!("value was not a proper array index: '{key}': {why}"),
                    false => why,
                })?;
                items.insert(index, node);
            }
        }
        Ok(())
    }

    /// Replaces the value there; `None`, if a list has no such item.
    fn replace(self, node: Node) -> Option<()> {
        match self {
            Place::Field(fields, key) => drop(fields.insert(key, node)),
            Place::Item(items, key) => *items.get_mut(index(&key, items.len())?)? = node,
        }
        Some(())
    }

    fn remove(self) -> Result<Node, String> {
        match self {
            Place::Field(fields, key) => {
                fields.remove(&key).ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}"))
            }
            Place::Item(items, key) => {
                let index = find_index(&key, items.len())?;
                items.remove(index).ok_or_else(|| MISSING.to_owned())
            }
        }
    }
}
