//! `Condition`: conditions in the status of an object, with an observed generation.
//!
//! Follows `ValidateConditions` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go` (v0.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;
use std::collections::HashSet;

/// `maxReasonLen`.
const LONGEST_REASON: usize = 1024;
/// `maxMessageLen`.
const LONGEST_MESSAGE: usize = 32 * 1024;
/// `conditionReasonErrMsg`, with the pattern and its examples.
const REASON: &str = "a condition reason must start with alphabetic character, optionally followed by a string of \
    alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or \
    'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// Rules for a list of conditions: each type occurs once.
pub(in crate::registry) fn conditions(all: At<'_, '_>, errors: &mut Errors) {
    let mut types = HashSet::new();
    for condition in all.items() {
        let type_ = condition.field("type");
        if !types.insert(type_.text()) {
            let duplicate = FieldError::duplicate(condition.path(), type_.value());
            errors.push(duplicate.covered());
        }
        self::condition(condition, errors);
    }
}

/// `ValidateCondition`.
fn condition(condition: At<'_, '_>, errors: &mut Errors) {
    let (type_, generation) = (condition.field("type"), condition.field("observedGeneration"));
    let (reason, message) = (condition.field("reason"), condition.field("message"));
    match type_.text() {
        "" => errors.covered("", |errors| type_.required("is required", errors)),
        _ => type_.follows(name::label_key, errors),
    }
    errors.covered("", |errors| condition.field("status").one_of(&["False", "True", "Unknown"], errors));
    if generation.number().is_some_and(|number| number < 0) {
        let detail = "must be greater than or equal to zero";
        errors.covered("minimum", |errors| generation.invalid(detail, errors));
    }
    errors.covered("", |errors| condition.field("lastTransitionTime").set(errors));
    match reason.text() {
        "" => errors.covered("", |errors| reason.required("", errors)),
        text if !is_reason(text) => reason.invalid(REASON, errors),
        _ => {}
    }
    if reason.text().len() > LONGEST_REASON {
        let too_long = FieldError::too_long(reason.path(), LONGEST_REASON);
        errors.push(too_long.with_origin("maxBytes").covered());
    }
    if message.text().len() > LONGEST_MESSAGE {
        errors.push(FieldError::too_long(message.path(), LONGEST_MESSAGE));
    }
}

/// `IsValidConditionReason`.
fn is_reason(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_,:".contains(&byte))
}
