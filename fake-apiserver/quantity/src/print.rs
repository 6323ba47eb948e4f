//! Canonical texts of quantities.
//!
//! Port of `CanonicalizeBytes` of `quantity.go`, `AsCanonicalBytes` of `amount.go` and `constructBytes` of `suffix.go` (v0.37.1).

use crate::Format;
use crate::big::Big;
use crate::parse::{BINARY_SUFFIXES, DECIMAL_SUFFIXES};

/// The end of the numbers that [`with_zeros`] prints, and of no canonical text.
pub(crate) const ZEROS: &str = "000E";

/// A number for which there is no decimal suffix, with the greatest one; `None` if it has one.
pub(crate) fn with_zeros(number: &Big) -> Option<String> {
    let zeros = usize::try_from(number.power() - 18).ok().filter(|zeros| *zeros >= 3 && !number.sign().is_eq())?;
    let sign = if number.sign().is_lt() { "-" } else { "" };
    Some(format!("{sign}{}{}E", number.shown(), "0".repeat(zeros)))
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
    // The exponent is a multiple of 3. It overflows as upstream's does.
    let exponent = number.power() as i32;
    let zeros = exponent.rem_euclid(3);
    let exponent = exponent.wrapping_sub(zeros);
    let suffix = match format {
        Format::DecimalExponent if exponent == 0 => String::new(),
        Format::DecimalExponent => format!("e{exponent}"),
        // Upstream has no suffix beyond the table's, and prints none.
        _ => DECIMAL_SUFFIXES
            .iter()
            .find(|(_, power)| *power == exponent)
            .map_or(String::new(), |(suffix, _)| (*suffix).to_owned()),
    };
    format!("{sign}{}{}{suffix}", number.shown(), &"00"[..zeros as usize])
}
