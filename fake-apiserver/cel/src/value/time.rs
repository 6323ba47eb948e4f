//! Timestamps and durations, with Go's texts.

use std::fmt::Write;

/// The seconds of the years 1 to 9999.
pub(crate) const MIN_SECONDS: i64 = -62_135_596_800;
pub(crate) const MAX_SECONDS: i64 = 253_402_300_799;

pub(crate) const SECOND: i64 = 1_000_000_000;

/// A point in time, in a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
    /// Seconds east of Greenwich.
    offset: i32,
}

/// The parts of a timestamp, in its time zone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// From 0.
    pub(crate) day_of_year: i64,
    /// From 0, which is Sunday.
    pub(crate) weekday: i64,
}

impl Timestamp {
    /// The timestamp of seconds since 1970, in UTC.
    #[must_use]
    pub fn from_unix(seconds: i64, nanos: u32) -> Self {
        Self { seconds, nanos, offset: 0 }
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after the second.
    #[must_use]
    pub fn nanos(&self) -> u32 {
        self.nanos
    }

    pub(crate) fn at_offset(self, offset: i32) -> Self {
        Self { offset, ..self }
    }

    pub(crate) fn instant(&self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    pub(crate) fn same_instant(&self, other: &Self) -> bool {
        self.instant() == other.instant()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.instant() == (MIN_SECONDS, 0)
    }

    pub(crate) fn civil(&self) -> Civil {
        let local = self.seconds + i64::from(self.offset);
        let (days, rest) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let (year, month, day) = civil_of(days);
        Civil {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            day_of_year: days - days_of(year, 1, 1),
            weekday: (days + 4).rem_euclid(7),
        }
    }

    /// The timestamp in RFC 3339, with as many decimals as needed.
    #[must_use]
    pub fn to_rfc3339(&self) -> String {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil();
        let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        self.write_decimals(&mut text);
        if self.offset == 0 {
            text.push('Z');
        } else {
            let (sign, offset) = if self.offset < 0 { ('-', -self.offset) } else { ('+', self.offset) };
            let _ = write!(text, "{sign}{:02}:{:02}", offset / 3600, offset / 60 % 60);
        }
        text
    }

    fn write_decimals(&self, text: &mut String) {
        if self.nanos > 0 {
            let decimals = format!("{:09}", self.nanos);
            let _ = write!(text, ".{}", decimals.trim_end_matches('0'));
        }
    }

    /// The text of Go's `Time.String`.
    pub(crate) fn to_go_string(self) -> String {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil();
        let mut text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
        self.write_decimals(&mut text);
        let (sign, offset) = if self.offset < 0 { ('-', -self.offset) } else { ('+', self.offset) };
        let zone = format!("{sign}{:02}{:02}", offset / 3600, offset / 60 % 60);
        let _ = write!(text, " {zone} {}", if self.offset == 0 { "UTC" } else { &zone });
        text
    }

    /// The timestamp a duration later.
    pub(crate) fn plus(self, nanos: i64) -> Option<Self> {
        let total = i128::from(self.seconds) * i128::from(SECOND) + i128::from(self.nanos) + i128::from(nanos);
        let seconds = i64::try_from(total.div_euclid(i128::from(SECOND))).ok()?;
        let nanos = total.rem_euclid(i128::from(SECOND)) as u32;
        (MIN_SECONDS..=MAX_SECONDS).contains(&seconds).then_some(Self { seconds, nanos, ..self })
    }

    /// The nanoseconds since another timestamp, if no step of the calculation overflows an `i64`.
    pub(crate) fn since(self, other: Self) -> Option<i64> {
        let seconds = self.seconds.checked_sub(other.seconds)?.checked_mul(SECOND)?;
        seconds.checked_add(i64::from(self.nanos) - i64::from(other.nanos))
    }

    /// Parses RFC 3339, as Go's `time.Parse`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let rest = rest.strip_prefix('T')?;
        let (clock, rest) = rest.split_at_checked(8)?;
        let days = parse_date(date)?;
        let seconds = parse_clock(clock)?;
        let (nanos, rest) = parse_decimals(rest)?;
        let offset = parse_zone(rest)?;
        Some(Self { seconds: days * 86_400 + seconds - i64::from(offset), nanos, offset })
    }

    /// Parses a date.
    pub(crate) fn parse_day(text: &str) -> Option<Self> {
        parse_date(text).map(|days| Self::from_unix(days * 86_400, 0))
    }
}

fn digits(text: &str, range: std::ops::Range<usize>) -> Option<i64> {
    let digits = text.get(range)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn parse_date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if text.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(text, 0..4)?, digits(text, 5..7)?, digits(text, 8..10)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=last).contains(&day).then(|| days_of(year, month, day))
}

