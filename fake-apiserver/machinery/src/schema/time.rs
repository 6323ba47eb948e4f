//! `metav1.Time` and `metav1.MicroTime`: read as Go's `time.Parse` reads them, written in UTC.
//!
//! Go takes more than RFC 3339 allows (one-digit hours, a comma before the fraction, offsets of 24 hours), and its
//! errors name the element of the layout that it could not find; both are kept.

use std::fmt::Write;

/// The two layouts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Layout {
    /// `metav1.Time`: `time.RFC3339`; fractions are read and dropped.
    Seconds,
    /// `metav1.MicroTime`: `RFC3339Micro`; six digits, no more and no fewer.
    Micros,
}

const SECONDS_OF_DAY: i64 = 24 * 60 * 60;

/// Go's zero time, the first second of year 1, as a Unix time.
const ZERO: i64 = -62_135_596_800;

/// Unix times of years 0 to 9999, beyond which protobuf may not go either.
const RANGE: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

impl Layout {
    /// Reads a time and writes it in UTC; none if it is Go's zero time. The error is Go's text.
    pub(super) fn parse(self, text: &str) -> Result<Option<String>, String> {
        let (seconds, nanos) = self.unix(text)?;
        Ok(self.format(seconds, nanos))
    }

    /// Reads a time: Unix seconds, and nanoseconds. The error is Go's text.
    pub(super) fn unix(self, text: &str) -> Result<(i64, i64), String> {
        Parser { layout: self, text: text.as_bytes(), rest: text.as_bytes() }.time()
    }

    /// Writes a time given as protobuf has it; none if it is Go's zero time.
    pub(super) fn format_unix(self, seconds: i64, nanos: i64) -> Result<Option<String>, String> {
        let (seconds, nanos) = match self {
            Layout::Seconds => (seconds, 0),
            Layout::Micros => {
                let nanos = nanos / 1000 * 1000;
                (seconds.saturating_add(nanos.div_euclid(1_000_000_000)), nanos.rem_euclid(1_000_000_000))
            }
        };
        if !RANGE.contains(&seconds) {
            return Err(format!("a time of {seconds} seconds is outside of years 0 to 9999"));
        }
        Ok(self.format(seconds, nanos))
    }

    fn format(self, seconds: i64, nanos: i64) -> Option<String> {
        if seconds == ZERO && nanos == 0 {
            return None;
        }
        let (year, month, day) = civil(seconds.div_euclid(SECONDS_OF_DAY));
        let second = seconds.rem_euclid(SECONDS_OF_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let sign = if year < 0 { "-" } else { "" };
        let mut text = format!("{sign}{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", year.abs());
        if self == Layout::Micros {
            write!(text, ".{:06}", nanos / 1000).expect("writing to a String cannot fail");
        }
        text.push('Z');
        Some(text)
    }

    fn text(self) -> &'static str {
        match self {
            Layout::Seconds => "2006-01-02T15:04:05Z07:00",
            Layout::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// `time.parse` of Go 1.26 for the two layouts.
struct Parser<'a> {
    layout: Layout,
    text: &'a [u8],
    rest: &'a [u8],
}

impl Parser<'_> {
    /// Unix seconds, and nanoseconds.
    fn time(&mut self) -> Result<(i64, i64), String> {
        let year = self.element("2006", Self::year)?;
        self.separator("-")?;
        let month = self.element("01", Self::two_digits)?;
        self.in_range("month", (1..=12).contains(&month))?;
        self.separator("-")?;
        let day = self.element("02", Self::two_digits)?;
        self.separator("T")?;
        let hour = self.element("15", Self::one_or_two_digits)?;
        self.in_range("hour", hour < 24)?;
        self.separator(":")?;
        let minute = self.element("04", Self::two_digits)?;
        self.in_range("minute", minute < 60)?;
        self.separator(":")?;
        let second = self.element("05", Self::two_digits)?;
        self.in_range("second", second < 60)?;
        let nanos = match self.layout {
            Layout::Seconds => self.any_fraction(),
            Layout::Micros => self.element(".000000", Self::six_digit_fraction)?,
        };
        let offset = self.zone()?;
        if !self.rest.is_empty() {
            return Err(self.complaint(&format!(": extra text: {}", quote(self.rest))));
        }
        self.in_range("day", (1..=days_in(year, month)).contains(&day))?;
        let days = days_from_civil(year, month, day);
        Ok((days * SECONDS_OF_DAY + hour * 3600 + minute * 60 + second - offset, nanos))
    }

    /// Reads one element with `read`, which takes what it understands off `rest`.
    fn element(&mut self, name: &str, read: impl Fn(&mut Self) -> Option<i64>) -> Result<i64, String> {
        let hold = self.rest;
        read(self).ok_or_else(|| self.cannot_parse(hold, name))
    }

    fn separator(&mut self, text: &str) -> Result<(), String> {
        match self.rest.strip_prefix(text.as_bytes()) {
            Some(rest) => self.rest = rest,
            None => return Err(self.cannot_parse(self.rest, text)),
        }
        Ok(())
    }

    fn year(&mut self) -> Option<i64> {
        self.number(4)
    }

    fn two_digits(&mut self) -> Option<i64> {
        self.number(2)
    }

    fn one_or_two_digits(&mut self) -> Option<i64> {
        self.number(2).or_else(|| self.number(1))
    }

    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        let value = decimal(number)?;
        self.rest = rest;
        Some(value)
    }

