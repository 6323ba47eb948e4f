//! The rules in CEL: the shape of their entries, their expressions, and their estimated costs.
//!
//! Follows `ValidateCustomResourceDefinitionOpenAPISchema` of `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::context::Context;
use super::cost::{self, TotalCost};
use super::leniency::Leniency;
use super::place::{Found, Place};
use super::printed::quoted;
use super::visit::{rules, word};
use super::{printed, structural};
use crate::custom::field_path;
use crate::custom::rules::{NO_TYPE, RULES, Scope};
use crate::error::{Errors, FieldError, Path};
use tree::Value;

/// `supportedValidationReason`, sorted.
const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Findings about the shapes of a schema's rules.
pub(super) fn shapes(at: Path<'_>, schema: &Value, errors: &mut Errors) {
    for (index, rule) in rules(schema).iter().enumerate() {
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
        errors.push(finding.printed_as(quoted(reason)));
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

/// Errors in the rules of a schema. They are compiled only if the schema has no other errors.
pub(super) fn meanings(at: Path<'_>, context: &Context<'_>, place: Place<'_>, leniency: &Leniency, found: &mut Found) {
    let rules = rules(context.schema());
    if rules.is_empty() {
        return;
    }
    let declared = match context.typed() {
        Ok(Some(declared)) => declared,
        Ok(None) => return found.rules.push(FieldError::internal(at.child(RULES), NO_TYPE)),
        Err(error) => {
            let detail = format!(
                "internal error: failed to construct type information for x-kubernetes-validations rules: {error}"
            );
            return found.rules.push(FieldError::internal(at.child(RULES), detail));
        }
    };
    let scope = Scope::new(declared);
    let judge = Judge { scope: &scope, cardinality: context.cardinality(declared), place, leniency };
    for (index, rule) in rules.iter().enumerate() {
        judge.rule(at.item(RULES, index), rule, &mut found.rules, &mut found.cost);
    }
}

/// The validation of the rules of one schema.
struct Judge<'j> {
    scope: &'j Scope,
    /// The maximum number of values that they apply to.
    cardinality: u64,
    place: Place<'j>,
    leniency: &'j Leniency,
}

impl Judge<'_> {
    fn rule(&self, at: Path<'_>, rule: &Value, errors: &mut Errors, total: &mut TotalCost) {
        if self.leniency.deadline.check().is_err() {
            return;
        }
        let Some(compiled) = self.scope.compile(rule, |field, text| self.leniency.stage(field, text)) else { return };
        let cost = compiled.code.as_ref().map_or(0, |code| self.scope.max_cost(code));
        let here = at.child("rule");
        self.cost(here, "estimated rule cost", cost.saturating_mul(self.cardinality), errors, total);
        if let Err(error) = compiled.code {
            errors.push(FieldError::invalid_printed(here, printed::rule(rule), error));
        }
        let at_message = at.child("messageExpression");
        match compiled.message {
            Some(Ok(code)) => {
                let cost = self.scope.max_cost(&code);
                self.cost(at_message, "estimated messageExpression cost", cost, errors, total);
            }
            Some(Err(error)) => errors.push(FieldError::invalid_printed(at_message, printed::rule(rule), error)),
            None => {}
        }
        if !compiled.uses_old_self {
            if let Some(optional) = rule.get("optionalOldSelf") {
                let detail = "may not be set if oldSelf is not used in rule";
                errors.invalid(at.child("optionalOldSelf"), optional.clone(), detail);
            }
        } else if let Some(within) = self.place.uncorrelatable {
            let detail = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {within}");
            errors.invalid(here, word(rule, "rule"), detail);
        }
    }

    fn cost(&self, at: Path<'_>, name: &str, cost: u64, errors: &mut Errors, total: &mut TotalCost) {
        if cost > cost::LIMIT && !self.leniency.any_cost {
            errors.forbidden(at, cost::message(name, cost, cost::LIMIT));
        }
        total.add(at, cost);
    }
}
