//! The schemas below a schema.
//!
//! Follows `SchemaHas` of `pkg/apis/apiextensions/validation/validation.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use crate::registry::items;
use tree::{Map, Value};

/// The schemas of all versions.
pub(super) fn of_versions(definition: &Value) -> impl Iterator<Item = &Value> {
    items(definition, "/spec/versions").iter().filter_map(|version| version.get("schema")?.get("openAPIV3Schema"))
}

/// Whether a schema of the definition, or one below it, meets the predicate.
pub(super) fn any(definition: &Value, predicate: impl Fn(&Value) -> bool) -> bool {
    let mut found = false;
    of_versions(definition).for_each(|schema| each(schema, &mut |schema| found |= predicate(schema)));
    found
}

/// Calls a function with a schema and all below it, in the order of the fields of Go's struct.
pub(super) fn each(schema: &Value, visit: &mut impl FnMut(&Value)) {
    visit(schema);
    let lists = ["items", "allOf", "anyOf", "oneOf", "not"].iter().flat_map(|field| listed(schema, field));
    let maps = |fields: &'static [&'static str]| fields.iter().flat_map(|field| entries(schema, field));
    let below = lists
        .chain(maps(&["properties"]).map(|(_, schema)| schema))
        .chain(schema_in(schema, "additionalProperties"))
        .chain(maps(&["patternProperties"]).map(|(_, schema)| schema))
        .chain(schema_in(schema, "additionalItems"))
        .chain(maps(&["definitions", "dependencies"]).map(|(_, schema)| schema).filter(|schema| schema.is_object()));
    below.for_each(|schema| each(schema, visit));
}

/// The schema in a field that may also hold a boolean or a list.
pub(super) fn schema_in<'a>(schema: &'a Value, field: &str) -> Option<&'a Value> {
    schema.get(field).filter(|value| value.is_object())
}

/// The schemas in a field that holds one or a list of them.
pub(super) fn listed<'a>(schema: &'a Value, field: &str) -> &'a [Value] {
    match schema.get(field) {
        Some(Value::Array(schemas)) => schemas,
        Some(schema @ Value::Object(_)) => std::slice::from_ref(schema),
        _ => &[],
    }
}

/// The entries of a map of schemas, sorted by key, where Go's order is random.
pub(super) fn entries<'a>(schema: &'a Value, field: &str) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
    let entries = schema.get(field).and_then(Value::as_object);
    entries.into_iter().flat_map(Map::iter).map(|(key, schema)| (key.as_str(), schema))
}

/// The text of a field; "" without one.
pub(super) fn word<'a>(schema: &'a Value, field: &str) -> &'a str {
    schema.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Whether the field is `true`.
pub(super) fn is_set(schema: &Value, field: &str) -> bool {
    schema.get(field) == Some(&Value::Bool(true))
}

/// The rules of a schema.
pub(super) fn rules(schema: &Value) -> &[Value] {
    items(schema, "/x-kubernetes-validations")
}
