//! Decimal numbers of any size.
//!
//! In place of `inf.Dec` (gopkg.in/inf.v0 v0.9.1) and of `scaledValue` of `scale_int.go` (v0.37.1). Every operation takes time that is
//! linear in the digits that its operands have, whatever their powers of ten.

use std::cmp::Ordering;

/// The zeros that a calculation inserts into a number at most.
const MOST_ZEROS: usize = 10_000;

/// Digits times a power of ten. The digits end in no zero, which goes into the power; zero has none.
#[derive(Debug, Clone)]
pub(crate) struct Big {
    negative: bool,
    /// Values 0 to 9, the least significant first.
    digits: Vec<u8>,
    power: i64,
}

impl Big {
    /// A number of decimal digits, the most significant first.
    pub(crate) fn new(negative: bool, digits: &str, power: i64) -> Big {
        let digits = digits.trim_start_matches('0').bytes().rev().map(|digit| digit - b'0').collect();
        Big { negative, digits, power }.normalized()
    }

    /// The largest int64 (`maxAllowed`).
    pub(crate) fn most() -> Big {
        Big::new(false, &i64::MAX.to_string(), 0)
    }

    fn normalized(mut self) -> Big {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        self.power += zeros as i64;
        self
    }

    pub(crate) fn sign(&self) -> Ordering {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => Ordering::Equal,
            (false, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
        }
    }

    pub(crate) fn negated(self) -> Big {
        Big { negative: !self.negative, ..self }
    }

    /// The power of ten above the most significant digit.
    fn top(&self) -> i64 {
        self.power + self.digits.len() as i64
    }

    /// The digit at a power of ten.
    fn digit(&self, power: i64) -> u8 {
        usize::try_from(power - self.power).ok().and_then(|place| self.digits.get(place)).copied().unwrap_or(0)
    }

    fn cmp_magnitude(&self, other: &Big) -> Ordering {
        let empty = other.digits.is_empty().cmp(&self.digits.is_empty());
        let tops = || if self.digits.is_empty() { Ordering::Equal } else { self.top().cmp(&other.top()) };
        // Without zeros at their ends, the longer one is greater if all digits of the shorter one are equal.
        empty.then_with(tops).then_with(|| self.digits.iter().rev().cmp(other.digits.iter().rev()))
    }

    pub(crate) fn plus(&self, other: &Big) -> Big {
        if self.digits.is_empty() || other.digits.is_empty() {
            return if self.digits.is_empty() { other.clone() } else { self.clone() };
        }
        let (larger, smaller) = if self.cmp_magnitude(other).is_ge() { (self, other) } else { (other, self) };
        let least = larger.power - MOST_ZEROS as i64;
        if smaller.top() < least {
            let grain = Big { negative: smaller.negative, digits: vec![1], power: least };
            return larger.combined(&grain);
        }
        larger.combined(smaller)
    }

    /// The sum with a number that is not larger.
    fn combined(&self, smaller: &Big) -> Big {
        let power = self.power.min(smaller.power);
        let is_sum = self.negative == smaller.negative;
        let mut digits = Vec::with_capacity(usize::try_from(self.top() - power).unwrap_or_default() + 1);
        let mut carry = 0_i8;
        for place in power..self.top() {
            let (own, other) = (self.digit(place) as i8, smaller.digit(place) as i8);
            let digit = if is_sum { own + other + carry } else { own - other + carry };
            carry = digit.div_euclid(10);
            digits.push(digit.rem_euclid(10) as u8);
        }
        digits.extend((carry > 0).then_some(1));
        Big { negative: self.negative, digits, power }.normalized()
    }

    /// The product with a number of at most 60 bits.
    pub(crate) fn times(mut self, factor: u64) -> Big {
        let mut carry = 0;
        for digit in &mut self.digits {
            let product = u64::from(*digit) * factor + carry;
            (*digit, carry) = ((product % 10) as u8, product / 10);
        }
        while carry > 0 {
            self.digits.push((carry % 10) as u8);
            carry /= 10;
        }
        self.normalized()
    }

