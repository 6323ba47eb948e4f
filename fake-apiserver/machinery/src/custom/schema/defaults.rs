//! Defaults, and nulls that are not allowed: `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting` (v0.37.1).

use super::embedded::{self, Mode};
use super::node::{Child, Node, Others};
use super::prune;
use crate::deadline::Deadline;
use crate::error::Path;
use tree::{Map, Text, Value};

/// Removes fields that are null, not nullable, and without a default (`PruneNonNullableNullsWithoutDefaults`).
pub(super) fn prune_nulls(node: &Node, value: &mut Value, deadline: &Deadline) {
    if deadline.check().is_err() {
        return;
    }
    match value {
        Value::Object(object) => object.retain(|name, value| match node.field(name) {
            Some(field) if value.is_null() => field.nullable || field.default.is_some(),
            Some(field) => {
                prune_nulls(field, value, deadline);
                true
            }
            None => true,
        }),
        Value::Array(items) => {
            if let Some(node) = &node.items {
                items.iter_mut().for_each(|item| prune_nulls(node, item, deadline));
            }
        }
        _ => {}
    }
}

/// Sets fields that are missing, or null and not nullable, to their defaults (`Default`).
pub(super) fn set(node: &Node, value: &mut Value, deadline: &Deadline) {
    if !node.has_defaults || deadline.check().is_err() {
        return;
    }
    match value {
        Value::Object(object) => {
            let missing = node.properties.iter().filter_map(|(name, field)| {
                let default = field.default.as_ref()?;
                let is_missing = object.get(name).is_none_or(|value| value.is_null() && !field.nullable);
                is_missing.then(|| (Text::from(name.as_str()), default.clone()))
            });
            let missing: Vec<_> = missing.collect();
            object.extend(missing);
            for (name, field) in node.properties.iter().filter(|(_, field)| field.has_defaults) {
                if let Some(value) = object.get_mut(name) {
                    set(field, value, deadline);
                }
            }
            if let Some(Others::Like(other)) = &node.others {
                let others = object.iter_mut().filter(|(name, _)| !node.properties.contains_key(name.as_str()));
                others.for_each(|(_, value)| set_over_null(other, value, deadline));
            }
        }
        Value::Array(items) => {
            if let Some(node) = &node.items {
                items.iter_mut().for_each(|item| set_over_null(node, item, deadline));
            }
        }
        _ => {}
    }
}

fn set_over_null(node: &Node, value: &mut Value, deadline: &Deadline) {
    if value.is_null() && !node.nullable {
        *value = node.default.clone().unwrap_or_default();
    }
    set(node, value, deadline);
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
pub(super) fn prune_own(root: &mut Node, deadline: &Deadline) -> Result<(), String> {
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
        embedded::coerce(root, Path::ROOT, &mut object, true, Mode::DropMalformed, deadline)
            .map_err(|error| format!("failed to prune default value: {error}"))?;
        prune::prune(root, &mut object, true, deadline);
        pruned.push(within(&place, object));
    }
    put_back(root, &mut pruned.into_iter());
    note(root);
    Ok(())
}

/// Notes which schemas have defaults of parts of their values.
fn note(node: &mut Node) {
    node.has_defaults = node.children_mut().fold(false, |has, (_, part)| {
        note(part);
        has || part.has_defaults || part.default.is_some()
    });
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
    use super::*;
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

    /// So many that they are not inserted one by one.
    #[test]
    fn many_defaults_are_set_at_once() {
        let with_default = |number: i64| (format!("f{number}"), json!({"type": "integer", "default": number}));
        let properties: Value = Value::Object((0..200).map(with_default).collect());
        let schema = Structural::new(&json!({"type": "object", "properties": properties})).unwrap();
        let mut object = json!({"f7": 70, "f9": null, "z": 1});
        schema.set_defaults(&mut object, &Deadline::default());
        assert_eq!(object.as_object().map(Map::len), Some(201));
        assert_eq!((&object["f7"], &object["f9"], &object["f199"]), (&json!(70), &json!(9), &json!(199)));
    }

    #[test]
    fn nothing_is_set_when_the_time_is_up() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "default": "b"}}});
        let (schema, deadline, mut object) = (Structural::new(&schema).unwrap(), Deadline::passed(), json!({}));
        schema.set_defaults(&mut object, &deadline);
        assert_eq!(object, json!({}));
    }
}
