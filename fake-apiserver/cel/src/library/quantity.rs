//! Quantities, such as `1.5Gi`.
//!
//! Port of `pkg/cel/library/quantity.go` of k8s.io/apiserver v0.37.1 and of `pkg/api/resource` of k8s.io/apimachinery v0.37.1.

use super::{Opaque, Table, int, text};
use crate::value::{Outcome, Value, fail, no_such_overload};
use num_bigint::BigInt;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

pub(super) const OVERLOADS: Table = &[
    ("string_to_quantity", |args| match Quantity::parse(text(&args[0])?) {
        Ok(quantity) => Ok(Value::Opaque(Opaque::Quantity(Arc::new(quantity), false))),
        Err(error) => fail(error),
    }),
    ("is_quantity_string", |args| Ok(Value::Bool(Quantity::is_valid(text(&args[0])?)))),
    ("quantity_sign", |args| Ok(Value::Int(quantity(&args[0])?.sign()))),
    ("quantity_is_greater_than", |args| Ok(Value::Bool(order(args)?.is_gt()))),
    ("quantity_is_less_than", |args| Ok(Value::Bool(order(args)?.is_lt()))),
    ("quantity_compare_to", |args| Ok(Value::Int(order(args)? as i64))),
    ("quantity_get_float", |args| Ok(Value::Double(quantity(&args[0])?.to_f64()))),
    ("quantity_get_int", |args| match quantity(&args[0])?.to_i64() {
        Some(value) => Ok(Value::Int(value)),
        None => fail("cannot convert value to integer"),
    }),
    ("quantity_is_integer", |args| Ok(Value::Bool(quantity(&args[0])?.to_i64().is_some()))),
    ("quantity_add", |args| Ok(calculated(quantity(&args[0])?.plus(quantity(&args[1])?)))),
    ("quantity_add_int", |args| Ok(calculated(quantity(&args[0])?.plus(&Quantity::Short(int(&args[1])?, 0))))),
    ("quantity_sub", |args| Ok(calculated(quantity(&args[0])?.minus(quantity(&args[1])?)))),
    ("quantity_sub_int", |args| Ok(calculated(quantity(&args[0])?.minus(&Quantity::Short(int(&args[1])?, 0))))),
];

const FORMAT_WRONG: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";

/// The finest power of ten that is kept.
const NANO: i32 = -9;

/// The largest supported power of ten, as a comparison takes as many digits.
const MAX_EXPONENT: u32 = 10_000;

/// A number with a power of ten: a short one, or one of any length, which no calculation makes short again.
#[derive(Debug, Clone)]
pub(crate) enum Quantity {
    Short(i64, i32),
    Long(BigInt, i32),
}

fn quantity(value: &Value) -> Outcome<&Quantity> {
    match value {
        Value::Opaque(Opaque::Quantity(quantity, _)) => Ok(quantity),
        _ => no_such_overload(),
    }
}

fn order(args: &[Value]) -> Outcome<Ordering> {
    Ok(quantity(&args[0])?.cmp(quantity(&args[1])?))
}

fn calculated(quantity: Quantity) -> Value {
    Value::Opaque(Opaque::Quantity(Arc::new(quantity), true))
}

fn ten_to(power: u32) -> BigInt {
    BigInt::from(10).pow(power)
}

impl Quantity {
    fn long(&self) -> (BigInt, i32) {
        match self {
            Self::Short(value, power) => (BigInt::from(*value), *power),
            Self::Long(value, power) => (value.clone(), *power),
        }
    }

