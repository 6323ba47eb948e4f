//! The quality of a clause of an `Accept` header: `strconv.ParseFloat` of Go 1.26, which also reads hexadecimal numbers and underscores.

/// A quality, rounded to 32 bits; 0 for what Go does not read. To Go, NaN has no sign.
pub(super) fn quality(text: &str) -> f32 {
    let has_underscores = text.contains('_');
    if has_underscores && !separates_digits(text) {
        return 0.0;
    }
    let text = &*text.replace('_', "");
    let (sign, magnitude) = match text.strip_prefix(['+', '-']) {
        Some(magnitude) if text.starts_with('-') => (-1.0, magnitude),
        Some(magnitude) => (1.0, magnitude),
        None => (1.0, text),
    };
    if let Some(digits) = magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
        return hexadecimal(digits).map_or(0.0, |value| sign * value);
    }
    match text.parse() {
        Ok(quality) if f32::is_nan(quality) && text.len() > magnitude.len() => 0.0,
        Ok(quality) => quality,
        Err(_) => 0.0,
    }
}

/// A number of hexadecimal digits and, behind `p`, an exponent of two, without a sign (`readFloat`, `atofHex`).
fn hexadecimal(text: &str) -> Option<f32> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let clamped = |digits: &str| digits.parse().unwrap_or(i64::from(i32::MAX)).min(i32::MAX.into());
    let exponent = if exponent.starts_with('-') { -clamped(unsigned) } else { clamped(unsigned) };
    let (mut mantissa, mut shift) = (0_u64, -4 * i64::try_from(fraction.len()).ok()?);
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        if mantissa < 1 << 48 {
            mantissa = mantissa << 4 | digit;
        } else {
            // The last bit stands for all that follow, which only decide how the number is rounded.
            mantissa |= u64::from(digit > 0);
            shift += 4;
        }
    }
    // Powers beyond these have no other result.
    let power = i32::try_from((exponent + shift).clamp(-900, 900)).ok()?;
    Some((mantissa as f64 * 2_f64.powi(power)) as f32)
}

/// Whether each underscore stands between digits, or behind the prefix of a base (`underscoreOK`).
fn separates_digits(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text).to_ascii_lowercase();
    let (prefix, rest) =
        text.split_at_checked(2).filter(|(prefix, _)| ["0b", "0o", "0x"].contains(prefix)).unwrap_or(("", &text));
    let is_digit = |byte: u8| byte.is_ascii_digit() || (prefix == "0x" && byte.is_ascii_hexdigit());
    let mut before = if prefix.is_empty() { b'.' } else { b'0' };
    for byte in rest.bytes() {
        let is_wrong = match byte {
            b'_' => !is_digit(before),
            _ => before == b'_' && !is_digit(byte),
        };
        if is_wrong {
            return false;
        }
        before = byte;
    }
    before != b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualities_are_read_as_in_go() {
        for (text, expected) in [
            ("0.5", 0.5),
            ("1_0.2_5", 10.25),
            ("1__0", 0.0),
            ("_1", 0.0),
            ("1_", 0.0),
            ("1_e1", 0.0),
            ("0x1p-1", 0.5),
            ("0X1.8P+1", 3.0),
            ("-0x.8p1", -1.0),
            ("0x_1p0_1", 2.0),
            ("0x1", 0.0),
            ("0x1p", 0.0),
            ("0xp1", 0.0),
            ("0x1.8.0p1", 0.0),
            ("0x1g", 0.0),
            // Halfway between two numbers, and a little more.
            ("0x1.000001p0", 1.0),
            ("0x1.00000100000000000000001p0", 1.000_000_1),
            ("0x1p-149", 1e-45),
            ("0x1p-99999999999999999999", 0.0),
            ("0x1p200", f32::INFINITY),
            ("+nan", 0.0),
            ("x", 0.0),
        ] {
            assert_eq!(quality(text), expected, "{text}");
        }
        assert!(quality("nan").is_nan());
    }
}
