//! The parts of timestamps and durations.

use super::{Table, text};
use crate::value::time::{Civil, SECOND};
use crate::value::{Outcome, Timestamp, Value, fail, no_such_overload};

pub(super) const OVERLOADS: Table = &[
    ("timestamp_to_year", |args| part(args, |c, _| c.year)),
    ("timestamp_to_year_with_tz", |args| part(args, |c, _| c.year)),
    ("timestamp_to_month", |args| part(args, |c, _| c.month - 1)),
    ("timestamp_to_month_with_tz", |args| part(args, |c, _| c.month - 1)),
    ("timestamp_to_day_of_year", |args| part(args, |c, _| c.day_of_year)),
    ("timestamp_to_day_of_year_with_tz", |args| part(args, |c, _| c.day_of_year)),
    ("timestamp_to_day_of_month", |args| part(args, |c, _| c.day - 1)),
    ("timestamp_to_day_of_month_with_tz", |args| part(args, |c, _| c.day - 1)),
    ("timestamp_to_day_of_month_1_based", |args| part(args, |c, _| c.day)),
    ("timestamp_to_day_of_month_1_based_with_tz", |args| part(args, |c, _| c.day)),
    ("timestamp_to_day_of_week", |args| part(args, |c, _| c.weekday)),
    ("timestamp_to_day_of_week_with_tz", |args| part(args, |c, _| c.weekday)),
    ("timestamp_to_hours", |args| part(args, |c, _| c.hour)),
    ("timestamp_to_hours_with_tz", |args| part(args, |c, _| c.hour)),
    ("timestamp_to_minutes", |args| part(args, |c, _| c.minute)),
    ("timestamp_to_minutes_with_tz", |args| part(args, |c, _| c.minute)),
    ("timestamp_to_seconds", |args| part(args, |c, _| c.second)),
    ("timestamp_to_seconds_tz", |args| part(args, |c, _| c.second)),
    ("timestamp_to_milliseconds", |args| part(args, |_, at| i64::from(at.nanos() / 1_000_000))),
    ("timestamp_to_milliseconds_with_tz", |args| part(args, |_, at| i64::from(at.nanos() / 1_000_000))),
    ("duration_to_hours", |args| whole(args, 3600 * SECOND)),
    ("duration_to_minutes", |args| whole(args, 60 * SECOND)),
    ("duration_to_seconds", |args| whole(args, SECOND)),
    ("duration_to_milliseconds", |args| whole(args, 1_000_000)),
];

fn part(args: &[Value], part: fn(Civil, Timestamp) -> i64) -> Outcome {
    let Value::Timestamp(at) = &args[0] else { return no_such_overload() };
    let at = match args.get(1) {
        Some(zone) => in_zone(*at, text(zone)?)?,
        None => at.at_offset(0),
    };
    Ok(Value::Int(part(at.civil(), at)))
}

fn whole(args: &[Value], unit: i64) -> Outcome {
    let Value::Duration(nanos) = &args[0] else { return no_such_overload() };
    Ok(Value::Int(nanos / unit))
}

/// A timestamp in a time zone: `+01:00`, or a name such as `Europe/Berlin`.
fn in_zone(at: Timestamp, zone: &str) -> Outcome<Timestamp> {
    let Some((hours, minutes)) = zone.split_once(':') else { return in_named_zone(at, zone) };
    let read = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let valid = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        match valid.then(|| text.parse::<i64>().ok()).flatten() {
            Some(number) => Ok(number),
            None => {
                let why = if valid { "value out of range" } else { "invalid syntax" };
                fail(format!("strconv.Atoi: parsing {}: {why}", go_text::quote(text)))
            }
        }
    };
    let (hours, minutes) = (read(hours)?, read(minutes)?);
    let offset = if zone.starts_with('-') { hours * 60 - minutes } else { hours * 60 + minutes };
    Ok(at.at_offset(i32::try_from(offset.saturating_mul(60)).unwrap_or(0)))
}

fn in_named_zone(at: Timestamp, zone: &str) -> Outcome<Timestamp> {
    if zone.is_empty() || zone == "UTC" {
        return Ok(at.at_offset(0));
    }
    let found = jiff::tz::TimeZone::get(zone).ok().filter(|_| zone != "Local");
    let instant = jiff::Timestamp::new(at.seconds(), at.nanos().cast_signed());
    match (found, instant) {
        (Some(found), Ok(instant)) => Ok(at.at_offset(found.to_offset(instant).seconds())),
        _ => fail(format!("unknown time zone {zone}")),
    }
}
