//! The rules for a schema that hold at every depth.
//!
//! Follows `ValidateCustomResourceDefinitionOpenAPISchema` and `specStandardValidatorV3` of
//! `pkg/apis/apiextensions/validation/validation.go` of `k8s.io/apiextensions-apiserver` (v0.37.1). The findings about entries of
//! a map come sorted, where Go's order is random.

use super::context::{Context, Step};
use super::leniency::Leniency;
use super::place::{Found, Place};
use super::visit::{entries, is_set, schema_in, word};
use super::{expressions, lists};
use crate::error::{Errors, FieldError, Path};
use tree::Value;

/// `openapiV3Types`, sorted.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Fields of schemas that are not supported.
const UNSUPPORTED: [&str; 6] = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];

pub(super) fn is_unknown_type(type_: &str) -> bool {
    !type_.is_empty() && !TYPES.contains(&type_)
}

/// `ValidateCustomResourceDefinitionOpenAPISchema`. Without a context, rules are not compiled.
pub(super) fn schema(
    at: Path<'_>,
    node: &Value,
    place: Place<'_>,
    leniency: &Leniency,
    context: Option<&Context<'_>>,
    found: &mut Found,
) {
    if leniency.deadline.check().is_err() {
        return;
    }
    let before = found.errors.len();
    let errors = &mut found.errors;
    keywords(at, node, place, leniency, errors);
    if is_set(node, "uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.forbidden(at.child("uniqueItems"), detail);
    }
    let additional = node.get("additionalProperties");
    if node.get("properties").is_some() && additional.is_some_and(|additional| *additional != Value::Bool(true)) {
        let detail = "additionalProperties and properties are mutual exclusive";
        errors.forbidden(at.child("additionalProperties"), detail);
    }
    let inner = Place { is_root: false, ..place };
    let mut below = |at: Path<'_>, node: &Value, place: Place<'_>, step: Option<Step<'_>>| {
        let context = context.zip(step).map(|(context, step)| context.below(node, step));
        schema(at, node, place, leniency, context.as_ref(), found);
    };
    if let Some(additional) = schema_in(node, "additionalProperties") {
        // Without a value it is unknown which fields would be pruned.
        let reason = "inside additionalProperties applying to object metadata";
        let place = if place.in_meta { Place { no_defaults: Some(reason), ..inner } } else { inner };
        below(at.child("additionalProperties"), additional, place, Some(Step::Entry));
    }
    for (name, property) in entries(node, "properties") {
        let inner = match word(node, "x-kubernetes-map-type") {
            "" | "granular" | "atomic" => place.of_property(node, name),
            _ => place.of_property(node, name).within(at),
        };
        below(at.child("properties").key(name), property, inner, Some(Step::Property(name)));
    }
    if let Some(not) = schema_in(node, "not") {
        below(at.child("not"), not, inner, None);
    }
    for field in ["allOf", "oneOf", "anyOf"] {
        let clauses = node.get(field).and_then(Value::as_array).into_iter().flatten();
        clauses.enumerate().for_each(|(index, clause)| below(at.item(field, index), clause, inner, None));
    }
    for (name, definition) in entries(node, "definitions") {
        below(at.child("definitions").key(name), definition, inner, None);
    }
    let is_map = word(node, "x-kubernetes-list-type") == "map";
    let item_place = if is_map { inner } else { inner.within(at) };
    match node.get("items") {
        Some(Value::Array(items)) => items.iter().enumerate().for_each(|(index, item)| {
            below(at.item("items", index), item, item_place, Some(Step::Item));
        }),
        Some(item) => below(at.child("items"), item, item_place, Some(Step::Item)),
        None => {}
    }
    for (name, dependency) in entries(node, "dependencies").filter(|(_, dependency)| dependency.is_object()) {
        below(at.child("dependencies").key(name), dependency, inner, None);
    }
    let errors = &mut found.errors;
    if node.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        errors.invalid(at.child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined");
    }
    lists::map_type(at, node, errors);
    lists::list_type(at, node, leniency, errors);
    if leniency.keys {
        errors.extend(lists::keys(at, node));
    }
    expressions::shapes(at, node, errors);
    if let Some(context) = context.filter(|_| found.errors.len() == before) {
        expressions::meanings(at, context, place, leniency, found);
    }
}

/// `specStandardValidatorV3.validate`.
fn keywords(at: Path<'_>, schema: &Value, place: Place<'_>, leniency: &Leniency, errors: &mut Errors) {
    let type_ = word(schema, "type");
    if leniency.types && is_unknown_type(type_) {
        errors.push(FieldError::unsupported(at.child("type"), &type_.into(), &TYPES));
    }
    if let Some(reason) = place.no_defaults.filter(|_| schema.get("default").is_some()) {
        errors.forbidden(at.child("default"), format!("must not be set {reason}"));
    }
    for field in UNSUPPORTED.iter().filter(|field| schema.get(field).is_some()) {
        errors.forbidden(at.child(field), format!("{field} is not supported"));
    }
    if type_ == "null" {
        errors.forbidden(at.child("type"), "type cannot be set to null, use nullable as an alternative");
    }
    if schema.get("items").is_some_and(Value::is_array) {
        errors.forbidden(at.child("items"), "items must be a schema object and not an array");
    }
    if place.in_meta && is_set(schema, "x-kubernetes-embedded-resource") {
        errors.forbidden(at.child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta");
    }
}
