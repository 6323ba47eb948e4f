//! Go's durations as flags and queries write them: `1h30m`, `250ms`.

use crate::schema::quote;
use std::time::Duration;

const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Parses as `time.ParseDuration` does; a negative duration counts as zero.
///
/// # Errors
/// Go's text for an invalid duration.
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
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| invalid())?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        seconds += number * unit(text, &rest[..end])?;
        rest = &rest[end..];
    }
    let seconds = if negative { 0.0 } else { seconds };
    Duration::try_from_secs_f64(seconds).map_err(|_| invalid())
}

/// Seconds of a unit in the duration `text`.
fn unit(text: &str, unit: &str) -> Result<f64, String> {
    if unit.is_empty() {
        return Err(format!("time: missing unit in duration {}", quote(text)));
    }
    let known = UNITS.iter().find(|(known, _)| *known == unit);
    known
        .map(|(_, seconds)| *seconds)
        .ok_or_else(|| format!("time: unknown unit {} in duration {}", quote(unit), quote(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_reads() {
        let cases =
            [("32s", 32.0), ("1h30m", 5400.0), ("250ms", 0.25), ("1.5s", 1.5), (".5s", 0.5), ("0", 0.0), ("-3s", 0.0)];
        for (text, expected) in cases {
            assert_eq!(parse(text).map(|duration| duration.as_secs_f64()), Ok(expected), "{text:?}");
        }
    }

    /// Texts as Go 1.26 gives them.
    #[test]
    fn what_go_refuses() {
        let cases = [
            ("abc", "time: invalid duration \"abc\""),
            ("", "time: invalid duration \"\""),
            ("s", "time: invalid duration \"s\""),
            (".s", "time: invalid duration \".s\""),
            ("3", "time: missing unit in duration \"3\""),
            ("1y", "time: unknown unit \"y\" in duration \"1y\""),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Err(expected.to_owned()));
        }
    }
}
