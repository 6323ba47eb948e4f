//! Short numbers: an int64 times a power of ten.
//!
//! Follows `int64Amount` of `amount.go`, and `math.go` (v0.37.1).

use crate::big::Big;

/// `int64Amount`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Short {
    pub(crate) value: i64,
    pub(crate) power: i32,
}

/// A number times ten to a power; `None` if it overflows (`positiveScaleInt64`).
fn times_ten_to(value: i64, power: u32) -> Option<i64> {
    if value == 0 { Some(0) } else { value.checked_mul(10_i64.checked_pow(power)?) }
}

/// A number divided by ten to a power, rounded away from zero (`negativeScaleInt64`).
fn divided_by_ten_to(value: i64, power: u32) -> i64 {
    match 10_i64.checked_pow(power) {
        Some(divisor) => value / divisor + if value % divisor == 0 { 0 } else { value.signum() },
        None => value.signum(),
    }
}

/// Ten to a power, as Go has it from two tables (`math.Pow10`).
pub(crate) fn float_ten_to(power: i32) -> f64 {
    let entry = |power: i32| format!("1e{power}").parse::<f64>().unwrap_or(f64::NAN);
    match power {
        ..-323 => 0.0,
        -323..0 => entry(power / 32 * 32) / entry(-power % 32),
        0..=308 => entry(power / 32 * 32) * entry(power % 32),
        _ => f64::INFINITY,
    }
}

impl Short {
    pub(crate) fn big(self) -> Big {
        Big::new(self.value < 0, &self.value.unsigned_abs().to_string(), i64::from(self.power))
    }

    /// The sum, if it is short (`Add`).
    pub(crate) fn plus(self, other: Short) -> Option<Short> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let power = self.power.min(other.power);
        let in_units = |short: Short| times_ten_to(short.value, short.power.abs_diff(power));
        Some(Short { value: in_units(self)?.checked_add(in_units(other)?)?, power })
    }

    /// The number of units of a power of ten, rounded away from zero (`AsScaledInt64`). Of one that overflows usual distances leave the low
    /// bits, others nothing.
    pub(crate) fn scaled(self, power: i32) -> i64 {
        let distance = self.power.abs_diff(power);
        match self.power < power {
            true => divided_by_ten_to(self.value, distance),
            false => times_ten_to(self.value, distance).unwrap_or_else(|| match distance {
                1 | 2 | 3 | 6 | 9 if self.value != i64::MIN => self.value.wrapping_mul(10_i64.pow(distance)),
                _ => 0,
            }),
        }
    }

    /// The whole number, if its power of ten is one (`AsInt64`).
    pub(crate) fn whole(self) -> Option<i64> {
        times_ten_to(self.value, u32::try_from(self.power).ok()?)
    }
}