    /// The number rounded to a multiple of a power of ten, away from zero.
    pub(crate) fn rounded_up(mut self, power: i32) -> Big {
        let power = i64::from(power);
        if self.power >= power || self.digits.is_empty() {
            return self;
        }
        let dropped = usize::try_from(power - self.power).unwrap_or(usize::MAX).min(self.digits.len());
        self.digits.drain(..dropped);
        let one = Big { negative: self.negative, digits: vec![1], power };
        match self.digits.is_empty() {
            true => one,
            false => Big { power, ..self }.combined(&one),
        }
    }

    /// The low 64 bits of the magnitude in units of a power of ten, without its fraction, and whether there is one.
    fn low_bits(&self, unit: i64) -> (u64, bool) {
        let fraction = usize::try_from(unit - self.power).unwrap_or(0).min(self.digits.len());
        let digits = self.digits[fraction..].iter().rev();
        let low = digits.fold(0_u64, |low, digit| low.wrapping_mul(10).wrapping_add(u64::from(*digit)));
        // Ten to the 64 has 64 zeros in binary, too.
        let zeros = u32::try_from(self.power - unit).unwrap_or(if self.power < unit { 0 } else { u32::MAX });
        let low = if zeros < 64 { low.wrapping_mul(10_u64.wrapping_pow(zeros)) } else { 0 };
        (low, fraction > 0)
    }

    /// `scaledValue`, with its overflows, of an integer in units of a power of ten.
    pub(crate) fn scaled(&self, unit: i32, power: i32) -> i64 {
        let signed = |low: u64| if self.negative { (low as i64).wrapping_neg() } else { low as i64 };
        let unscaled = signed(self.low_bits(i64::from(unit)).0);
        let distance = i64::from(power) - i64::from(unit);
        if distance < 0 {
            // What processors make of a floating-point number that is too large.
            let factor = u32::try_from(-distance).ok().and_then(|distance| 10_i64.checked_pow(distance));
            return unscaled.wrapping_mul(factor.unwrap_or(i64::MIN));
        }
        let is_short = *self < Big { power: i64::from(unit), ..Big::most() };
        if distance < 19 && is_short {
            let divisor = 10_i64.pow(distance as u32);
            return unscaled / divisor + i64::from(unscaled % divisor != 0);
        }
        let (low, has_fraction) = self.low_bits(i64::from(power));
        signed(low).wrapping_add(i64::from(has_fraction && !self.negative))
    }

    /// The nearest floating-point number of units of a power of ten.
    pub(crate) fn in_units_of(&self, unit: i32) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0".to_owned() } else { self.shown() };
        format!("{sign}{digits}e{}", self.power - i64::from(unit)).parse().unwrap_or(f64::NAN)
    }

    /// Whether the magnitude is at least a number.
    pub(crate) fn is_at_least(&self, least: u32) -> bool {
        self.cmp_magnitude(&Big::new(false, &least.to_string(), 0)).is_ge()
    }

    /// The digits.
    pub(crate) fn shown(&self) -> String {
        self.digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
    }

    /// The power of ten of the digits.
    pub(crate) fn power(&self) -> i64 {
        self.power
    }

    /// The magnitude divided by 1024 as often as that leaves no remainder, and how often; `None` if it has a fraction, or too many zeros.
    pub(crate) fn in_powers_of_1024(&self) -> Option<(String, usize)> {
        let zeros = usize::try_from(self.power).ok().filter(|zeros| *zeros <= MOST_ZEROS)?;
        // A power of ten has as many factors of two.
        let mut digits: Vec<u8> = self.digits.iter().rev().copied().chain(std::iter::repeat_n(0, zeros)).collect();
        let mut times = 0;
        loop {
            let mut remainder = 0_u32;
            let quotient: Vec<u8> = digits
                .iter()
                .map(|digit| {
                    let dividend = remainder * 10 + u32::from(*digit);
                    remainder = dividend % 1024;
                    (dividend / 1024) as u8
                })
                .collect();
            if remainder != 0 || digits.is_empty() {
                break;
            }
            digits = quotient.into_iter().skip_while(|digit| *digit == 0).collect();
            times += 1;
        }
        Some((digits.into_iter().map(|digit| char::from(b'0' + digit)).collect(), times))
    }
}

impl PartialEq for Big {
    fn eq(&self, other: &Big) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Big {}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Big) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| match self.negative {
            true => other.cmp_magnitude(self),
            false => self.cmp_magnitude(other),
        })
    }
}
