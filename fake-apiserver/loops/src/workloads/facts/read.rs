//! Fields of objects by JSON pointers. What is absent, or of another type, reads as nothing.

use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use tree::Value;

/// A number, if it is there.
pub(crate) fn number(value: &Value, at: &str) -> Option<i64> {
    value.pointer(at)?.as_i64()
}

/// A number; 0 if it is absent.
pub(crate) fn int(value: &Value, at: &str) -> i64 {
    number(value, at).unwrap_or_default()
}

/// A text; empty if it is absent.
pub(crate) fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a flag is set.
pub(crate) fn flag(value: &Value, at: &str) -> bool {
    value.pointer(at).and_then(Value::as_bool).unwrap_or_default()
}

/// A list; empty if it is absent.
pub(crate) fn list<'v>(value: &'v Value, at: &str) -> &'v [Value] {
    value.pointer(at).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A time.
pub(crate) fn time(value: &Value, at: &str) -> Option<Timestamp> {
    value.pointer(at)?.as_str()?.parse().ok()
}

/// A time as objects have it: in whole seconds.
pub(crate) fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time after another one. Times beyond the last one are the last one.
pub(crate) fn after(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

/// How long it is until a time; nothing if it has come.
pub(crate) fn until(time: Timestamp, now: Timestamp) -> Option<Duration> {
    Duration::try_from(time.duration_since(now)).ok().filter(|left| !left.is_zero())
}

/// The sooner of two waits.
pub(crate) fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
