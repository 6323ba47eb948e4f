//! The rules in CEL: the shape of their entries. What they say is not looked at.
//!
//! Follows `ValidateCustomResourceDefinitionOpenAPISchema` of `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::visit::word;
use super::{field_path, items, structural, version};
use crate::error::{Errors, FieldError, Path};
use serde_json::Value;

pub(super) const RULES: &str = "x-kubernetes-validations";

/// `supportedValidationReason`, sorted.
const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// The rules of a schema.
pub(super) fn of(schema: &Value) -> &[Value] {
    items(schema, "/x-kubernetes-validations")
}

/// Findings about the shapes of a schema's rules.
pub(super) fn shapes(at: Path<'_>, schema: &Value, errors: &mut Errors) {
    for (index, rule) in of(schema).iter().enumerate() {
        shape(at.item(RULES, index), schema, rule, errors);
    }
}

fn has_line_breaks(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

fn shape(at: Path<'_>, schema: &Value, rule: &Value, errors: &mut Errors) {
    let (expression, message) = (word(rule, "rule").trim(), word(rule, "message"));
    let here = at.child("message");
    if expression.is_empty() {
        errors.required(at.child("rule"), "rule is not specified");
    } else if !message.is_empty() && message.trim().is_empty() {
        errors.invalid(here, message, "must be non-empty if specified");
    } else if has_line_breaks(message.trim()) {
        errors.invalid(here, message, "must not contain line breaks");
    } else if has_line_breaks(expression) && message.is_empty() {
        errors.required(here, "message must be specified if rule contains line breaks");
    }
    let by_expression = word(rule, "messageExpression");
    if !by_expression.is_empty() && by_expression.trim().is_empty() {
        errors.required(at.child("messageExpression"), "messageExpression must be non-empty if specified");
    }
    if let Some(reason) = rule.get("reason").filter(|reason| REASONS.iter().all(|known| *reason != known)) {
        let finding = FieldError::unsupported(at.child("reason"), reason, &REASONS);
        errors.push(finding.printed_as(version::quoted(reason)));
    }
    let (here, path) = (at.child("fieldPath"), word(rule, "fieldPath"));
    if !path.is_empty() && path.trim().is_empty() {
        errors.invalid(here, path, "must be non-empty if specified");
    }
    if has_line_breaks(path) {
        errors.invalid(here, path, "must not contain line breaks");
    }
    let is_good = || structural::refusal(schema).is_some() || field_path::find(path, schema, true).is_ok();
    if !path.is_empty() && !is_good() {
        errors.invalid(here, path, "must be a valid path");
    }
}
