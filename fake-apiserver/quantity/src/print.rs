//! Canonical texts of quantities.
//!
//! Port of `CanonicalizeBytes` of `quantity.go`, `AsCanonicalBytes` of `amount.go` and `constructBytes` of `suffix.go` (v0.37.1).

use crate::big::Big;
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
    // The exponent is a multiple of 3. Upstream's overflows, and is read as another one.
    let exponent = (number.power() - number.power().rem_euclid(3)).min(MOST);
    let zeros = usize::try_from(number.power() - exponent).unwrap_or(0);
    let suffix = match format {
        Format::DecimalExponent if exponent == 0 => String::new(),
        Format::DecimalExponent => format!("e{exponent}"),
        // Upstream has no suffix beyond the table's, and prints none.
        _ => DECIMAL_SUFFIXES
            .iter()
            .find(|(_, power)| i64::from(*power) == exponent)
            .map_or(String::new(), |(suffix, _)| (*suffix).to_owned()),
    };
    format!("{sign}{}{}{suffix}", number.shown(), "0".repeat(zeros))
}
