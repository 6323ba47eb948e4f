//! Patches, compared with plain implementations without limits. An input is a document, a line feed, and a patch.

use crate::documents::typed;
use fake_apiserver::fuzzing;
use tree::{Map, Value};

/// The number of brackets and slashes above which a limit of depth may be exceeded.
const SHALLOW: usize = 50;

fn split(input: &[u8]) -> Option<(Value, Value, &[u8])> {
    let at = input.iter().position(|byte| *byte == b'\n')?;
    let (document, patch) = (&input[..at], &input[at + 1..]);
    Some((fuzzing::parse_patch(document).ok()?, fuzzing::parse_patch(patch).ok()?, patch))
}

fn is_shallow(input: &[u8]) -> bool {
    input.iter().filter(|byte| matches!(byte, b'{' | b'[' | b'/')).count() < SHALLOW
}

/// A patch that applies gives the same document as the plain implementation, and one that can be decoded.
pub(crate) fn json_patch(input: &[u8]) {
    let Some((document, patch, _)) = split(input) else { return };
    for checked in [true, false] {
        let result = fuzzing::json_patch(document.clone(), &patch, checked);
        if let Ok(patched) = &result {
            let written = patched.to_string();
            assert_eq!(fuzzing::parse_patch(written.as_bytes()).expect("a patched document can be read"), *patched);
        }
        let operations = match &patch {
            Value::Array(operations) if checked => {
                // Operations of the wrong type are refused before any is applied.
                if result.as_ref().is_err_and(|error| error.code() == 400) {
                    continue;
                }
                operations.as_slice()
            }
            Value::Array(operations) if operations.iter().all(|one| one.is_object() || one.is_null()) => operations,
            _ => continue,
        };
        let expected = operations.iter().try_fold(document.clone(), plain_step);
        match (&result, &expected) {
            (Ok(patched), Some(expected)) => assert_eq!(patched, expected, "{patch} on {document}"),
            (Ok(patched), None) => panic!("{patch} on {document} gave {patched}"),
            (Err(error), Some(expected)) if is_shallow(input) => {
                panic!("{patch} on {document} gave {error}, not {expected}")
            }
            (Err(error), _) => assert_eq!(error.code(), 422, "{error}"),
        }
    }
}

/// The document after one operation, as by `evanphx/json-patch.v4`; `None` if it does not apply.
fn plain_step(mut root: Value, operation: &Value) -> Option<Value> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let value = || operation.get("value").cloned().unwrap_or_default();
    match (text("op")?, text("path")?) {
        ("add", path) => add(&mut root, path, value())?,
        ("remove", path) => drop(remove(&mut root, path)?),
        ("replace", "") => {
            root = value();
            return (root.is_object() || root.is_array()).then_some(root);
        }
        ("replace", path) => {
            let (holder, key) = holder(&mut root, path)?;
            match holder {
                Value::Object(fields) => drop(fields.insert(key.into(), value())),
                Value::Array(items) => {
                    let index = index(&key, items.len())?;
                    items[index] = value();
                }
                _ => return None,
            }
        }
        ("move", path) => {
            let moved = remove(&mut root, text("from")?)?;
            add(&mut root, path, moved)?;
        }
        ("copy", path) => {
            let copied = get(&mut root, text("from")?)?;
            add(&mut root, path, copied)?;
        }
        ("test", "") => return (root == value()).then_some(root),
        ("test", path) => return (get(&mut root, path)? == value()).then_some(root),
        _ => return None,
    }
    Some(root)
}

fn get(root: &mut Value, path: &str) -> Option<Value> {
    let (holder, key) = holder(root, path)?;
    match holder {
        Value::Object(fields) => Some(fields.get(&key).cloned().unwrap_or_default()),
        Value::Array(items) => items.get(index(&key, items.len())?).cloned(),
        _ => None,
    }
}

fn add(root: &mut Value, path: &str, value: Value) -> Option<()> {
    let (holder, key) = holder(root, path)?;
    match holder {
        Value::Object(fields) => drop(fields.insert(key.into(), value)),
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => items.insert(index(&key, items.len() + 1)?, value),
        _ => return None,
    }
    Some(())
}

fn remove(root: &mut Value, path: &str) -> Option<Value> {
    let (holder, key) = holder(root, path)?;
    match holder {
        Value::Object(fields) => fields.remove(&key),
        Value::Array(items) => Some(items.remove(index(&key, items.len())?)),
        _ => None,
    }
}

/// The parent of the value at a path, and its key in there.
fn holder<'v>(root: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let mut keys: Vec<String> = path.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
    let last = keys.pop()?;
    let mut holder = root;
    for key in keys {
        holder = match holder {
            Value::Object(fields) => fields.get_mut(&key)?,
            Value::Array(items) => {
                let index = index(&key, items.len())?;
                &mut items[index]
            }
            _ => return None,
        };
    }
    Some((holder, last))
}

fn index(key: &str, length: usize) -> Option<usize> {
    let index: i64 = key.parse().ok()?;
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index.checked_add(length)? } else { index };
    (0..length).contains(&index).then_some(index as usize)
}

/// A merge is that of RFC 7386, except for nulls in lists, and is idempotent.
pub(crate) fn merge_patch(input: &[u8]) {
    let Some((document, patch, text)) = split(input) else { return };
    for checked in [true, false] {
        let Ok(merged) = fuzzing::merge_patch(document.clone(), patch.clone(), checked) else { continue };
        if !text.contains(&b'[') {
            assert_eq!(merged, plain_merge(document.clone(), &patch), "{patch} on {document}");
            let again = fuzzing::merge_patch(merged.clone(), patch.clone(), checked);
            assert_eq!(again.ok(), Some(merged), "{patch} on {document}, twice");
        }
    }
}

/// A patch without directives that applies is one that can be read, and an empty one changes nothing.
pub(crate) fn strategic_patch(input: &[u8]) {
    let Some((_, _, ty, input)) = typed(input) else { return };
    let Some((document, patch, text)) = split(input) else { return };
    let apply = |document: &Value, patch: &Value| fuzzing::strategic_patch(document.clone(), patch.clone(), ty).ok();
    assert_eq!(apply(&document, &Value::Object(Map::new())).as_ref(), Some(&document));
    let Some(patched) = apply(&document, &patch) else { return };
    let written = patched.to_string();
    assert_eq!(fuzzing::parse_patch(written.as_bytes()).expect("a patched document can be read"), patched);
    // Items merged by key are found by the same keys again.
    if document.is_object() && !text.contains(&b'$') {
        assert!(apply(&patched, &patch).is_some(), "{patch} on {document}, twice");
    }
}

/// `MergePatch` of RFC 7386.
fn plain_merge(target: Value, patch: &Value) -> Value {
    let Value::Object(changes) = patch else { return patch.clone() };
    let mut fields = match target {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (key, change) in changes {
        let before = fields.remove(key).unwrap_or_default();
        if !change.is_null() {
            fields.insert(key.clone(), plain_merge(before, change));
        }
    }
    Value::Object(fields)
}