    /// Both numbers with the same power of ten.
    fn aligned(&self, other: &Self) -> (BigInt, BigInt, i32) {
        let ((a, p), (b, q)) = (self.long(), other.long());
        let power = p.min(q);
        let scale = |value: BigInt, from: i32| value * ten_to(from.abs_diff(power));
        (scale(a, p), scale(b, q), power)
    }

    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }

    fn sign(&self) -> i64 {
        self.cmp(&Self::Short(0, 0)) as i64
    }

    fn to_i64(&self) -> Option<i64> {
        match self {
            Self::Short(value, power) => scaled_up(*value, u32::try_from(*power).ok()?),
            Self::Long(..) => None,
        }
    }

    fn to_f64(&self) -> f64 {
        let (value, power) = match self {
            Self::Short(value, power) => (*value as f64, *power),
            Self::Long(value, power) if value.bits() <= f64::MAX_EXP as u64 => {
                (value.to_string().parse().unwrap_or(f64::INFINITY), *power)
            }
            Self::Long(value, _) => return if *value > BigInt::ZERO { f64::INFINITY } else { f64::NEG_INFINITY },
        };
        if power == 0 { value } else { value * format!("1e{power}").parse::<f64>().unwrap_or(0.0) }
    }

    fn plus(&self, other: &Self) -> Self {
        if let (Self::Short(a, p), Self::Short(b, q)) = (self, other)
            && let Some(short) = short_sum((*a, *p), (*b, *q))
        {
            return short;
        }
        let (a, b, power) = self.aligned(other);
        Self::Long(a + b, power)
    }

    fn minus(&self, other: &Self) -> Self {
        if let (Self::Short(a, p), Self::Short(b, q)) = (self, other)
            && let Some(negated) = b.checked_neg()
            && let Some(short) = short_sum((*a, *p), (negated, *q))
        {
            return short;
        }
        let (a, b, power) = self.aligned(other);
        Self::Long(a - b, power)
    }

    /// Whether a text is a quantity. That of many digits is not computed.
    fn is_valid(text: &str) -> bool {
        Parts::of(text).is_ok_and(|(parts, ..)| parts.has_digits || Self::parse(text).is_ok())
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let (parts, base, exponent) = Parts::of(text)?;
        let decimals = parts.denominator.len() as i32;
        let digits = parts.numerator.len() as i32 + decimals;
        let (precision, power, factor) = match base {
            10 => (18 - digits, exponent, 1_i64),
            _ if decimals == 0 => (15 - digits - (exponent as f32 * 3.0 / 10.0) as i32 - 1, 0, 1_i64 << exponent),
            _ => (-1, 0, 1),
        };
        let shifted = format!("{}{}", parts.numerator, parts.denominator);
        if precision >= 0 && power.saturating_sub(decimals) >= NANO {
            let value: i64 = shifted.parse().map_err(|_| NUMERIC)?;
            if let Some(value) = value.checked_mul(factor) {
                return Ok(Self::Short(if parts.negative { -value } else { value }, power - decimals));
            }
        }
        if !parts.has_digits {
            return Err(NUMERIC);
        }
        let (value, power) = match base {
            _ if shifted.bytes().all(|digit| digit == b'0') => (BigInt::ZERO, NANO),
            10 => (rounded_up(&shifted, exponent.saturating_sub(decimals), NANO), NANO),
            _ => capped(&parts, exponent.unsigned_abs()),
        };
        Ok(Self::Long(if parts.negative { -value } else { value }, power))
    }
}

/// A number, given by its digits and a power of ten, in units of a power of ten, rounded away from zero.
fn rounded_up(digits: &str, power: i32, unit: i32) -> BigInt {
    let finer = unit.saturating_sub(power);
    if finer <= 0 {
        return natural(digits) * ten_to(finer.unsigned_abs());
    }
    let (kept, dropped) = digits.split_at(digits.len().saturating_sub(finer as usize));
    natural(kept) + i32::from(dropped.bytes().any(|digit| digit != b'0'))
}

/// The number of digits: by halves, as reading them one after the other takes time with the square of their number.
fn natural(digits: &str) -> BigInt {
    const SHORT: usize = 2_000;
    if digits.len() <= SHORT {
        return digits.parse().unwrap_or_default();
    }
    let (high, low) = digits.split_at(digits.len() / 2);
    natural(high) * ten_to(low.len() as u32) + natural(low)
}

