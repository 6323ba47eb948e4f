//! Schedules, and the times that they stand for.
//!
//! Ports `parser.go` and `spec.go` of `github.com/robfig/cron/v3` (v3.0.1). What is wrong with a schedule, the server says before it is
//! stored; here it is only refused.

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Unit, Zoned};

/// When something is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Schedule {
    /// At all times whose fields match.
    Fields(Box<Fields>),
    /// Again and again after so long.
    Every(SignedDuration),
}

/// Sets of minutes, hours, days of the month, months and days of the week, as bits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fields {
    zone: TimeZone,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether any day of the month, or of the week, will do, so that the other decides.
    any_day: bool,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Schedule {
    /// The schedule of a text in a time zone, unless the text names another one.
    pub(super) fn parse(text: &str, zone: &TimeZone) -> Option<Schedule> {
        if let Some(rest) = ["TZ=", "CRON_TZ="].iter().find_map(|prefix| text.strip_prefix(prefix)) {
            let (name, rest) = rest.split_once(' ')?;
            return Schedule::parse(rest.trim(), &TimeZone::get(name).ok()?);
        }
        if let Some(every) = text.strip_prefix("@every ") {
            return Some(Schedule::Every(duration(every)?));
        }
        let text = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            text => text,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else { return None };
        let is_any = |field: &str| field.split(',').any(|part| matches!(part.split('/').next(), Some("*" | "?")));
        Some(Schedule::Fields(Box::new(Fields {
            zone: zone.clone(),
            minutes: bits(minutes, 0, 59, &[])?,
            hours: bits(hours, 0, 23, &[])?,
            days: bits(days, 1, 31, &[])?,
            months: bits(months, 1, 12, &MONTHS)?,
            weekdays: bits(weekdays, 0, 6, &DAYS)?,
            any_day: is_any(days) || is_any(weekdays),
        })))
    }

    /// The next time after a time; `None` if there is none within five years.
    pub(super) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Schedule::Every(every) => {
                let second = Timestamp::from_second(after.as_second()).ok()?;
                second.checked_add(*every).ok()
            }
            Schedule::Fields(fields) => fields.next(after),
        }
    }
}

impl Fields {
    fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let first = after.to_zoned(self.zone.clone());
        let last_year = first.year() + 5;
        let mut time = first.round(jiff::ZonedRound::new().smallest(Unit::Minute).mode(jiff::RoundMode::Floor)).ok()?;
        time = time.checked_add(1.minute()).ok()?;
        while time.year() <= last_year {
            time = if !has(self.months, time.month()) {
                time.first_of_month().ok()?.checked_add(1.month()).ok()?.start_of_day().ok()?
            } else if !self.has_day(&time) {
                time.tomorrow().ok()?.start_of_day().ok()?
            } else if !has(self.hours, time.hour()) {
                let left = 60 - i64::from(time.minute());
                time.checked_add(left.minutes()).ok()?
            } else if !has(self.minutes, time.minute()) {
                time.checked_add(1.minute()).ok()?
            } else {
                return Some(time.timestamp());
            };
        }
        None
    }

    fn has_day(&self, time: &Zoned) -> bool {
        let day = has(self.days, time.day());
        let weekday = has(self.weekdays, Weekday::to_sunday_zero_offset(time.weekday()));
        if self.any_day { day && weekday } else { day || weekday }
    }
}

fn has(bits: u64, value: i8) -> bool {
    u32::try_from(value).is_ok_and(|value| bits & (1 << value) != 0)
}

fn bits(field: &str, least: u64, greatest: u64, names: &[&str]) -> Option<u64> {
    let mut bits = 0;
    for part in field.split(',').filter(|part| !part.is_empty()) {
        let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
        let value = |text: &str| {
            let name = names.iter().position(|name| name.eq_ignore_ascii_case(text));
            name.map_or_else(|| text.parse().ok(), |index| Some(least + index as u64))
        };
        let (first, last) = match (range, range.split_once('-')) {
            ("*" | "?", _) => (least, greatest),
            (_, Some((first, last))) => (value(first)?, value(last)?),
            (one, None) if step.is_some() => (value(one)?, greatest),
            (one, None) => (value(one)?, value(one)?),
        };
        let step = step.map_or(Some(1), |step| step.parse::<usize>().ok().filter(|step| *step > 0))?;
        if first < least || last > greatest || first > last {
            return None;
        }
        (first..=last).step_by(step).for_each(|value| bits |= 1 << value);
    }
    Some(bits)
}

/// A duration as Go writes it, in whole seconds and at least one.
fn duration(text: &str) -> Option<SignedDuration> {
    let (mut total, mut left) = (0.0, text);
    while !left.is_empty() {
        let (number, rest) = left.split_at(left.find(|c: char| c.is_ascii_alphabetic() || c == 'µ')?);
        let (unit, rest) = rest.split_at(rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len()));
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * seconds;
        left = rest;
    }
    let duration = SignedDuration::try_from_secs_f64(total.trunc()).ok()?;
    Some(duration.max(SignedDuration::from_secs(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(schedule: &str, zone: &str, after: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let next = Schedule::parse(schedule, &zone).unwrap().next(after.parse().unwrap());
        next.map_or_else(|| "never".to_owned(), |next| next.to_string())
    }

    #[test]
    fn the_next_time_is_found() {
        for (schedule, zone, after, expected) in [
            ("* * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
            ("*/15 8-18 * * mon-fri", "UTC", "2026-01-02T18:45:10Z", "2026-01-05T08:00:00Z"),
            ("0 0 1,15 * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-15T00:00:00Z"),
            ("0 0 13 * fri", "UTC", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"),
            ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"),
            ("0 12 * * *", "America/New_York", "2026-07-01T00:00:00Z", "2026-07-01T16:00:00Z"),
            ("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", "never"),
            ("@daily", "UTC", "2026-01-01T10:00:00Z", "2026-01-02T00:00:00Z"),
            ("@every 1h30m", "UTC", "2026-01-01T10:00:00.7Z", "2026-01-01T11:30:00Z"),
            ("TZ=Asia/Tokyo 0 9 * * *", "UTC", "2026-01-01T10:00:00Z", "2026-01-02T00:00:00Z"),
        ] {
            assert_eq!(next(schedule, zone, after), expected, "{schedule}");
        }
    }
}
