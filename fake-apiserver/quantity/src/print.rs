//! Canonical texts of quantities.
//!
//! Port of `CanonicalizeBytes` of `quantity.go`, `AsCanonicalBytes` of `amount.go` and `constructBytes` of `suffix.go` (v0.37.1).

use crate::big::Big;
use crate::short::Short;
use crate::suffix::{BINARY_SUFFIXES, DECIMAL_SUFFIXES, Format};

/// The greatest exponent that is read as it is, of those that are printed.
const MOST: i64 = i32::MAX as i64 / 3 * 3;
/// The greatest power of ten that has a suffix.
const EXA: i64 = 18;

/// A number for which there is no decimal suffix, with its zeros: a short one with the greatest suffix, a big one without; `None` if it has
/// one.
pub(crate) fn exact(number: &Big, is_short: bool) -> Option<String> {
    let is_beyond = number.power() - EXA >= 3 && !number.sign().is_eq();
    let zeros = usize::try_from(number.power()).ok().filter(|_| is_beyond)?;
    let sign = if number.sign().is_lt() { "-" } else { "" };
    let (zeros, suffix) = if is_short { (zeros - EXA as usize, "E") } else { (zeros, "") };
    Some(format!("{sign}{}{}{suffix}", number.shown(), "0".repeat(zeros)))
}

/// Whether a text is one of [`exact`]: no canonical text has so many zeros.
pub(crate) fn is_exact_only(text: &str) -> bool {
    text.ends_with("000E")
        || text.len() > EXA as usize + 3
            && text.ends_with("000")
            && text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
}

/// A number in a format; in the decimal one, where the binary one would show a fraction, or upstream would need all memory.
pub(crate) fn canonical(number: &Big, format: Format) -> String {
    if number.sign().is_eq() {
        return "0".to_owned();
    }
    let sign = if number.sign().is_lt() { "-" } else { "" };
    if format == Format::BinarySi
        && number.is_at_least(1024)
        && let Some((digits, step)) = number.in_powers_of_1024()
    {
        return format!("{sign}{digits}{}", BINARY_SUFFIXES.get(step).unwrap_or(&""));
    }
    decimal(sign, &number.shown(), number.power(), format)
}

/// The same for a short number, without a big one.
pub(crate) fn canonical_short(number: Short, format: Format) -> String {
    let (mut digits, mut power) = (number.value.unsigned_abs(), i64::from(number.power));
    if digits == 0 {
        return "0".to_owned();
    }
    let sign = if number.value < 0 { "-" } else { "" };
    while digits % 10 == 0 {
        (digits, power) = (digits / 10, power + 1);
    }
    if format == Format::BinarySi
        && let Ok(zeros) = u32::try_from(power)
    {
        let whole = 10_u64.checked_pow(zeros).and_then(|factor| digits.checked_mul(factor));
        let Some(mut rest) = whole else { return canonical(&number.big(), format) };
        if rest >= 1024 {
            let mut step = 0;
            while rest % 1024 == 0 {
                (rest, step) = (rest / 1024, step + 1);
            }
            return format!("{sign}{rest}{}", BINARY_SUFFIXES.get(step).unwrap_or(&""));
        }
    }
    decimal(sign, &digits.to_string(), power, format)
}

/// Digits of which the last is not zero, times a power of ten, in a format with decimal powers.
fn decimal(sign: &str, digits: &str, power: i64, format: Format) -> String {
    // The exponent is a multiple of 3. Upstream's overflows, and is read as another one.
    let exponent = (power - power.rem_euclid(3)).min(MOST);
    let zeros = "0".repeat(usize::try_from(power - exponent).unwrap_or(0));
    match format {
        Format::DecimalExponent if exponent == 0 => format!("{sign}{digits}{zeros}"),
        Format::DecimalExponent => format!("{sign}{digits}{zeros}e{exponent}"),
        // Upstream has no suffix beyond the table's, and prints none.
        _ => {
            let suffix = DECIMAL_SUFFIXES.iter().find(|(_, power)| i64::from(*power) == exponent);
            format!("{sign}{digits}{zeros}{}", suffix.map_or("", |(suffix, _)| suffix))
        }
    }
}
