//! `resource.Quantity`: read as apimachinery's `ParseQuantity` (v0.37.1) reads it, written in canonical form.
//!
//! Follows `quantity.go` and `suffix.go`. Numbers are kept as decimal digits, so none is too long; upstream's split into
//! a fast path on int64 and a slow one on big decimals shows in results (only the fast one returns some texts as they
//! came) and is therefore kept.

/// `ErrFormatWrong`.
const FORMAT_WRONG: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
/// `ErrNumeric`.
const NUMERIC: &str = "unable to parse numeric part of quantity";
/// `ErrSuffix`.
const SUFFIX: &str = "unable to parse quantity's suffix";

/// `maxInt64Factors`: decimal digits that surely fit an int64.
const MAX_INT64_FACTORS: i64 = 18;
/// `Nano`: the finest scale.
const NANO: i64 = -9;
/// `Milli`: the finest scale of resources.
const MILLI: i64 = -3;

/// `quantitySuffixer`'s decimal suffixes and their powers of ten.
const DECIMAL_SUFFIXES: [(&str, i64); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// `quantitySuffixer`'s binary suffixes, in steps of 2^10.
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// `Format`: the suffixes of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Powers of ten: `1e3`.
    DecimalExponent,
    /// Powers of 1024: `1Ki`.
    BinarySi,
    /// Powers of 1000: `1k`.
    DecimalSi,
}

/// A quantity's text in canonical form: `1000m` is `1`. The error is upstream's text.
pub(super) fn canonical(text: &str) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err(FORMAT_WRONG);
    }
    let parts = Parts::split(text)?;
    let (exponent, format) = interpret(parts.suffix).ok_or(SUFFIX)?;
    match fast_path(text, &parts, exponent, format) {
        Some(done) => Ok(done),
        None => slow_path(&parts, exponent, format),
    }
}

/// A canonical quantity rounded up to thousandths (`RoundUp`); `None` if it has nothing finer.
pub(super) fn rounded_to_milli(text: &str) -> Option<String> {
    if !text.ends_with(['n', 'u']) && !text.contains(['e', 'E', '.']) {
        return None;
    }
    let parts = Parts::split(text).ok()?;
    let (exponent, format) = interpret(parts.suffix)?;
    let digits = format!("{}{}", parts.numerator, parts.denominator);
    let scale = -i64::try_from(parts.denominator.len()).ok()?;
    let exponent = if format == Format::BinarySi { return None } else { exponent };
    let mut amount = Decimal::new(parts.negative, &digits, scale + exponent);
    if amount.digits.is_empty() || amount.exponent >= MILLI {
        return None;
    }
    amount.round_up(MILLI);
    Some(amount.canonical(format))
}

/// The format of a quantity; that of a plain number, if the text is not one.
pub(super) fn format(text: &str) -> Format {
    let suffix = Parts::split(text).ok().and_then(|parts| interpret(parts.suffix));
    suffix.map_or(Format::DecimalSi, |(_, format)| format)
}

