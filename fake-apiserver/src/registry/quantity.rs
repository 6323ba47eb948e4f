//! Quantities such as `1500m` or `2Gi`, as far as validation compares them.

/// The number 1 in units of 10⁻⁹, the finest that a quantity can express.
pub(super) const NANO: i128 = 1_000_000_000;

/// The value of a quantity in units of 10⁻⁹, rounded up; `None` if the text is not a quantity, or out of range.
pub(super) fn nano(text: &str) -> Option<i128> {
    let digits_end =
        text.find(|character: char| !matches!(character, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits_end);
    let (numerator, denominator) = multiplier(suffix)?;
    let negative = number.starts_with('-');
    let number = number.trim_start_matches(['+', '-']);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = denominator.checked_mul(10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?)?;
    let scaled = digits.checked_mul(numerator)?.checked_mul(NANO)?;
    let value = scaled / divisor + i128::from(scaled % divisor != 0);
    Some(if negative { -value } else { value })
}

/// The amount of a quantity, in units of 10⁻⁹; 0 without one.
pub(crate) fn amount(text: &str) -> i128 {
    nano(text).unwrap_or_default()
}

/// The multiplier of a suffix, as a fraction.
fn multiplier(suffix: &str) -> Option<(i128, i128)> {
    let power = |base: i128, exponent: u32| base.checked_pow(exponent);
    Some(match suffix {
        "n" => (1, power(10, 9)?),
        "u" => (1, power(10, 6)?),
        "m" => (1, 1000),
        "" => (1, 1),
        "k" => (1000, 1),
        "M" => (power(1000, 2)?, 1),
        "G" => (power(1000, 3)?, 1),
        "T" => (power(1000, 4)?, 1),
        "P" => (power(1000, 5)?, 1),
        "E" => (power(1000, 6)?, 1),
        "Ki" => (1024, 1),
        "Mi" => (power(1024, 2)?, 1),
        "Gi" => (power(1024, 3)?, 1),
        "Ti" => (power(1024, 4)?, 1),
        "Pi" => (power(1024, 5)?, 1),
        "Ei" => (power(1024, 6)?, 1),
        _ => match suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()? {
            exponent @ 0.. => (power(10, exponent.unsigned_abs())?, 1),
            exponent => (1, power(10, exponent.unsigned_abs())?),
        },
    })
}

/// Whether a quantity is a whole number.
pub(super) fn is_whole(text: &str) -> bool {
    nano(text).is_some_and(|value| value % NANO == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_compare() {
        let equal =
            [("1", "1000m"), ("0.5", "500m"), ("1024Mi", "1Gi"), ("1e3", "1k"), ("-1", "-1000m"), ("5E-1", "500m")];
        for (a, b) in equal {
            assert_eq!(nano(a), nano(b), "{a} {b}");
            assert!(nano(a).is_some());
        }
        assert!(nano("1Ki") > nano("1k"));
        assert_eq!(nano("0.1n"), Some(1));
        for odd in ["", "x", "1x", "1e99", "--1x", "."] {
            assert_eq!(nano(odd), None, "{odd}");
        }
        assert!(is_whole("2k") && !is_whole("500m"));
    }
}
