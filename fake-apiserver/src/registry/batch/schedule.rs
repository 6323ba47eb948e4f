//! Schedules of cron jobs: `*/5 8-18 * * mon-fri`, `@hourly`, `@every 90m`. Nothing runs by them here, they are only judged.
//!
//! Follows `ParseStandard` of `github.com/robfig/cron/v3/parser.go` (v3.0.1), as `pkg/util/parsers/parsers.go` of Kubernetes
//! (v1.37.1) calls it.

use super::time_zone;
use crate::duration;
use crate::schema::quote;

/// The values of a field: the least, the greatest, and names for some, in order.
struct Bounds {
    least: u64,
    greatest: u64,
    names: &'static [&'static str],
}

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The fields of a schedule, in order.
const FIELDS: [Bounds; 5] = [
    Bounds { least: 0, greatest: 59, names: &[] },
    Bounds { least: 0, greatest: 23, names: &[] },
    Bounds { least: 1, greatest: 31, names: &[] },
    Bounds { least: 1, greatest: 12, names: MONTHS },
    Bounds { least: 0, greatest: 6, names: DAYS },
];

const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Finds the first error in a schedule that is not empty.
///
/// # Errors
/// The parser's message.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let schedule = match ["TZ=", "CRON_TZ="].iter().find_map(|prefix| schedule.strip_prefix(prefix)) {
        Some(rest) => after_zone(rest)?,
        None => schedule,
    };
    if schedule.starts_with('@') {
        return descriptor(schedule);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    for (field, bounds) in fields.iter().zip(&FIELDS) {
        field.split(',').filter(|one| !one.is_empty()).try_for_each(|one| range(one, bounds))?;
    }
    Ok(())
}

/// The schedule behind the time zone with which `rest` begins. Without a blank the parser panics.
fn after_zone(rest: &str) -> Result<&str, String> {
    let Some((zone, behind)) = rest.split_once(' ') else {
        return Err("invalid schedule format: runtime error: slice bounds out of range [:-1]".into());
    };
    time_zone::load(zone).map_err(|why| format!("provided bad location {zone}: {why}"))?;
    Ok(behind.trim())
}

/// `parseDescriptor`.
fn descriptor(text: &str) -> Result<(), String> {
    if DESCRIPTORS.contains(&text) {
        return Ok(());
    }
    match text.strip_prefix("@every ") {
        Some(every) => {
            let duration = duration::parse(every);
            duration.map(drop).map_err(|why| format!("failed to parse duration {text}: {why}"))
        }
        None => Err(format!("unrecognized descriptor: {text}")),
    }
}

/// `getRange`.
fn range(text: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] => (bounds.least, bounds.greatest),
        [one] => {
            let one = number_or_name(one, bounds)?;
            (one, one)
        }
        [first, last] => (number_or_name(first, bounds)?, number_or_name(last, bounds)?),
        [first, ..] => {
            number_or_name(first, bounds)?;
            return Err(format!("too many hyphens: {text}"));
        }
        [] => (bounds.least, bounds.greatest),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => number(step)?,
        _ => return Err(format!("too many slashes: {text}")),
    };
    if parts.len() == 2 && ends.len() == 1 {
        end = bounds.greatest;
    }
    let Bounds { least, greatest, .. } = bounds;
    if start < *least {
        return Err(format!("beginning of range ({start}) below minimum ({least}): {text}"));
    }
    if end > *greatest {
        return Err(format!("end of range ({end}) above maximum ({greatest}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    match step {
        0 => Err(format!("step of range should be a positive number: {text}")),
        _ => Ok(()),
    }
}

/// `parseIntOrName`.
fn number_or_name(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let lower = text.to_lowercase();
    match bounds.names.iter().position(|name| *name == lower) {
        Some(index) => Ok(bounds.least + index as u64),
        None => number(text),
    }
}

/// `mustParseInt`, with the errors of `strconv.Atoi`.
fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let failed = |why: &str| format!("failed to parse int from {text}: strconv.Atoi: parsing {}: {why}", quote(text));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(failed("invalid syntax"));
    }
    match text.parse::<i64>() {
        Err(_) => Err(failed("value out of range")),
        Ok(number) => u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_judged_as_by_the_parser_in_go() {
        let table = [
            ("* * * * *", None),
            ("*/5,1-3/2 8-18 1,15 JAN-dec ?", None),
            ("  0 0 * * sun ", None),
            (", * * * *", None),
            ("@every 1h30m", None),
            ("TZ=Europe/Berlin 0 0 * * *", None),
            ("* * * *", Some("expected exactly 5 fields, found 4: [* * * *]")),
            ("60 * * * *", Some("end of range (60) above maximum (59): 60")),
            ("* * 0 * *", Some("beginning of range (0) below minimum (1): 0")),
            ("5-3 * * * *", Some("beginning of range (5) beyond end of range (3): 5-3")),
            ("*/0 * * * *", Some("step of range should be a positive number: */0")),
            ("1-2-3 * * * *", Some("too many hyphens: 1-2-3")),
            ("1/2/3 * * * *", Some("too many slashes: 1/2/3")),
            ("x * * * *", Some("failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax")),
            ("@sometimes", Some("unrecognized descriptor: @sometimes")),
            ("@every x", Some("failed to parse duration @every x: time: invalid duration \"x\"")),
            ("TZ=Mars 0 0 * * *", Some("provided bad location Mars: unknown time zone Mars")),
        ];
        for (schedule, expected) in table {
            assert_eq!(check(schedule).err().as_deref(), expected, "{schedule}");
        }
    }
}
