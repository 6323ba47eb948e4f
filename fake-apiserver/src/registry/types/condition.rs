//! Conditions of the common type.
//!
//! Follows `ValidateConditions` of `pkg/apis/meta/v1/validation/validation.go` of `k8s.io/apimachinery` (v0.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;
use std::collections::HashSet;

const MAX_REASON: usize = 1024;
const MAX_MESSAGE: usize = 32 * 1024;
const REASON_TEXT: &str = "a condition reason must start with alphabetic character, optionally followed by a string of \
    alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or \
    'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// Rules for a list of conditions. Declarative validation looks for the most part of it, too.
pub(in crate::registry) fn conditions(conditions: At<'_, '_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for condition in conditions.items() {
        let type_ = condition.field("type");
        if !seen.insert(type_.text()) {
            errors.covered("", |errors| type_.shown_at(condition.path()).duplicate(errors));
        }
        self::condition(condition, errors);
    }
}

/// `ValidateCondition`.
fn condition(condition: At<'_, '_>, errors: &mut Errors) {
    let (type_, status) = (condition.field("type"), condition.field("status"));
    match type_.is_empty() {
        true => errors.covered("", |errors| type_.required("is required", errors)),
        false => type_.follows(name::label_key, errors),
    }
    errors.covered("", |errors| status.one_of(&["False", "True", "Unknown"], errors));
    let generation = condition.field("observedGeneration");
    if generation.number().is_some_and(|number| number < 0) {
        errors.covered("minimum", |errors| generation.invalid("must be greater than or equal to zero", errors));
    }
    errors.covered("", |errors| condition.field("lastTransitionTime").set(errors));
    let (reason, message) = (condition.field("reason"), condition.field("message"));
    match reason.is_empty() {
        true => errors.covered("", |errors| reason.required("", errors)),
        false => {
            reason.follows(condition_reason, errors);
            if reason.text().len() > MAX_REASON {
                errors.covered("maxBytes", |errors| errors.push(FieldError::too_long(reason.path(), MAX_REASON)));
            }
        }
    }
    if message.text().len() > MAX_MESSAGE {
        errors.push(FieldError::too_long(message.path(), MAX_MESSAGE));
    }
}

/// `IsValidConditionReason`.
fn condition_reason(text: &str) -> Vec<String> {
    let may_end = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    let is_good = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(may_end)
        && bytes.iter().all(|byte| may_end(byte) || b",:".contains(byte));
    if is_good { Vec::new() } else { vec![REASON_TEXT.into()] }
}
