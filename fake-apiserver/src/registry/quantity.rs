//! Quantities such as `1500m` or `2Gi`: comparison and sums.
//!
//! Follows `Quantity` of `pkg/api/resource/quantity.go` of k8s.io/apimachinery (v0.37.1).

use crate::schema::{self, QuantityFormat};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use tree::Text;

/// The number 1 in units of 10⁻⁹, the finest that a quantity can express.
pub(crate) const NANO: i128 = 1_000_000_000;

/// `MaxMilliValue`: a greater number is compared without its fraction.
pub(crate) const MOST_THOUSANDTHS: i128 = (i64::MAX / 1000) as i128;

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

/// A number of billionths in units of `unit`, rounded away from 0 (`ScaledValue`).
pub(crate) fn in_units(nano: i128, unit: i128) -> i128 {
    nano / unit + nano.signum() * i128::from(nano % unit != 0)
}

/// A quantity to calculate with. It keeps its text until it is changed.
#[derive(Debug, Clone)]
pub(crate) struct Quantity {
    nano: i128,
    format: QuantityFormat,
    text: Option<Text>,
}

impl Quantity {
    /// Zero, which takes the format of what is added to it.
    pub(crate) const ZERO: Quantity = Quantity { nano: 0, format: QuantityFormat::DecimalSi, text: None };

    /// The quantity of a text; 0 if it is none.
    pub(crate) fn read(text: &str) -> Quantity {
        Quantity { nano: amount(text), format: schema::quantity_format(text), text: Some(text.into()) }
    }

    /// A number of objects.
    pub(crate) fn count(number: usize) -> Quantity {
        Quantity { nano: number as i128 * NANO, ..Quantity::ZERO }
    }

    /// The value in units of 10⁻⁹.
    pub(crate) fn nano(&self) -> i128 {
        self.nano
    }

    /// Adds another one, whose format it takes if it was 0 (`Add`).
    pub(crate) fn add(&mut self, other: &Quantity) {
        self.set(other, self.nano.saturating_add(other.nano));
    }

    /// Subtracts another one, whose format it takes if it was 0 (`Sub`).
    pub(crate) fn subtract(&mut self, other: &Quantity) {
        self.set(other, self.nano.saturating_sub(other.nano));
    }

    fn set(&mut self, other: &Quantity, nano: i128) {
        let format = if self.nano == 0 { other.format } else { self.format };
        *self = Quantity { nano, format, text: None };
    }

    /// This one, rounded up to a whole number (`RoundUp`).
    pub(crate) fn rounded_up(self) -> Quantity {
        match self.nano % NANO {
            0 => self,
            _ => Quantity { nano: in_units(self.nano, NANO) * NANO, text: None, ..self },
        }
    }

    /// The text, as Go prints it.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match &self.text {
            Some(text) => Cow::Borrowed(text),
            None => schema::printed_quantity(self.nano, self.format).into(),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> Ordering {
        self.nano.cmp(&other.nano)
    }
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

    #[test]
    fn sums_have_the_format_of_the_first() {
        for (one, other, sum, difference) in [
            ("1", "500m", "1500m", "500m"),
            ("1Gi", "1G", "2073741824", "73741824"),
            ("1Gi", "1Gi", "2Gi", "0"),
            ("0", "1Gi", "1Gi", "-1Gi"),
            ("1k", "1Ki", "2024", "-24"),
            ("1Mi", "0", "1Mi", "1Mi"),
            ("1e3", "1", "1001", "999"),
        ] {
            let [mut added, mut subtracted] = [one; 2].map(Quantity::read);
            added.add(&Quantity::read(other));
            subtracted.subtract(&Quantity::read(other));
            assert_eq!((&*added.text(), &*subtracted.text()), (sum, difference), "{one} and {other}");
        }
        assert_eq!(Quantity::read("1500m").rounded_up().text(), "2");
        assert_eq!(Quantity::read("1Gi").rounded_up().text(), "1Gi");
        assert_eq!(Quantity::count(3).text(), "3");
    }
}
