//! Lists that are sets or maps, in which no item may be repeated.
//!
//! A port of `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go` (v0.37.1).

use super::node::{ListType, Node, Others};
use crate::deadline::Deadline;
use crate::error::{Errors, FieldError, Path};
use crate::schema::encode_any;
use std::collections::HashMap;
use tree::{Map, Value};

/// Findings about the lists in an object (`ValidateListSetsAndMaps`).
pub(super) fn check(node: &Node, at: Path<'_>, object: &Map, errors: &mut Errors, deadline: &Deadline) {
    if let Some(Others::Like(other)) = &node.others {
        for (name, value) in object {
            check_value(other, at.key(name), value, errors, deadline);
        }
    }
    for (name, value) in object {
        if let Some(field) = node.properties.get(name.as_str()) {
            check_value(field, at.child(name), value, errors, deadline);
        }
    }
}

fn check_value(node: &Node, at: Path<'_>, value: &Value, errors: &mut Errors, deadline: &Deadline) {
    if deadline.check().is_err() {
        return;
    }
    match value {
        Value::Array(items) => check_list(node, at, items, errors, deadline),
        Value::Object(object) => check(node, at, object, errors, deadline),
        _ => {}
    }
}

fn check_list(node: &Node, at: Path<'_>, items: &[Value], errors: &mut Errors, deadline: &Deadline) {
    match &node.list_type {
        ListType::Atomic => {}
        ListType::Set => {
            for index in repeated(items.iter().map(Some), deadline) {
                errors.push(FieldError::duplicate(at.index(index), &items[index]));
            }
        }
        ListType::Map(keys) => check_keys(keys, at, items, errors, deadline),
    }
    if let Some(node) = &node.items {
        for (index, item) in items.iter().enumerate() {
            check_value(node, at.index(index), item, errors, deadline);
        }
    }
}

/// `validateListMap`.
fn check_keys(keys: &[String], at: Path<'_>, items: &[Value], errors: &mut Errors, deadline: &Deadline) {
    let odd = items.iter().position(|item| !item.is_null() && !item.is_object());
    if let Some(index) = odd {
        let detail = "must be an object for an array of list-type map";
        return errors.push(FieldError::invalid(at.index(index), &items[index], detail));
    }
    if items.len() < 2 {
        return;
    }
    let key_of = |item: &Value| -> Value {
        let part = |name: &String| Some((name.clone(), item.get(name)?.clone()));
        Value::Object(keys.iter().filter_map(part).collect())
    };
    let repeated: Vec<usize> = match keys {
        // As upstream, a single key is compared as a value, not by its text.
        [key] => repeated(items.iter().map(|item| item.get(key)), deadline),
        _ => {
            let in_time = |_: &&Value| deadline.check().is_ok();
            let keys: Vec<Value> = items.iter().take_while(in_time).map(key_of).collect();
            repeated(keys.iter().map(Some), deadline)
        }
    };
    for index in repeated {
        errors.push(FieldError::duplicate(at.index(index), &key_of(&items[index])));
    }
}

/// The indices at which a value occurs for the second time; a missing value counts as one, too (`validateListSet`). Objects
/// and lists are compared by their JSON, which does not distinguish integers from other numbers.
fn repeated<'v>(values: impl ExactSizeIterator<Item = Option<&'v Value>>, deadline: &Deadline) -> Vec<usize> {
    let mut repeated = Vec::new();
    if values.len() < 2 {
        return repeated;
    }
    let mut seen: HashMap<(u8, String), usize> = HashMap::with_capacity(values.len());
    for (index, value) in values.enumerate().take_while(|_| deadline.check().is_ok()) {
        let kind = match value {
            None => 0,
            Some(Value::Number(number)) if number.is_i64() => 1,
            Some(Value::Number(_)) => 2,
            Some(_) => 3,
        };
        let text = match value {
            Some(Value::Number(number)) if kind == 2 => (number.as_f64().unwrap_or_default() + 0.0).to_string(),
            value => value.map(encode_any).unwrap_or_default(),
        };
        let times = seen.entry((kind, text)).or_default();
        *times += 1;
        if *times == 2 {
            repeated.push(index);
        }
    }
    repeated
}
