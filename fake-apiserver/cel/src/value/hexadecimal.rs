//! Hexadecimal numbers of floating point, such as `0x1.8p-3`, and underscores between digits: `ParseFloat` of Go 1.26
//! (`strconv/atof.go`, `strconv/atoi.go`).

use std::borrow::Cow;

/// A number without the underscores between its digits; `None` if one stands elsewhere.
pub(super) fn without_underscores(unsigned: &str) -> Option<Cow<'_, str>> {
    if !unsigned.contains('_') {
        return Some(Cow::Borrowed(unsigned));
    }
    let bytes = unsigned.as_bytes();
    let has_prefix = matches!(bytes, [b'0', b'b' | b'B' | b'o' | b'O' | b'x' | b'X', ..]);
    let is_hexadecimal = matches!(bytes, [b'0', b'x' | b'X', ..]);
    let is_digit = |at: usize| match bytes.get(at) {
        Some(b'0'..=b'9') => true,
        Some(b'a'..=b'f' | b'A'..=b'F') => is_hexadecimal,
        _ => false,
    };
    let is_between = |at: usize| is_digit(at + 1) && (has_prefix && at == 2 || at.checked_sub(1).is_some_and(is_digit));
    let fits = bytes.iter().enumerate().all(|(at, byte)| *byte != b'_' || is_between(at));
    fits.then(|| Cow::Owned(unsigned.replace('_', "")))
}

/// The number after `0x`: a mantissa and a power of two. `None` if they are malformed, or the number is too large.
pub(super) fn parse(text: &str) -> Option<f64> {
    // As many digits as fit; of the others only matters whether one is not zero.
    const KEPT: u32 = 30;
    let (mantissa, power) = text.split_once(['p', 'P'])?;
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let (mut digits, mut count, mut exponent) = (0_u128, 0, power_of_two(power)?);
    exponent -= 4 * i64::try_from(decimals.len()).ok()?;
    for letter in whole.chars().chain(decimals.chars()) {
        let digit = u128::from(letter.to_digit(16)?);
        if count < KEPT {
            digits = digits * 16 + digit;
            count += u32::from(digits > 0);
        } else {
            digits |= u128::from(digit > 0);
            exponent += 4;
        }
    }
    Some(rounded(digits, exponent)).filter(|value| value.is_finite())
}

/// Go reads no more digits of a power once it is 10,000.
fn power_of_two(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let more = |power, byte| if power < 10_000 { 10 * power + i64::from(byte - b'0') } else { power };
    let power = digits.bytes().fold(0, more);
    Some(if text.starts_with('-') { -power } else { power })
}

/// The double nearest to `mantissa` times a power of two, of two that are equally near the even one.
fn rounded(mantissa: u128, exponent: i64) -> f64 {
    const HALF: u128 = 1 << 127;
    if mantissa == 0 {
        return 0.0;
    }
    let shift = mantissa.leading_zeros();
    let (mantissa, highest) = (mantissa << shift, exponent - i64::from(shift) + 127);
    if highest > 1023 {
        return f64::INFINITY;
    }
    // Of subnormal numbers fewer bits are kept.
    let Ok(bits) = u32::try_from(53 - (-1022 - highest).max(0)) else { return 0.0 };
    let kept = mantissa.checked_shr(128 - bits).unwrap_or(0) as u64;
    let rest = mantissa << bits;
    let kept = kept + u64::from(rest > HALF || rest == HALF && kept % 2 == 1);
    let lowest = highest + 1 - i64::from(bits);
    let unit = if lowest >= -1022 { ((lowest + 1023) as u64) << 52 } else { 1 << (lowest + 1074) };
    kept as f64 * f64::from_bits(unit)
}
