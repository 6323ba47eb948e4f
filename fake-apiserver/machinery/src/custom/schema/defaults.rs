//! Defaults, and nulls that are not allowed: `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting` (v0.37.1).

use super::embedded::{self, Mode};
use super::node::{Child, Node, Others};
use super::prune;
use crate::error::Path;
use tree::{Map, Value};

/// Removes fields that are null, not nullable, and without a default (`PruneNonNullableNullsWithoutDefaults`).
pub(super) fn prune_nulls(node: &Node, value: &mut Value) {
    match value {
        Value::Object(object) => object.retain(|name, value| match node.field(name) {
            Some(field) if value.is_null() => field.nullable || field.default.is_some(),
            Some(field) => {
                prune_nulls(field, value);
                true
            }
            None => true,
        }),
        Value::Array(items) => {
            if let Some(node) = &node.items {
                items.iter_mut().for_each(|item| prune_nulls(node, item));
            }
        }
        _ => {}
    }
}

/// Sets fields that are missing, or null and not nullable, to their defaults (`Default`).
pub(super) fn set(node: &Node, value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (name, field) in &node.properties {
                if let Some(default) = &field.default
                    && object.get(name).is_none_or(|value| value.is_null() && !field.nullable)
                {
                    object.insert(name.as_str().into(), default.clone());
                }
            }
            for (name, value) in object.iter_mut() {
                match (node.properties.get(name.as_str()), &node.others) {
                    (Some(field), _) => set(field, value),
                    (None, Some(Others::Like(field))) => set_over_null(field, value),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(node) = &node.items {
                items.iter_mut().for_each(|item| set_over_null(node, item));
            }
        }
        _ => {}
    }
}

fn set_over_null(node: &Node, value: &mut Value) {
    if value.is_null() && !node.nullable {
        *value = node.default.clone().unwrap_or_default();
    }
    set(node, value);
}

/// Whether defaults are set once and for all: none has a null, which would be pruned the next time, and the status, which the creation of an
/// object removes afterwards, has none.
pub(super) fn are_final(root: &mut Node) -> bool {
    let mut found = Vec::new();
    collect(root, &mut Vec::new(), &mut found);
    let status = root.properties.get("status").and_then(|status| status.default.as_ref());
    status.is_none() && !found.iter().any(|(_, default)| has_null(default))
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

/// Prunes the defaults of a schema as the values that they are in an object (`PruneDefaults`).
pub(super) fn prune_own(root: &mut Node) -> Result<(), String> {
    let mut found = Vec::new();
    collect(root, &mut Vec::new(), &mut found);
    if found.is_empty() {
        return Ok(());
    }
    let mut pruned = Vec::new();
    for (place, default) in found {
        let mut object = around(&place, default);
        if !object.is_object() {
            return Err("failed to prune default value: object root default value must be of object type".into());
        }
        embedded::coerce(root, Path::ROOT, &mut object, true, Mode::DropMalformed)
            .map_err(|error| format!("failed to prune default value: {error}"))?;
        prune::prune(root, &mut object, true);
        pruned.push(within(&place, object));
    }
    put_back(root, &mut pruned.into_iter());
    Ok(())
}

/// Collects the defaults with their places, in the order of the walk.
fn collect(node: &mut Node, place: &mut Vec<Child>, found: &mut Vec<(Vec<Child>, Value)>) {
    if let Some(default) = &node.default {
        found.push((place.clone(), default.clone()));
    }
    for (child, node) in node.children_mut() {
        place.push(child);
        collect(node, place, found);
        place.pop();
    }
}

fn put_back(node: &mut Node, pruned: &mut impl Iterator<Item = Option<Value>>) {
    if node.default.is_some() {
        node.default = pruned.next().flatten();
    }
    for (_, node) in node.children_mut() {
        put_back(node, pruned);
    }
}

/// An object that has only the value, in its place (`SurroundingObjectFunc`).
pub(super) fn around(place: &[Child], value: Value) -> Value {
    place.iter().rev().fold(value, |value, child| match child {
        Child::Item => Value::Array(vec![value]),
        child => Value::Object(Map::from_iter([(name_of(child).to_owned(), value)])),
    })
}

/// The value at its place in an object; `None` if it was removed.
fn within(place: &[Child], object: Value) -> Option<Value> {
    place.iter().try_fold(object, |mut value, child| match child {
        Child::Item => value.as_array_mut()?.pop(),
        child => value.as_object_mut()?.remove(name_of(child)),
    })
}

fn name_of(child: &Child) -> &str {
    match child {
        Child::Property(name) => name,
        _ => "*",
    }
}

#[cfg(test)]
mod tests {
    use crate::custom::schema::Structural;
    use tree::json;

    #[test]
    fn defaults_are_final_without_nulls_and_without_a_status() {
        let any = |default| json!({"x-kubernetes-preserve-unknown-fields": true, "default": default});
        for (properties, is_final) in [
            (json!({"spec": {"type": "object", "properties": {"a": any(json!({"b": 1}))}}}), true),
            (json!({"spec": {"type": "object", "properties": {"a": any(json!({"b": [null]}))}}}), false),
            (json!({"status": {"type": "object", "default": {}}}), false),
            (json!({"status": {"type": "object", "properties": {"a": {"type": "string", "default": "b"}}}}), true),
        ] {
            let schema = json!({"type": "object", "properties": properties});
            assert_eq!(Structural::new(&schema).unwrap().completes_once, is_final, "{schema}");
        }
    }
}
