//! The completeness of structural schemas: fields that occur in clauses (`allOf` and the like) are specified outside, too.
//!
//! Follows `pkg/apiserver/schema/complete.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::visit::{entries, listed, schema_in};
use crate::error::{Errors, Path};
use tree::Value;

/// `validateStructuralCompleteness`.
pub(super) fn completeness(at: Path<'_>, schema: &Value, errors: &mut Errors) {
    clauses(schema, Some(schema), at, at, errors);
}

/// Checks the clauses at `by`, which are about the schema at `at`.
fn clauses(clause: &Value, schema: Option<&Value>, at: Path<'_>, by: Path<'_>, errors: &mut Errors) {
    if let Some(not) = schema_in(clause, "not") {
        inner(not, schema, at, by.child("not"), errors);
    }
    for field in ["allOf", "anyOf", "oneOf"] {
        for (index, clause) in listed(clause, field).iter().enumerate() {
            inner(clause, schema, at, by.item(field, index), errors);
        }
    }
}

/// `validateNestedValueValidationCompleteness`.
fn inner(clause: &Value, schema: Option<&Value>, at: Path<'_>, by: Path<'_>, errors: &mut Errors) {
    let Some(schema) = schema else {
        return errors.required(at, &format!("because it is defined in {by}"));
    };
    clauses(clause, Some(schema), at, by, errors);
    if let Some(items) = schema_in(clause, "items") {
        inner(items, schema_in(schema, "items"), at.child("items"), by.child("items"), errors);
    }
    for (name, property) in entries(clause, "properties") {
        let specified = schema.get("properties").and_then(|properties| properties.get(name));
        let (at, by) = (at.child("properties"), by.child("properties"));
        inner(property, specified, at.key(name), by.key(name), errors);
    }
}