    /// `.123` or `,123`, of any length; nanoseconds.
    fn any_fraction(&mut self) -> i64 {
        let Some(digits) = self.rest.strip_prefix(b".").or_else(|| self.rest.strip_prefix(b",")) else { return 0 };
        let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return 0;
        }
        self.rest = &digits[length..];
        let kept = length.min(9);
        decimal(&digits[..kept]).unwrap_or(0) * power_of_ten(9 - kept)
    }

    fn six_digit_fraction(&mut self) -> Option<i64> {
        let (fraction, rest) = self.rest.split_at_checked(7)?;
        if !matches!(fraction[0], b'.' | b',') {
            return None;
        }
        let micros = decimal(&fraction[1..])?;
        self.rest = rest;
        Some(micros * 1000)
    }

    /// `Z` or `+07:00`; seconds.
    fn zone(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix(b"Z") {
            self.rest = rest;
            return Ok(0);
        }
        let hold = self.rest;
        let bad = || self.cannot_parse(hold, "Z07:00");
        let ([sign, h1, h2, b':', m1, m2], rest) = hold.split_first_chunk().ok_or_else(bad)? else {
            return Err(bad());
        };
        let hours = decimal(&[*h1, *h2]);
        let minutes = hours.and_then(|_| decimal(&[*m1, *m2]));
        self.in_range("time zone offset hour", hours.unwrap_or(0) <= 24)?;
        self.in_range("time zone offset minute", minutes.unwrap_or(0) <= 60)?;
        let (Some(hours), Some(minutes), b'+' | b'-') = (hours, minutes, sign) else { return Err(bad()) };
        self.rest = rest;
        let offset = (hours * 60 + minutes) * 60;
        Ok(if *sign == b'-' { -offset } else { offset })
    }

    fn in_range(&self, what: &str, holds: bool) -> Result<(), String> {
        if holds { Ok(()) } else { Err(self.complaint(&format!(": {what} out of range"))) }
    }

    fn cannot_parse(&self, found: &[u8], element: &str) -> String {
        let layout = self.layout.text();
        self.complaint(&format!(" as \"{layout}\": cannot parse {} as \"{element}\"", quote(found)))
    }

    fn complaint(&self, what: &str) -> String {
        format!("parsing time {}{what}", quote(self.text))
    }
}

/// `time.quote`, which shows whatever is not printable ASCII as bytes.
fn quote(text: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
            b' '..=0x7f => quoted.push(char::from(*byte)),
            _ => quoted.push_str(&format!("\\x{byte:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

/// The number that only digits make.
fn decimal(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}

fn power_of_ten(exponent: usize) -> i64 {
    (0..exponent).fold(1, |power, _| power * 10)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01. Years are counted from March, so that the leap day ends them.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// The inverse of [`days_from_civil`]: year, month, day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::Value;

    #[test]
    fn texts_are_those_of_go() {
        for (layout, vectors) in [
            (Layout::Seconds, include_str!("../../../../fixtures/schema/times.jsonl")),
            (Layout::Micros, include_str!("../../../../fixtures/schema/microtimes.jsonl")),
        ] {
            for line in vectors.lines() {
                let vector: Value = serde_json::from_str(line).expect("a line is a vector");
                let printed = match layout.parse(vector["input"].as_str().unwrap_or_default()) {
                    Ok(time) => ("output", Value::from(time).to_string()),
                    Err(error) => ("error", error),
                };
                assert_eq!(vector[printed.0], printed.1, "{line}");
            }
        }
    }
}