/// A number times a power of two, rounded up to billionths, and at most the largest int64; with its power of ten.
fn capped(parts: &Parts<'_>, exponent: u32) -> (BigInt, i32) {
    let most = (BigInt::from(i64::MAX), 0);
    if parts.numerator.len() > 19 {
        return most;
    }
    // Of decimals behind so many, whose power of two is a multiple, it matters only whether there are some.
    let decimals = parts.denominator.len().min(9 + 60) as i32;
    let digits = format!("{}{}", parts.numerator, parts.denominator);
    let value = rounded_up(&digits, -(parts.denominator.len() as i32), -decimals) << exponent;
    let value = rounded_up(&value.to_string(), -decimals, NANO);
    if value > &most.0 * ten_to(9) { most } else { (value, NANO) }
}

fn scaled_up(value: i64, power: u32) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    10_i64.checked_pow(power).and_then(|factor| value.checked_mul(factor))
}

fn short_sum((a, p): (i64, i32), (b, q): (i64, i32)) -> Option<Quantity> {
    match (a, b) {
        (_, 0) => Some(Quantity::Short(a, p)),
        (0, _) => Some(Quantity::Short(b, q)),
        _ => {
            let power = p.min(q);
            let sum = scaled_up(a, p.abs_diff(power))?.checked_add(scaled_up(b, q.abs_diff(power))?)?;
            Some(Quantity::Short(sum, power))
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, power) = self.long();
        write!(f, "{value}e{power}")
    }
}

struct Parts<'a> {
    negative: bool,
    numerator: &'a str,
    denominator: &'a str,
    suffix: &'a str,
    has_digits: bool,
}

impl<'a> Parts<'a> {
    /// The parts of a text, with the base and the exponent of its suffix.
    fn of(text: &'a str) -> Result<(Self, u32, i32), &'static str> {
        if text.is_empty() {
            return Err(FORMAT_WRONG);
        }
        let parts = Self::split(text)?;
        let (base, exponent) = interpret(parts.suffix).ok_or(SUFFIX)?;
        if exponent.unsigned_abs() > MAX_EXPONENT { Err(NUMERIC) } else { Ok((parts, base, exponent)) }
    }

    fn split(text: &'a str) -> Result<Self, &'static str> {
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let significant = unsigned.trim_start_matches('0');
        if significant.is_empty() {
            return Ok(Self { negative, numerator: "0", denominator: "", suffix: "", has_digits: true });
        }
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (numerator, rest) = significant.split_at(digits(significant));
        let (denominator, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits(rest)),
            None => ("", rest),
        };
        let letters = suffix.find(|c: char| !"eEinumkKMGTP".contains(c)).unwrap_or(suffix.len());
        let exponent = &suffix[letters..];
        if !exponent.strip_prefix(['+', '-']).unwrap_or(exponent).bytes().all(|b| b.is_ascii_digit()) {
            return Err(FORMAT_WRONG);
        }
        let has_digits = significant.len() < unsigned.len() || !numerator.is_empty() || !denominator.is_empty();
        let numerator = if numerator.is_empty() { "0" } else { numerator };
        Ok(Self { negative, numerator, denominator, suffix, has_digits })
    }
}

/// The base and the exponent that a suffix stands for.
fn interpret(suffix: &str) -> Option<(u32, i32)> {
    const DECIMAL: [(&str, i32); 10] =
        [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((10, *exponent));
    }
    if let Some(step) = BINARY.iter().position(|name| *name == suffix) {
        return Some((2, 10 * (step as i32 + 1)));
    }
    let exponent = suffix.strip_prefix(['e', 'E']).filter(|exponent| !exponent.is_empty())?;
    exponent.parse::<i64>().ok().map(|exponent| (10, exponent as i32))
}
