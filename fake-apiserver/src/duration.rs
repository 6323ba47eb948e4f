//! Go's durations as flags and queries write them: `1h30m`, `250ms`.

use std::time::Duration;

const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Reads what `time.ParseDuration` reads; a negative duration counts as none at all. None if it is no duration.
pub fn parse(text: &str) -> Option<Duration> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        seconds += number * UNITS.iter().find(|(unit, _)| *unit == &rest[..end])?.1;
        rest = &rest[end..];
    }
    let seconds = if negative { 0.0 } else { seconds };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_reads() {
        let cases = [
            ("32s", Some(32.0)),
            ("1h30m", Some(5400.0)),
            ("250ms", Some(0.25)),
            ("1.5s", Some(1.5)),
            (".5s", Some(0.5)),
            ("0", Some(0.0)),
            ("-3s", Some(0.0)),
            ("abc", None),
            ("3", None),
            ("", None),
            ("s", None),
            ("1y", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).map(|duration| duration.as_secs_f64()), expected, "{text:?}");
        }
    }
}
