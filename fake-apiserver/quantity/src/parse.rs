//! Texts of quantities.
//!
//! Port of `ParseQuantity` and `parseQuantityString` of `quantity.go`, and of `interpret` of `suffix.go` (v0.37.1).

use crate::big::Big;
use crate::print;
use crate::quantity::{Number, Quantity};
use crate::short::Short;
use crate::suffix::{BINARY_SUFFIXES, DECIMAL_SUFFIXES, Format};
use std::borrow::Cow;

/// The reason why a text is not a quantity, in upstream's words.
pub type Error = &'static str;

/// `ErrFormatWrong`.
const FORMAT_WRONG: Error =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
/// `ErrNumeric`.
const NUMERIC: Error = "unable to parse numeric part of quantity";
/// `ErrSuffix`.
const SUFFIX: Error = "unable to parse quantity's suffix";

/// `maxInt64Factors`: decimal digits that surely fit an int64.
const MAX_INT64_FACTORS: i64 = 18;

/// `Nano`: the power of ten of the finest digit that is kept of a text.
const NANO: i32 = -9;

impl Quantity {
    /// The quantity of a text (`ParseQuantity`).
    ///
    /// # Errors
    /// Upstream's text, if it is not one.
    pub fn parse(text: &str) -> Result<Quantity, Error> {
        if text.is_empty() {
            return Err(FORMAT_WRONG);
        }
        let parts = Parts::split(text)?;
        let (exponent, format) = interpret(parts.suffix).ok_or(SUFFIX)?;
        if let Some((short, is_canonical)) = short(&parts, exponent, format) {
            let text = is_canonical.then(|| text.into());
            return Ok(Quantity { number: Number::Short(short), format, text });
        }
        big(&parts, exponent, format)
    }
}

/// The text that upstream prints, given an exact one; `None` if it is the same.
pub fn printed(exact: &str) -> Option<String> {
    let differs = Some(exact).filter(|exact| print::is_exact_only(exact));
    differs.and_then(|exact| Quantity::parse(exact).ok()).map(|quantity| quantity.text().into_owned())
}

/// The pieces of a quantity.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point, less leading zeros; never empty.
    numerator: &'a str,
    /// Digits after the point.
    denominator: &'a str,
    suffix: &'a str,
    /// Whether there are digits.
    numeric: bool,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, Error> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, rest) = split_digits(unsigned);
        let (denominator, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let letters = suffix.trim_start_matches(|char| "eEinumkKMGTP".contains(char));
        let exponent = letters.strip_prefix(['+', '-']).unwrap_or(letters);
        let numerator = whole.trim_start_matches('0');
        if !split_digits(exponent).1.is_empty() {
            return Err(FORMAT_WRONG);
        }
        Ok(Parts {
            negative: text.starts_with('-'),
            numerator: if numerator.is_empty() { "0" } else { numerator },
            denominator,
            suffix,
            numeric: !whole.is_empty() || !denominator.is_empty(),
        })
    }

    /// All digits.
    fn digits(&self) -> Cow<'a, str> {
        match self.denominator {
            "" => Cow::Borrowed(self.numerator),
            denominator => Cow::Owned([self.numerator, denominator].concat()),
        }
    }

    /// The power of ten of the last digit, where the first ones have the `exponent`. It overflows as upstream's does.
    fn power(&self, exponent: i32) -> i32 {
        exponent.wrapping_sub(self.denominator.len() as i32)
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The power of ten of a suffix or, of a binary one, the power of two; and its format.
fn interpret(suffix: &str) -> Option<(i32, Format)> {
    if let Some((_, exponent)) = DECIMAL_SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Some((*exponent, Format::DecimalSi));
    }
    if let Some(step) = (1..).zip(&BINARY_SUFFIXES[1..]).find_map(|(step, known)| (*known == suffix).then_some(step)) {
        return Some((step * 10, Format::BinarySi));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // Upstream truncates it, too.
    Some((exponent as i32, Format::DecimalExponent))
}

/// Upstream's path in int64: the number, and whether its text is printed as it came. `None` where it does not apply.
fn short(parts: &Parts<'_>, exponent: i32, format: Format) -> Option<(Short, bool)> {
    let digits = i64::try_from(parts.numerator.len() + parts.denominator.len()).ok()?;
    let (multiplier, exponent, precision) = match format {
        Format::BinarySi if parts.denominator.is_empty() => {
            (1_i64 << exponent, 0, 14 - digits - i64::from(exponent) * 3 / 10)
        }
        Format::BinarySi => return None,
        _ => (1, exponent, MAX_INT64_FACTORS - digits),
    };
    let power = parts.power(exponent);
    if precision < 0 || power < NANO {
        return None;
    }
    let shifted = parts.digits();
    let magnitude: i64 = shifted.parse().ok()?;
    let product = magnitude.checked_mul(multiplier)?;
    let is_canonical = match format {
        Format::BinarySi => magnitude % 8 != 0,
        _ => power % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0'),
    };
    Some((Short { value: if parts.negative { -product } else { product }, power }, is_canonical))
}

/// Upstream's path in big decimals: to nothing finer than billionths and, with a binary suffix, at most an int64.
fn big(parts: &Parts<'_>, exponent: i32, format: Format) -> Result<Quantity, Error> {
    if !parts.numeric {
        return Err(NUMERIC);
    }
    let is_binary = format == Format::BinarySi;
    let power = parts.power(if is_binary { 0 } else { exponent });
    let amount = Big::new(false, &parts.digits(), i64::from(power));
    let amount = if is_binary { amount.times(1 << exponent) } else { amount }.rounded_up(NANO);
    let (amount, unit) = match is_binary && amount > Big::most() {
        true => (Big::most(), 0),
        // Zero is not rounded.
        false if amount.sign().is_eq() => (amount, power),
        false => (amount, NANO),
    };
    let is_fraction = amount.sign().is_gt() && !amount.is_at_least(1);
    let format = if is_binary && is_fraction { Format::DecimalSi } else { format };
    let amount = if parts.negative { amount.negated() } else { amount };
    Ok(Quantity { number: Number::Big(amount, unit), format, text: None })
}