fn parse_clock(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes[2] != b':' || bytes[5] != b':' {
        return None;
    }
    let (hour, minute, second) = (digits(text, 0..2)?, digits(text, 3..5)?, digits(text, 6..8)?);
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

fn parse_decimals(text: &str) -> Option<(u32, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if end == 0 {
        return None;
    }
    let nanos: String = rest[..end].chars().chain("000000000".chars()).take(9).collect();
    Some((nanos.parse().ok()?, &rest[end..]))
}

fn parse_zone(text: &str) -> Option<i32> {
    if text == "Z" {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if text.len() != 6 || text.as_bytes()[3] != b':' {
        return None;
    }
    let (hours, minutes) = (digits(text, 1..3)?, digits(text, 4..6)?);
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60) as i32)
}

/// The days from 1970 to a date.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Parses a duration such as `1h30m`, as Go's `time.ParseDuration`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let whole: u64 = if whole_end == 0 { 0 } else { rest[..whole_end].parse().ok()? };
        let after = &rest[whole_end..];
        let (decimals, after) = match after.strip_prefix('.') {
            Some(tail) => {
                let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
                (&tail[..end], &tail[end..])
            }
            None => ("", after),
        };
        if whole_end == 0 && decimals.is_empty() {
            return None;
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let unit: u64 = match &after[..end] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let mut value = whole.checked_mul(unit).filter(|value| *value <= 1 << 63)?;
        if !decimals.is_empty() {
            let (mut fraction, mut scale) = (0_u64, 1.0_f64);
            for digit in decimals.bytes() {
                let next = fraction.checked_mul(10).and_then(|f| f.checked_add(u64::from(digit - b'0')));
                let Some(next) = next.filter(|f| *f <= 1 << 63) else { break };
                fraction = next;
                scale *= 10.0;
            }
            value = value.checked_add((fraction as f64 * (unit as f64 / scale)) as u64)?;
        }
        total = total.checked_add(value).filter(|total| *total <= 1 << 63)?;
        rest = &after[end..];
    }
    match negative {
        true => Some((total as i64).wrapping_neg()),
        false => i64::try_from(total).ok(),
    }
}

/// The seconds of a duration, with as many decimals as needed and an `s`.
pub(crate) fn seconds_text(nanos: i64) -> String {
    format!("{}s", seconds_of(nanos))
}

pub(crate) fn seconds_of(nanos: i64) -> f64 {
    (nanos / SECOND) as f64 + (nanos % SECOND) as f64 / 1e9
}

/// The text of Go's `Duration.String`.
pub fn go_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let all = nanos.unsigned_abs();
    let scaled = |unit: u64, decimals: usize| {
        let text = format!("{}.{:0decimals$}", all / unit, all % unit);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let text = match all {
        0 => return "0s".to_owned(),
        1..1000 => format!("{all}ns"),
        1000..1_000_000 => format!("{}µs", scaled(1000, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", scaled(1_000_000, 6)),
        _ => {
            let (minutes, rest) = (all / 60_000_000_000, all % 60_000_000_000);
            let seconds = format!("{}.{:09}", rest / 1_000_000_000, rest % 1_000_000_000);
            let seconds = seconds.trim_end_matches('0').trim_end_matches('.').to_owned();
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{text}")
}
