//! Quantities such as `1500m` or `2Gi`, as integers in some unit.
//!
//! Follows apimachinery v0.37.1 `pkg/api/resource/quantity.go`, for values whose number of nano units fits an `i128`.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// The number of units of 10⁻⁹, the finest of a quantity, in one.
const NANO: i128 = 1_000_000_000;

/// The value of `quantity` in units of 10⁻⁹, rounded up; `None` if it is malformed.
pub(crate) fn nano(quantity: &Quantity) -> Option<i128> {
    let text = &quantity.0;
    let end = text.find(|character: char| !matches!(character, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (numerator, denominator) = multiplier(suffix)?;
    let negative = number.starts_with('-');
    let number = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = denominator.checked_mul(10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?)?;
    let value = ceil(digits.checked_mul(numerator)?.checked_mul(NANO)?, divisor);
    Some(if negative { -value } else { value })
}

/// `quantity` in units of `nanos` × 10⁻⁹, rounded up, at most what an `int64` holds.
pub(crate) fn in_units_of(quantity: i128, nanos: i128) -> i64 {
    i64::try_from(ceil(quantity, nanos)).unwrap_or(i64::MAX)
}

/// The unit 1, in units of 10⁻⁹.
pub(crate) const ONE: i128 = NANO;
/// The unit 10⁻³, in units of 10⁻⁹.
pub(crate) const MILLI: i128 = NANO / 1000;

/// `value` ÷ `divisor` (positive), rounded up.
fn ceil(value: i128, divisor: i128) -> i128 {
    value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0)
}

/// The multiplier of a suffix, as a numerator and a denominator.
fn multiplier(suffix: &str) -> Option<(i128, i128)> {
    const DECIMAL: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    const SMALL: [&str; 3] = ["m", "u", "n"];
    let power_of = |base: i128, names: &[&str]| {
        let exponent = (1u32..).zip(names).find_map(|(exponent, name)| (*name == suffix).then_some(exponent))?;
        base.checked_pow(exponent)
    };
    if suffix.is_empty() {
        return Some((1, 1));
    }
    if let Some(factor) = power_of(1000, &DECIMAL).or_else(|| power_of(1024, &BINARY)) {
        return Some((factor, 1));
    }
    if let Some(divisor) = power_of(1000, &SMALL) {
        return Some((1, divisor));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let factor = 10i128.checked_pow(exponent.unsigned_abs())?;
    Some(if exponent < 0 { (1, factor) } else { (factor, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_counted_and_rounded_up() {
        for (text, unit, expected) in [
            ("0", ONE, Some(0)),
            ("2", ONE, Some(2)),
            ("250m", ONE, Some(1)),
            ("250m", MILLI, Some(250)),
            ("1.5", MILLI, Some(1500)),
            ("100u", MILLI, Some(1)),
            ("1n", ONE, Some(1)),
            ("64Mi", ONE, Some(67_108_864)),
            ("1.5Ki", ONE, Some(1536)),
            ("129M", ONE, Some(129_000_000)),
            ("129e6", ONE, Some(129_000_000)),
            ("5E-1", ONE, Some(1)),
            ("2E", ONE, Some(2_000_000_000_000_000_000)),
            ("+3", ONE, Some(3)),
            ("-1500m", ONE, Some(-1)),
            ("100Ei", ONE, Some(i64::MAX)),
            ("", ONE, None),
            ("1X", ONE, None),
            ("a", ONE, None),
        ] {
            let counted = nano(&Quantity(text.into())).map(|value| in_units_of(value, unit));
            assert_eq!(counted, expected, "{text}");
        }
    }
}
