//! `IntOrString`: an amount of pods, as a number or a percentage.
//!
//! Follows `ValidatePositiveIntOrPercent` and what belongs to it in `pkg/apis/apps/validation/validation.go` (v1.37.1).

use crate::error::Errors;
use crate::registry::cursor::At;
use tree::Value;

/// The number before a percent sign (`getPercentValue`).
fn percent(value: &Value) -> Option<i64> {
    let digits = value.as_str()?.strip_suffix('%').filter(|digits| !digits.is_empty())?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(i64::MAX))
}

/// A number, or that of a percentage (`getIntOrPercentValue`).
pub(in crate::registry) fn int_or_percent(value: &Value) -> i64 {
    let number = value.as_i64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    percent(value).or(number).unwrap_or_default()
}

/// `ValidatePositiveIntOrPercent`.
pub(in crate::registry) fn positive_or_percent(at: At<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
        regex used for validation is '[0-9]+%')";
    match at.value() {
        Value::String(_) if percent(at.value()).is_none() => at.invalid(DETAIL, errors),
        _ => at.not_negative(errors),
    }
}

/// `IsNotMoreThan100Percent`.
pub(in crate::registry) fn at_most_all(at: At<'_, '_>, errors: &mut Errors) {
    if percent(at.value()).is_some_and(|percent| percent > 100) {
        at.invalid("must not be greater than 100%", errors);
    }
}
