//! Names of time zones, judged as Go loads them.
//!
//! Follows `validateTimeZone` of `pkg/apis/batch/validation/validation.go` (v1.37.1) and `time.LoadLocation` (Go 1.26) with the zones that
//! Go has built in, which are recorded in `time_zones.txt`.

use crate::error::Errors;
use crate::registry::cursor::At;
use std::collections::HashSet;
use std::sync::LazyLock;

static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| include_str!("time_zones.txt").lines().collect());

/// The longest part of a name (`validTimeZoneCharacters`).
const LONGEST_PART: usize = 14;

/// Loads a zone (`LoadLocation`).
///
/// # Errors
/// Go's message, if there is none of that name.
pub(super) fn load(name: &str) -> Result<(), String> {
    match name {
        "" | "UTC" | "Local" => Ok(()),
        _ if name.contains("..") || name.starts_with(['/', '\\']) => Err("time: invalid location name".into()),
        _ if NAMES.contains(name) => Ok(()),
        _ => Err(format!("unknown time zone {name}")),
    }
}

/// Rules for `timeZone` (`validateTimeZone`).
pub(super) fn time_zone(zone: At<'_, '_>, errors: &mut Errors) {
    if !zone.is_set() {
        return;
    }
    let name = zone.text();
    if name.is_empty() {
        return zone.invalid("timeZone must be nil or non-empty string", errors);
    }
    if !name.split('/').all(is_part) {
        return zone.invalid(format!("unknown time zone {name}"), errors);
    }
    if name.eq_ignore_ascii_case("local") {
        zone.invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones", errors);
    }
    if let Err(why) = load(name) {
        zone.invalid(why, errors);
    }
}

fn is_part(part: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte);
    !matches!(part, "" | "." | "..")
        && !part.starts_with('-')
        && part.len() <= LONGEST_PART
        && part.bytes().all(is_allowed)
}
