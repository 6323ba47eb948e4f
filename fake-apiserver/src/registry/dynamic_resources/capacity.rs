//! Policies about how much of a capacity can be requested.
//!
//! Follows `validateRequestPolicy` and its callees in `pkg/apis/resource/validation/validation.go` (v1.37.1). Steps are those of
//! whole numbers, as the feature for fractions is off by default.

use crate::error::{Errors, FieldError, Path};
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
        (true, false) => self::values(values, &amount(default.text()), &amount(capacity), errors),
        (false, true) => self::range(range, &amount(default.text()), &amount(capacity), errors),
        (false, false) => {}
    }
}

/// `validateRequestPolicyValidValues`.
fn values(values: At<'_, '_>, default: &Quantity, capacity: &Quantity, errors: &mut Errors) {
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
            let own = amount(option.text());
            if own > *capacity {
                option.invalid(format!("option is larger than capacity value: {capacity}"), errors);
            }
            is_option |= own == *default;
        }
        let mut seen = HashSet::new();
        for option in values.items().filter(|option| !seen.insert(amount(option.text()).value())) {
            option.duplicate(errors);
        }
    }
    if !is_option {
        values.invalid_value(&*default.text(), "default value is not valid according to the requestPolicy", errors);
    }
}

/// `validateRequestPolicyRange`.
fn range(range: At<'_, '_>, default: &Quantity, capacity: &Quantity, errors: &mut Errors) {
    let field = |name: &'static str| Some(range.field(name)).filter(At::is_set);
    let Some(min) = field("min") else {
        return range.field("min").required("required when validRange is defined", errors);
    };
    let least = amount(min.text());
    let place = range.path();
    let at_default =
        |detail: String, errors: &mut Errors| errors.invalid(place.child("default"), &*default.text(), detail);
    if least > *capacity {
        min.invalid(format!("min is larger than capacity value: {capacity}"), errors);
    }
    if *default < least {
        at_default(format!("default is less than min: {least}"), errors);
    }
    let most = field("max").map(|max| (amount(max.text()), max));
    if let Some((most, max)) = &most {
        if least > *most {
            max.invalid_value(&*least.text(), format!("min is larger than max: {most}"), errors);
        }
        if most > capacity {
            max.invalid(format!("max is larger than capacity value: {capacity}"), errors);
        }
        if default > most {
            at_default(format!("default is more than max: {most}"), errors);
        }
    }
    if let Some(step) = field("step") {
        self::step(step, place, default, &least, most.as_ref().map(|(most, _)| most), capacity, errors);
    }
}

/// The rules for the steps of the range at a path.
fn step(
    step: At<'_, '_>,
    range: Path<'_>,
    default: &Quantity,
    least: &Quantity,
    most: Option<&Quantity>,
    capacity: &Quantity,
    errors: &mut Errors,
) {
    let own = amount(step.text());
    if own.sign().is_le() {
        return step.invalid("must be greater than zero", errors);
    }
    let mut added = least.clone();
    added.add(&own);
    if added > *capacity {
        step.invalid(format!("one step {added} is larger than capacity value: {capacity}"), errors);
    }
    let before = errors.len();
    let all = [("default", Some(default)), ("min", Some(least)), ("max", most), ("step", Some(&own))];
    for (field, value) in all.into_iter().filter_map(|(field, value)| Some((field, value?))) {
        if value.sign().is_lt() {
            errors.invalid(range.child(field), &*value.text(), "must be greater than or equal to 0");
        } else if *value > Quantity::of(i64::MAX) {
            errors.invalid(range.child(field), &*value.text(), format!("must not be larger than {}", i64::MAX));
        }
    }
    if errors.len() > before {
        return;
    }
    // All are from 0 to the largest int64.
    let is_between = |value: &&Quantity| (value.value() - least.value()) % own.value() != 0;
    for value in Some(default).into_iter().chain(most).filter(is_between) {
        let detail = format!("value is not a multiple of a given step ({own}) from ({least})");
        step.invalid_value(&*value.text(), detail, errors);
    }
}
