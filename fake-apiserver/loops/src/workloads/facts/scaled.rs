//! Numbers that may be percentages.

use tree::Value;

/// A number, or a part of the total (`GetScaledValueFromIntOrPercent` of `k8s.io/apimachinery/pkg/util/intstr`, v0.37.1). What is neither
/// is 0, as the server lets none in.
pub(crate) fn scaled(value: Option<&Value>, total: i64, rounds_up: bool) -> i64 {
    match value {
        Some(Value::Number(number)) => number.as_i64().unwrap_or_default(),
        Some(Value::String(text)) => {
            let percent = text.strip_suffix('%').and_then(|text| text.parse::<i64>().ok()).unwrap_or_default();
            let product = percent.saturating_mul(total);
            match rounds_up {
                true => product.saturating_add(99).div_euclid(100),
                false => product.div_euclid(100),
            }
        }
        _ => 0,
    }
}
