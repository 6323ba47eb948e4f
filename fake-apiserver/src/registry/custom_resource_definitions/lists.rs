//! The rules for lists and maps in schemas: which are replaced as a whole, and which are merged by keys.
//!
//! Follows `ValidateCustomResourceDefinitionOpenAPISchema`, `hasNonAtomicSetType` and `validateMapListKeysMapSet` of
//! `pkg/apis/apiextensions/validation/validation.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::leniency::Leniency;
use super::printed::quoted;
use super::visit::{is_set, schema_in, word};
use super::{items, printed};
use crate::error::{Errors, FieldError, Path};
use std::collections::HashSet;
use tree::Value;

const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";

/// Rules for the map type.
pub(super) fn map_type(at: Path<'_>, schema: &Value, errors: &mut Errors) {
    let Some(map_type) = schema.get(MAP_TYPE).and_then(Value::as_str) else { return };
    type_must_be(at, schema, "object", MAP_TYPE, errors);
    errors.supported(at.child(MAP_TYPE), map_type, &["atomic", "granular"]);
}

fn type_must_be(at: Path<'_>, schema: &Value, type_: &str, extension: &str, errors: &mut Errors) {
    let detail = format!("must be {type_} if {extension} is specified");
    match word(schema, "type") {
        "" => errors.required(at.child("type"), &detail),
        other if other != type_ => errors.invalid(at.child("type"), other, detail),
        _ => {}
    }
}

/// The field by which the items of a set are not atomic; `None` if they are.
fn parts(item: &Value) -> Option<&'static str> {
    match word(item, "type") {
        // Lists are atomic and maps granular by default.
        "array" if item.get(LIST_TYPE).is_some_and(|list_type| list_type != "atomic") => Some(LIST_TYPE),
        "object" if word(item, MAP_TYPE) != "atomic" => Some(MAP_TYPE),
        _ => None,
    }
}

/// Whether it is a set with items that are not atomic.
pub(super) fn is_set_of_parts(schema: &Value) -> bool {
    word(schema, LIST_TYPE) == "set" && schema_in(schema, "items").and_then(parts).is_some()
}

/// Rules for the list type and the keys of lists.
pub(super) fn list_type(at: Path<'_>, schema: &Value, leniency: &Leniency, errors: &mut Errors) {
    let list_type = schema.get(LIST_TYPE).and_then(Value::as_str);
    if let Some(list_type) = list_type {
        if word(schema, "type") != "array" {
            type_must_be(at, schema, "array", LIST_TYPE, errors);
        } else if leniency.atomic_sets
            && list_type == "set"
            && let Some(item) = schema_in(schema, "items")
            && let Some(field) = parts(item)
        {
            // The list type is shown for maps, too.
            let printed = quoted(&item.get(LIST_TYPE).cloned().unwrap_or_default());
            let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
            errors.push(FieldError::invalid_printed(at.child("items").child(field), printed, detail));
        }
        errors.supported(at.child(LIST_TYPE), list_type, &["atomic", "set", "map"]);
    }
    if schema.get(KEYS).is_some() {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list_type {
            None => errors.required(at.child(LIST_TYPE), detail),
            Some(other) if other != "map" => errors.invalid(at.child(LIST_TYPE), other, detail),
            Some(_) => {}
        }
    }
    if list_type == Some("map") {
        map(at, schema, errors);
    }
}

/// Rules for lists that are merged by keys.
fn map(at: Path<'_>, schema: &Value, errors: &mut Errors) {
    if schema.get(KEYS).is_none() {
        errors.required(at.child(KEYS), "must not be empty if x-kubernetes-list-type is map");
    }
    let here = at.child("items");
    let item = match schema.get("items") {
        None => return errors.required(here, "must have a schema if x-kubernetes-list-type is map"),
        Some(items) if items.is_array() => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            return errors.push(FieldError::invalid_printed(here, printed::items(items), detail));
        }
        Some(item) => item,
    };
    let type_ = word(item, "type");
    if type_ != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        return errors.invalid(here.child("type"), type_, detail);
    }
    let all = schema.get(KEYS).cloned().unwrap_or_default();
    let mut seen = HashSet::new();
    for key in items(schema, &format!("/{KEYS}")).iter().filter_map(Value::as_str) {
        match item.get("properties").and_then(|properties| properties.get(key)) {
            Some(property) if matches!(word(property, "type"), "array" | "object") => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.invalid(here.child("properties").key(key).child("type"), type_, detail);
            }
            Some(_) => {}
            None => errors.invalid(at.child(KEYS), all.clone(), "entries must all be names of item properties"),
        }
        if !seen.insert(key) {
            errors.invalid(at.child(KEYS), all.clone(), "must not contain duplicate entries");
        }
    }
}

/// `validateMapListKeysMapSet`: items of sets and maps are not null; keys are not null, and required or with a default.
pub(super) fn keys(at: Path<'_>, schema: &Value) -> Vec<FieldError> {
    let list_type = word(schema, LIST_TYPE);
    let Some(item) = schema_in(schema, "items").filter(|_| matches!(list_type, "set" | "map")) else {
        return Vec::new();
    };
    Errors::of(|errors| {
        let here = at.child("items");
        if is_set(item, "nullable") {
            let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
            errors.forbidden(here.child("nullable"), detail);
        }
        let keys = if list_type == "map" { items(schema, &format!("/{KEYS}")) } else { &[] };
        for key in keys.iter().filter_map(Value::as_str) {
            let Some(property) = item.get("properties").and_then(|properties| properties.get(key)) else { continue };
            let at = here.child("properties");
            let at = at.key(key);
            let is_required = items(item, "/required").iter().any(|required| required == key);
            if !is_required && property.get("default").is_none() {
                let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
                errors.required(at.child("default"), detail);
            }
            if is_set(property, "nullable") {
                let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                errors.forbidden(at.child("nullable"), detail);
            }
        }
    })
}