/// The text of an amount, given in billionths, in that format.
pub(super) fn printed(nano: i128, format: Format) -> String {
    Decimal::new(nano < 0, &nano.unsigned_abs().to_string(), NANO).canonical(format)
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
    /// `parseQuantityString`.
    fn split(text: &'a str) -> Result<Self, &'static str> {
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
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The power of ten of a suffix or, of a binary one, the power of two; and its format.
fn interpret(suffix: &str) -> Option<(i64, Format)> {
    if let Some((_, exponent)) = DECIMAL_SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Some((*exponent, Format::DecimalSi));
    }
    if let Some(step) =
        (1_i64..).zip(&BINARY_SUFFIXES[1..]).find_map(|(step, known)| (*known == suffix).then_some(step))
    {
        return Some((step * 10, Format::BinarySi));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // Upstream truncates it, too.
    Some((i64::from(exponent as i32), Format::DecimalExponent))
}

/// Upstream's path in int64; `None` where it does not apply.
fn fast_path(text: &str, parts: &Parts, exponent: i64, format: Format) -> Option<String> {
    let digits = parts.numerator.len() + parts.denominator.len();
    let digits = i64::try_from(digits).ok()?;
    let (multiplier, scale, precision) = match format {
        Format::BinarySi if parts.denominator.is_empty() => (1_i64 << exponent, 0, 14 - digits - exponent * 3 / 10),
        Format::BinarySi => return None,
        _ => (1, exponent, MAX_INT64_FACTORS - digits),
    };
    let scale = scale - i64::try_from(parts.denominator.len()).ok()?;
    if precision < 0 || scale < NANO {
        return None;
    }
    let shifted = format!("{}{}", parts.numerator, parts.denominator);
    let value: i64 = shifted.parse().ok()?;
    let result = value.checked_mul(multiplier)?;
    let is_canonical = match format {
        Format::BinarySi => value % 8 != 0,
        _ => scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0'),
    };
    if is_canonical {
        return Some(text.to_owned());
    }
    Some(Decimal::new(parts.negative, &result.to_string(), scale).canonical(format))
}

/// Upstream's path in big decimals.
fn slow_path(parts: &Parts, exponent: i64, format: Format) -> Result<String, &'static str> {
    if !parts.numeric {
        return Err(NUMERIC);
    }
    let digits = format!("{}{}", parts.numerator, parts.denominator);
    let scale = -i64::try_from(parts.denominator.len()).map_err(|_| NUMERIC)?;
    let mut amount = match format {
        Format::BinarySi => {
            let mut amount = Decimal::new(parts.negative, &digits, scale);
            (0..exponent).for_each(|_| amount.double());
            amount
        }
        _ => Decimal::new(parts.negative, &digits, scale + exponent),
    };
    amount.round_up(NANO);
    if format == Format::BinarySi && !amount.fits(i64::MAX) {
        amount = Decimal::new(parts.negative, &i64::MAX.to_string(), 0);
    }
    Ok(amount.canonical(format))
}

/// A decimal number: digits times a power of ten. The digits end in no zero, which goes into the exponent; zero has none.
struct Decimal {
    negative: bool,
    /// Values 0 to 9, the least significant first.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn new(negative: bool, digits: &str, exponent: i64) -> Self {
        let digits = digits.trim_start_matches('0').bytes().rev().map(|digit| digit - b'0').collect();
        let mut decimal = Decimal { negative, digits, exponent };
        decimal.normalize();
        decimal
    }

    fn normalize(&mut self) {
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        self.exponent += zeros as i64;
    }

    fn double(&mut self) {
        let mut carry = 0;
        for digit in &mut self.digits {
            let sum = *digit * 2 + carry;
            (*digit, carry) = (sum % 10, sum / 10);
        }
        self.digits.extend((carry > 0).then_some(carry));
        self.normalize();
    }

    /// Rounds to a multiple of ten to the `exponent`, away from zero.
    fn round_up(&mut self, exponent: i64) {
        if self.exponent >= exponent || self.digits.is_empty() {
            return;
        }
        let dropped = usize::try_from(exponent - self.exponent).unwrap_or(usize::MAX).min(self.digits.len());
        self.digits.drain(..dropped);
        self.exponent = exponent;
        let mut carry = true;
        for digit in &mut self.digits {
            if !carry {
                break;
            }
            carry = *digit == 9;
            *digit = if carry { 0 } else { *digit + 1 };
        }
        self.digits.extend(carry.then_some(1));
        self.normalize();
    }

    /// The magnitude, if it is whole and fits.
    fn whole(&self) -> Option<i64> {
        let exponent = u32::try_from(self.exponent).ok()?;
        let digits = self.digits.iter().rev();
        let number =
            digits.copied().try_fold(0_i64, |sum, digit| sum.checked_mul(10)?.checked_add(i64::from(digit)))?;
        number.checked_mul(10_i64.checked_pow(exponent)?)
    }

    /// Whether the magnitude, rounded up to an integer, is at most `limit`.
    fn fits(&self, limit: i64) -> bool {
        let mut rounded = Decimal { negative: false, digits: self.digits.clone(), exponent: self.exponent };
        rounded.round_up(0);
        rounded.digits.is_empty() || rounded.whole().is_some_and(|number| number <= limit)
    }

    /// `CanonicalizeBytes`.
    fn canonical(mut self, format: Format) -> String {
        if self.digits.is_empty() {
            return "0".to_owned();
        }
        let sign = if self.negative { "-" } else { "" };
        if format == Format::BinarySi
            && let Some(mut number) = self.whole().filter(|number| *number >= 1024)
        {
            let mut step = 0;
            while number % 1024 == 0 {
                number /= 1024;
                step += 1;
            }
            return format!("{sign}{number}{}", BINARY_SUFFIXES[step]);
        }
        while self.exponent % 3 != 0 {
            self.digits.insert(0, 0);
            self.exponent -= 1;
        }
        let digits: String = self.digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
        let suffix = match format {
            Format::DecimalExponent if self.exponent == 0 => String::new(),
            Format::DecimalExponent => format!("e{}", self.exponent),
            // Upstream has no suffix beyond the table's, and prints none.
            _ => DECIMAL_SUFFIXES
                .iter()
                .find(|(_, exponent)| *exponent == self.exponent)
                .map_or(String::new(), |(suffix, _)| (*suffix).to_owned()),
        };
        format!("{sign}{digits}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::Value;

    #[test]
    fn texts_are_those_of_go() {
        for line in include_str!("../../../../fixtures/schema/quantities.jsonl").lines() {
            let vector: Value = serde_json::from_str(line).expect("a line is a vector");
            let text = vector["input"].as_str().unwrap_or_default();
            let expected = vector["output"].as_str().ok_or(&vector["error"]);
            assert_eq!(
                canonical(text).as_deref().map_err(|error| Value::from(*error)),
                expected.map_err(Value::clone),
                "{line}"
            );
        }
    }
}
