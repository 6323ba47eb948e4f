//! Go's durations as flags and queries write them: `1h30m`, `250ms`.

use std::time::Duration;

const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Reads what `time.ParseDuration` reads; a negative duration counts as none at all.
///
/// # Errors
/// Go's text for what is no duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    let no = |why: &str| format!("time: {why} duration {text:?}");
    let invalid = || no("invalid");
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
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| invalid())?;
        rest = &rest[end..];
        let (unit, behind) = rest.split_at(rest.find(is_digit).unwrap_or(rest.len()));
        if unit.is_empty() {
            return Err(no("missing unit in"));
        }
        let seconds_of_unit = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| seconds);
        seconds += number * seconds_of_unit.ok_or_else(|| no(&format!("unknown unit {unit:?} in")))?;
        rest = behind;
    }
    let seconds = if negative { 0.0 } else { seconds };
    Duration::try_from_secs_f64(seconds).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_reads() {
        let cases = [
            ("32s", Ok(32.0)),
            ("1h30m", Ok(5400.0)),
            ("250ms", Ok(0.25)),
            ("1.5s", Ok(1.5)),
            (".5s", Ok(0.5)),
            ("0", Ok(0.0)),
            ("-3s", Ok(0.0)),
            ("abc", Err(r#"time: invalid duration "abc""#)),
            ("3", Err(r#"time: missing unit in duration "3""#)),
            ("", Err(r#"time: invalid duration """#)),
            ("s", Err(r#"time: invalid duration "s""#)),
            ("1y", Err(r#"time: unknown unit "y" in duration "1y""#)),
        ];
        for (text, expected) in cases {
            let read = parse(text).map(|duration| duration.as_secs_f64());
            assert_eq!(read, expected.map_err(str::to_string), "{text:?}");
        }
    }
}
