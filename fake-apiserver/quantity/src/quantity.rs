//! The type: its number, short or big, and its format.
//!
//! Port of `Quantity` of `quantity.go` (v0.37.1).

use crate::big::Big;
use crate::print;
use crate::short::{self, Short};
use crate::suffix::Format;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// `Milli`: the power of ten of thousandths.
pub const MILLI: i32 = -3;

/// A quantity. It is compared by its value.
#[derive(Debug, Clone)]
pub struct Quantity {
    pub(crate) number: Number,
    pub(crate) format: Format,
    /// The text that it was read from, if that is how it is printed.
    pub(crate) text: Option<SmolStr>,
}

/// The value of a quantity.
#[derive(Debug, Clone)]
pub(crate) enum Number {
    Short(Short),
    /// A big decimal, with the power of ten that upstream's integer counts.
    Big(Big, i32),
}

impl Number {
    fn big(&self) -> (Cow<'_, Big>, i32) {
        match self {
            Number::Short(short) => (Cow::Owned(short.big()), short.power),
            Number::Big(big, unit) => (Cow::Borrowed(big), *unit),
        }
    }

    fn sum(&self, other: &Number) -> Number {
        let short = match (self, other) {
            (Number::Short(one), Number::Short(other)) => one.plus(*other),
            _ => None,
        };
        short.map(Number::Short).unwrap_or_else(|| {
            let ((one, unit), (other, of_other)) = (self.big(), other.big());
            Number::Big(one.plus(&other), unit.min(of_other))
        })
    }

    fn negated(&self) -> Number {
        let short = match self {
            Number::Short(short) => short.value.checked_neg().map(|value| Short { value, ..*short }),
            Number::Big(..) => None,
        };
        short.map(Number::Short).unwrap_or_else(|| {
            let (big, unit) = self.big();
            Number::Big(big.into_owned().negated(), unit)
        })
    }
}

impl Quantity {
    /// Zero, which takes the format of what is added to it.
    pub const ZERO: Quantity = Quantity::of(0);

    /// A whole number.
    pub const fn of(value: i64) -> Quantity {
        Quantity { number: Number::Short(Short { value, power: 0 }), format: Format::DecimalSi, text: None }
    }

    /// The number of things that were counted.
    pub fn count(number: usize) -> Quantity {
        Quantity::of(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// Its sign: greater than zero, less, or equal (`Sign`).
    pub fn sign(&self) -> Ordering {
        match &self.number {
            Number::Short(short) => short.value.cmp(&0),
            Number::Big(big, _) => big.sign(),
        }
    }

    /// Whether it is zero (`IsZero`).
    pub fn is_zero(&self) -> bool {
        self.sign().is_eq()
    }

    /// Adds another one, whose format it takes if it was 0 (`Add`).
    pub fn add(&mut self, other: &Quantity) {
        let format = if self.is_zero() { other.format } else { self.format };
        *self = Quantity { number: self.number.sum(&other.number), format, text: None };
    }

    /// Subtracts another one, whose format it takes if it was 0 (`Sub`).
    pub fn subtract(&mut self, other: &Quantity) {
        let format = if self.is_zero() { other.format } else { self.format };
        *self = Quantity { number: self.number.sum(&other.number.negated()), format, text: None };
    }

    /// This one, rounded to a multiple of a power of ten, away from zero (`RoundUp`).
    pub fn rounded_up(self, power: i32) -> Quantity {
        let number = match self.number {
            Number::Short(short) if short.power >= power => return self,
            Number::Short(short) => Number::Short(Short { value: short.scaled(power), power }),
            Number::Big(big, _) => Number::Big(big.rounded_up(power), power),
        };
        Quantity { number, text: None, ..self }
    }

    /// The number of units of a power of ten, rounded up, where it fits: the results of an overflow are upstream's (`ScaledValue`).
    pub fn scaled_value(&self, power: i32) -> i64 {
        match &self.number {
            Number::Short(short) => short.scaled(power),
            Number::Big(big, unit) => big.scaled(*unit, power),
        }
    }

    /// The whole number, rounded up (`Value`).
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// The number of thousandths, rounded up (`MilliValue`).
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(MILLI)
    }

    /// The whole number, if this is a short one (`AsInt64`).
    pub fn as_int64(&self) -> Option<i64> {
        match &self.number {
            Number::Short(short) => short.whole(),
            Number::Big(..) => None,
        }
    }

    /// The nearest floating-point number, of which the last digits may be wrong (`AsApproximateFloat64`).
    pub fn as_approximate_float64(&self) -> f64 {
        let (base, power) = match &self.number {
            Number::Short(short) => (short.value as f64, short.power),
            Number::Big(big, unit) => (big.in_units_of(*unit), *unit),
        };
        if power == 0 { base } else { base * short::float_ten_to(power) }
    }

    /// The text, from which the same number is read, also where upstream prints another one: a multiple of `1000E` without its suffix.
    pub fn exact_text(&self) -> Cow<'_, str> {
        let is_short = matches!(self.number, Number::Short(_));
        let exact = match self.format == Format::DecimalSi && self.text.is_none() {
            true => print::exact(&self.number.big().0, is_short),
            false => None,
        };
        exact.map_or_else(|| self.text(), Cow::Owned)
    }

    /// The text, as upstream prints it (`String`).
    pub fn text(&self) -> Cow<'_, str> {
        match &self.text {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(match &self.number {
                Number::Short(short) => print::canonical_short(*short, self.format),
                Number::Big(big, _) => print::canonical(big, self.format),
            }),
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
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    /// `Cmp`.
    fn cmp(&self, other: &Quantity) -> Ordering {
        match (&self.number, &other.number) {
            (Number::Short(one), Number::Short(other)) if one.power == other.power => one.value.cmp(&other.value),
            (Number::Short(one), Number::Short(other)) if one.value.signum() != other.value.signum() => {
                one.value.signum().cmp(&other.value.signum())
            }
            (one, other) => one.big().0.cmp(&other.big().0),
        }
    }
}
