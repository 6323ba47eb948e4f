//! The common cells of tables: names, ages, and durations for people.
//!
//! Ports `HumanDuration` of `k8s.io/apimachinery/pkg/util/duration` (v0.37.1).

use super::rules::Cell;
use crate::object::meta;
use crate::object::selector::LabelSelector;
use jiff::Timestamp;
use tree::Value;

/// The cells that all kinds have in the columns of these headings.
pub(super) const COMMON: &[(&str, Cell)] = &[
    ("Name", |object, _| meta::name(object).into()),
    ("Age", |object, now| since(meta::creation_timestamp(object), now).into()),
    ("Created At", |object, _| meta::creation_timestamp(object).into()),
];

/// A text, or its stand-in when empty.
pub(super) fn or<'a>(text: &'a str, stand_in: &'a str) -> &'a str {
    match text {
        "" => stand_in,
        text => text,
    }
}

/// A map of texts, such as labels, as one text (`FormatLabels`).
pub(super) fn text_map(map: &Value) -> String {
    let entries = map.as_object().into_iter().flatten();
    let texts: Vec<String> =
        entries.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    if texts.is_empty() { "<none>".into() } else { texts.join(",") }
}

/// A label selector in one text (`FormatLabelSelector`).
pub(super) fn label_selector(selector: Option<&Value>) -> String {
    let text = selector.map(|selector| LabelSelector::structured(selector).map(|selector| selector.to_string()));
    match text {
        None => "<none>".into(),
        Some(None) => "<error>".into(),
        Some(Some(text)) => or(&text, "<none>").into(),
    }
}

/// A boolean that may be unset (`printBoolPtr`).
pub(super) fn flag(value: Option<&Value>) -> &'static str {
    match value.and_then(Value::as_bool) {
        None => "<unset>",
        Some(true) => "True",
        Some(false) => "False",
    }
}

/// The time since a timestamp (`translateTimestampSince`).
pub(super) fn since(timestamp: &str, now: Timestamp) -> String {
    match timestamp.parse::<Timestamp>() {
        Ok(then) => human_duration(now.duration_since(then).as_secs()),
        Err(_) => "<unknown>".into(),
    }
}

/// `HumanDuration`: two or three significant figures of a number of seconds.
pub fn human_duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    /// The smaller unit is left out when it is zero.
    fn both(large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
        match small {
            0 => format!("{large}{large_unit}"),
            _ => format!("{large}{large_unit}{small}{small_unit}"),
        }
    }
    match seconds {
        ..-1 => "<invalid>".into(),
        // Clocks differ a little.
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => both(minutes, "m", seconds % 60, "s"),
        _ if minutes < 60 * 3 => format!("{minutes}m"),
        _ if hours < 8 => both(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => both(days, "d", hours % 24, "h"),
        _ if hours < 24 * 365 * 2 => format!("{days}d"),
        _ if hours < 24 * 365 * 8 => both(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let (minute, hour, day) = (60, 3600, 86400);
        let table = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (3 * minute + 5, "3m5s"),
            (10 * minute + 5, "10m"),
            (179 * minute + 59, "179m"),
            (3 * hour + 5 * minute, "3h5m"),
            (4 * hour, "4h"),
            (47 * hour, "47h"),
            (2 * day + 3 * hour, "2d3h"),
            (34 * day, "34d"),
            (740 * day, "2y10d"),
            (3 * 365 * day, "3y"),
            (9 * 365 * day + day, "9y"),
        ];
        for (seconds, text) in table {
            assert_eq!(human_duration(seconds), text);
        }
        assert_eq!(since("", Timestamp::UNIX_EPOCH), "<unknown>");
        assert_eq!(since("1969-12-31T23:59:50Z", Timestamp::UNIX_EPOCH), "10s");
    }
}
