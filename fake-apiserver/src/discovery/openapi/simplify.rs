//! Changes of schemas before they are published.
//!
//! Follows `pkg/apiserver/schema/unfold.go`, `pkg/controller/openapi/v2/conversion.go` and `pkg/controller/openapi/builder/builder.go` of
//! k8s.io/apiextensions-apiserver (v0.37.1).

use super::schema::{self, EMBEDDED, STANDARD};
use super::template::Form;
use crate::deadline::Deadline;
use crate::registry::flag;
use tree::{Map, Text, Value, json};

/// The extension of a schema that leaves unknown fields where they are.
pub(super) const PRESERVES_UNKNOWN: &str = "x-kubernetes-preserve-unknown-fields";

/// Calls a function for a schema, then for the schemas of parts of its values; those in `allOf`, `anyOf` and the like are left out.
fn visit(schema: &mut Value, deadline: &Deadline, change: &mut impl FnMut(&mut Map)) {
    let Some(members) = schema.as_object_mut().filter(|_| deadline.check().is_ok()) else { return };
    change(members);
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = members.get_mut(name) {
            visit(inner, deadline, change);
        }
    }
    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(|inner| visit(inner, deadline, change));
}

fn is(members: &Map, name: &str) -> bool {
    members.get(name) == Some(&Value::Bool(true))
}

/// Spells out `x-kubernetes-int-or-string` as `anyOf`, where the schema does not (`Unfold`).
pub(super) fn unfold(schema: &mut Value, deadline: &Deadline) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    visit(schema, deadline, &mut |members| {
        let says = members.get("anyOf") == Some(&either)
            || members.get("allOf").is_some_and(|all| all[0].get("anyOf") == Some(&either));
        if !is(members, "x-kubernetes-int-or-string") || says {
            return;
        }
        match members.get("anyOf").and_then(Value::as_array) {
            Some(any) if !any.is_empty() => {
                let all = members.entry("allOf").or_insert_with(|| json!([]));
                if let Some(all) = all.as_array_mut() {
                    all.insert(0, json!({ "anyOf": either }));
                }
            }
            _ => drop(members.insert("anyOf".into(), either.clone())),
        }
    });
}

/// Removes members that version 2 cannot express, and those that its clients misread (`ToStructuralOpenAPIV2`, `PruneDefaults`).
pub(super) fn to_v2(schema: &mut Value, deadline: &Deadline) {
    visit(schema, deadline, &mut |members| {
        for name in ["allOf", "oneOf", "anyOf", "not", "default"] {
            members.remove(name);
        }
        let nullable = members.remove("nullable") == Some(Value::Bool(true));
        let preserves = is(members, PRESERVES_UNKNOWN);
        if nullable || preserves {
            members.remove("items");
            members.remove("properties");
        }
        let type_ = members.get("type").and_then(Value::as_str).unwrap_or_default();
        if nullable || (preserves && type_ == "object") || (type_ == "array" && !members.contains_key("items")) {
            members.remove("type");
        }
        let nullable_fields: Vec<Text> = members
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter(|(_, field)| flag(field, "/nullable"))
            .map(|(name, _)| name.clone())
            .collect();
        if let Some(required) = members.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| nullable_fields.iter().all(|nullable| *name != **nullable));
        }
        if members.get("additionalProperties").is_some_and(|others| flag(others, "/nullable")) {
            members.remove("required");
        }
    });
}

/// Gives objects and embedded objects the fields that all have.
pub(super) fn set_standard(schema: &mut Value, form: Form, deadline: &Deadline) {
    let Some(members) = schema.as_object_mut() else { return };
    set(members, STANDARD);
    visit(schema, deadline, &mut |members| {
        if !is(members, "x-kubernetes-embedded-resource") || (form == Form::V2 && is(members, PRESERVES_UNKNOWN)) {
            return;
        }
        set(members, EMBEDDED);
        let required = members.entry("required").or_insert_with(|| json!([]));
        let Some(required) = required.as_array_mut() else { return };
        for name in ["kind", "apiVersion"] {
            if required.iter().all(|other| other != name) {
                required.push(name.into());
            }
        }
    });
}

/// Sets the schemas of the fields that all objects have, by reference to the recorded ones.
fn set(members: &mut Map, whose: &str) {
    let properties = members.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() {
        *properties = json!({});
    }
    for name in schema::STANDARD_FIELDS {
        properties[name] = json!({ whose: name });
    }
}
