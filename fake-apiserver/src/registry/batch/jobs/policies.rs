//! The policies of a job about its pods: when it fails, when it succeeds, and when a pod is replaced.
//!
//! Follows `validatePodFailurePolicy`, `validateSuccessPolicy` and `validatePodReplacementPolicy` of
//! `pkg/apis/batch/validation/validation.go` (v1.37.1).

use super::indexes;
use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;
use std::collections::HashSet;
use tree::Value;

const ACTIONS: &[&str] = &["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: &[&str] = &["In", "NotIn"];
const STATUSES: &[&str] = &["False", "True", "Unknown"];
/// `maxPodFailurePolicyRules`, `maxPodFailurePolicyOnPodConditionsPatterns` and `maxSuccessPolicyRule`.
const MOST: usize = 20;
/// `maxPodFailurePolicyOnExitCodesValues`.
const MOST_EXIT_CODES: usize = 255;
/// `maxJobSuccessPolicySucceededIndexesLimit`.
const LONGEST_INDEXES: usize = 64 * 1024;

/// A text must be set, to one of `values`; if it is not, the finding names them.
fn one_of(at: At<'_, '_>, values: &[&str], errors: &mut Errors) {
    match at.text() {
        "" => {
            let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            at.required(&format!("valid values: [{}]", quoted.join(" ")), errors);
        }
        _ => at.supported(values, errors),
    }
}

fn at_most(at: At<'_, '_>, most: usize, errors: &mut Errors) {
    if at.len() > most {
        errors.push(FieldError::too_many(at.path(), at.len(), most));
    }
}

/// `validatePodFailurePolicy`.
pub(super) fn failure(spec: At<'_, '_>, errors: &mut Errors) {
    let rules = spec.field("podFailurePolicy.rules");
    at_most(rules, MOST, errors);
    for rule in rules.items() {
        let action = rule.field("action");
        match action.text() {
            "FailIndex" if !spec.field("backoffLimitPerIndex").is_set() => {
                action.invalid("requires the backoffLimitPerIndex to be set", errors);
            }
            _ => one_of(action, ACTIONS, errors),
        }
        let (codes, conditions) = (rule.field("onExitCodes"), rule.field("onPodConditions"));
        if codes.is_set() {
            exit_codes(codes, spec.field("template.spec").value(), errors);
        }
        at_most(conditions, MOST, errors);
        for pattern in conditions.items() {
            pattern.field("type").follows(name::label_key, errors);
            one_of(pattern.field("status"), STATUSES, errors);
        }
        let detail = match (codes.is_set(), conditions.is_empty()) {
            (true, false) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (false, true) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        errors.push(FieldError::invalid(rule.path(), &Value::Null, detail).without_value());
    }
}

/// `validatePodFailurePolicyRuleOnExitCodes`.
fn exit_codes(codes: At<'_, '_>, pod: &Value, errors: &mut Errors) {
    let operator = codes.field("operator");
    one_of(operator, OPERATORS, errors);
    let container = codes.field("containerName");
    let lists = ["containers", "initContainers"].into_iter().filter_map(|field| pod[field].as_array()).flatten();
    if container.is_set() && lists.into_iter().all(|own| own["name"] != *container.value()) {
        let detail = "must be one of the container or initContainer names in the pod template";
        container.invalid(detail, errors);
    }
    let values = codes.field("values");
    if values.is_empty() {
        values.invalid("at least one value is required", errors);
    }
    at_most(values, MOST_EXIT_CODES, errors);
    let mut seen = HashSet::new();
    for value in values.items() {
        if operator.text() == "In" && value.number() == Some(0) {
            value.invalid("must not be 0 for the In operator", errors);
        }
        if value.number().is_some_and(|number| !seen.insert(number)) {
            value.duplicate(errors);
        }
    }
    if !values.items().filter_map(|value| value.number()).is_sorted() {
        values.invalid("must be ordered", errors);
    }
}

/// `validateSuccessPolicy`.
pub(super) fn success(spec: At<'_, '_>, errors: &mut Errors) {
    let completions = spec.field("completions").number().unwrap_or_default();
    let rules = spec.field("successPolicy.rules");
    if rules.is_empty() {
        rules.required("at least one rules must be specified when the successPolicy is specified", errors);
    }
    at_most(rules, MOST, errors);
    for rule in rules.items() {
        let (succeeded, count) = (rule.field("succeededIndexes"), rule.field("succeededCount"));
        if !succeeded.is_set() && !count.is_set() {
            rule.required("at least one of succeededCount or succeededIndexes must be specified", errors);
        }
        if succeeded.text().len() > LONGEST_INDEXES {
            errors.push(FieldError::too_long(succeeded.path(), LONGEST_INDEXES));
        }
        let total = indexes::count(succeeded.text(), completions);
        if let Err(why) = &total {
            succeeded.invalid(format!("error parsing succeededIndexes: {why}"), errors);
        }
        let Some(number) = count.number() else { continue };
        count.not_negative(errors);
        if number > completions {
            let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
            count.invalid(detail, errors);
        }
        let total = total.unwrap_or_default();
        if succeeded.is_set() && number > total {
            count.invalid(
                format!(
                    "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
                ),
                errors,
            );
        }
    }
}

/// `validatePodReplacementPolicy`.
pub(super) fn replacement(spec: At<'_, '_>, errors: &mut Errors) {
    let policy = spec.field("podReplacementPolicy");
    if policy.is_set() {
        let supported: &[&str] = match spec.field("podFailurePolicy").is_set() {
            true => &["Failed"],
            false => &["Failed", "TerminatingOrFailed"],
        };
        policy.supported(supported, errors);
    }
}
