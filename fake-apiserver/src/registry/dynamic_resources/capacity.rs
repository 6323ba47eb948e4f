//! Policies about how much of a capacity can be requested.
//!
//! Follows `validateRequestPolicy` and its callees in `pkg/apis/resource/validation/validation.go` (v1.37.1). Steps are those of
//! whole numbers, as the feature for fractions is off by default.

use crate::error::{Errors, FieldError};
use crate::registry::cursor::At;
use crate::registry::quantity::{Quantity, amount};
use std::collections::HashSet;

const MAX_OPTIONS: usize = 10;

/// A policy for a capacity of that much.
pub(super) fn policy(policy: At<'_, '_>, capacity: &str, errors: &mut Errors) {
    let (values, range, default) = (policy.field("validValues"), policy.field("validRange"), policy.field("default"));
    match (!values.is_empty(), range.is_set()) {
        (true, true) => {
            let detail = r#"exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time"#;
            policy.forbidden(detail, errors);
        }
        (true, false) if !default.is_set() => default.required("required when validValues is defined", errors),
        (false, true) if !default.is_set() => default.required("required when validRange is defined", errors),
        (true, false) => self::values(values, default.text(), capacity, errors),
        (false, true) => self::range(range, default.text(), capacity, errors),
        (false, false) => {}
    }
}

/// `validateRequestPolicyValidValues`.
fn values(values: At<'_, '_>, default: &str, capacity: &str, errors: &mut Errors) {
    for (before, after) in values.items().zip(values.items().skip(1)) {
        if amount(before.text()) > amount(after.text()) {
            after.invalid("values must be sorted in ascending order", errors);
        }
    }
    let mut is_option = false;
    if values.len() > MAX_OPTIONS {
        errors.push(FieldError::too_many(values.path(), values.len(), MAX_OPTIONS));
    } else {
        for option in values.items() {
            if amount(option.text()) > amount(capacity) {
                option.invalid(format!("option is larger than capacity value: {capacity}"), errors);
            }
            is_option |= amount(option.text()) == amount(default);
        }
        let mut seen = HashSet::new();
        for option in values.items().filter(|option| !seen.insert(amount(option.text()).value())) {
            option.duplicate(errors);
        }
    }
    if !is_option {
        values.invalid_value(default, "default value is not valid according to the requestPolicy", errors);
    }
}

/// `validateRequestPolicyRange`.
fn range(range: At<'_, '_>, default: &str, capacity: &str, errors: &mut Errors) {
    let (least, most, step) = (range.field("min"), range.field("max"), range.field("step"));
    if !least.is_set() {
        return least.required("required when validRange is defined", errors);
    }
    let place = range.path();
    let at_default = |detail: String, errors: &mut Errors| errors.invalid(place.child("default"), default, detail);
    if amount(least.text()) > amount(capacity) {
        least.invalid(format!("min is larger than capacity value: {capacity}"), errors);
    }
    if amount(default) < amount(least.text()) {
        at_default(format!("default is less than min: {}", least.text()), errors);
    }
    if most.is_set() {
        if amount(least.text()) > amount(most.text()) {
            most.invalid_value(least.text(), format!("min is larger than max: {}", most.text()), errors);
        }
        if amount(most.text()) > amount(capacity) {
            most.invalid(format!("max is larger than capacity value: {capacity}"), errors);
        }
        if amount(default) > amount(most.text()) {
            at_default(format!("default is more than max: {}", most.text()), errors);
        }
    }
    if step.is_set() {
        self::step(range, default, capacity, errors);
    }
}

/// The rules for the steps of a range.
fn step(range: At<'_, '_>, default: &str, capacity: &str, errors: &mut Errors) {
    let text = |field| range.field(field).text();
    let (least, most, step) = (text("min"), text("max"), range.field("step"));
    if amount(step.text()).sign().is_le() {
        return step.invalid("must be greater than zero", errors);
    }
    let mut added = amount(least);
    added.add(&amount(step.text()));
    if added > amount(capacity) {
        step.invalid(format!("one step {added} is larger than capacity value: {capacity}"), errors);
    }
    let (before, place) = (errors.len(), range.path());
    for (field, text) in [("default", default), ("min", least), ("max", most), ("step", step.text())] {
        let amount = amount(text);
        if amount.sign().is_lt() {
            errors.invalid(place.child(field), text, "must be greater than or equal to 0");
        } else if amount > Quantity::of(i64::MAX) {
            errors.invalid(place.child(field), text, format!("must not be larger than {}", i64::MAX));
        }
    }
    if errors.len() > before {
        return;
    }
    let whole = |text: &str| amount(text).value();
    for value in [default, most].into_iter().filter(|value| !value.is_empty()) {
        if (whole(value) - whole(least)) % whole(step.text()) != 0 {
            let detail = format!("value is not a multiple of a given step ({}) from ({least})", step.text());
            step.invalid_value(value, detail, errors);
        }
    }
}
