//! Go's durations in flags and queries: `1h30m`, `250ms`.

use crate::schema::quote;
use std::time::Duration;

/// The units, with the nanoseconds of each.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3600 * 1_000_000_000),
];
/// The most nanoseconds of a negative duration; the limit of a positive one is one less.
const MOST: u64 = 1 << 63;

/// Parses a duration as `time.ParseDuration` of Go 1.26; a negative one counts as zero.
///
/// # Errors
/// Go's message, if it is not a duration, or is longer than 2^63-1 ns.
pub fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (digits, after) = leading_digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), leading_digits);
        if digits.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let whole: u64 = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| invalid())? };
        if whole > MOST {
            return Err(invalid());
        }
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let unit = unit(text, &after[..end])?;
        rest = &after[end..];
        let whole = whole.checked_mul(unit).ok_or_else(invalid)?;
        let sum = total.checked_add(whole).and_then(|sum| sum.checked_add(part_of(fraction, unit)));
        total = sum.filter(|sum| *sum <= MOST).ok_or_else(invalid)?;
    }
    match negative {
        true => Ok(Duration::ZERO),
        false if total == MOST => Err(invalid()),
        false => Ok(Duration::from_nanos(total)),
    }
}

/// Prints a duration as `Duration.String` of Go 1.26; the longest one that it has, if it is longer.
pub fn print(duration: Duration) -> String {
    kubernetes_cel::go_duration(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

fn leading_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The nanoseconds of the decimals of a unit. As in Go, digits beyond 63 bits are ignored.
fn part_of(decimals: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1.0);
    for digit in decimals.bytes() {
        let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|next| *next <= MOST) else { break };
        (value, scale) = (next, scale * 10.0);
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// The nanoseconds of a unit in the duration `text`.
fn unit(text: &str, unit: &str) -> Result<u64, String> {
    if unit.is_empty() {
        return Err(format!("time: missing unit in duration {}", quote(text)));
    }
    let known = UNITS.iter().find(|(known, _)| *known == unit);
    known
        .map(|(_, nanoseconds)| *nanoseconds)
        .ok_or_else(|| format!("time: unknown unit {} in duration {}", quote(unit), quote(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_reads() {
        let cases = [
            ("32s", 32.0),
            ("1h30m", 5400.0),
            ("250ms", 0.25),
            ("1.5s", 1.5),
            (".5s", 0.5),
            ("0", 0.0),
            ("-3s", 0.0),
            ("9223372036s", 9_223_372_036.0),
            ("-9223372036854775808ns", 0.0),
            ("1.99999999999999999999s", 2.0),
            ("2\u{3bc}s", 2e-6),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).map(|duration| duration.as_secs_f64()), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_go_prints() {
        for text in [
            "0s",
            "1ns",
            "1.5\u{b5}s",
            "250ms",
            "1.000001ms",
            "1s",
            "1.5s",
            "59.999999999s",
            "1m0s",
            "1h0m0.1s",
            "25h30m1s",
        ] {
            assert_eq!(parse(text).map(print).as_deref(), Ok(text));
        }
    }

    /// The messages of Go 1.26.
    #[test]
    fn what_go_refuses() {
        let cases = [
            ("abc", "time: invalid duration \"abc\""),
            ("", "time: invalid duration \"\""),
            ("s", "time: invalid duration \"s\""),
            (".s", "time: invalid duration \".s\""),
            ("3", "time: missing unit in duration \"3\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
            ("2562048h", "time: invalid duration \"2562048h\""),
            ("2562047h48m", "time: invalid duration \"2562047h48m\""),
            ("-2562048h", "time: invalid duration \"-2562048h\""),
            ("99999999999999999999s", "time: invalid duration \"99999999999999999999s\""),
            ("1h-2m", "time: unknown unit \"h-\" in duration \"1h-2m\""),
            ("1y", "time: unknown unit \"y\" in duration \"1y\""),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Err(expected.to_owned()));
        }
    }
}
