//! Metrics as messages of the type `io.prometheus.client.MetricFamily` (`metrics.proto` of github.com/prometheus/client_model, v0.6.2), in
//! binary, each behind its length, or as text.

use super::families::{Family, Histogram, Kind, Metric, Value};
use go_text::float;
use jiff::Timestamp;
use std::fmt::Write as _;

/// The wire types of protobuf.
const VARINT: u64 = 0;
const DOUBLE: u64 = 1;
const LENGTH: u64 = 2;

/// The fields of a message: number, name, value.
type Message = Vec<(u64, &'static str, Field)>;

/// The value of a field.
enum Field {
    Text(String),
    Number(u64),
    /// A number of an enumeration, with its name.
    Named(u64, &'static str),
    Double(f64),
    Message(Message),
}

/// Writes a family in binary, behind its length.
pub(super) fn write_delimited(bytes: &mut Vec<u8>, family: &Family, since: Timestamp) {
    let message = encoded(&message(family, since));
    varint(bytes, message.len() as u64);
    bytes.extend(message);
}

/// Writes a family as text: on one line, or on lines of their own the fields.
pub(super) fn write_text(text: &mut String, family: &Family, since: Timestamp, is_compact: bool) {
    let message = message(family, since);
    match is_compact {
        true => text.push_str(&compact(&message)),
        false => lines(text, &message, 0),
    }
    text.push('\n');
}

fn message(family: &Family, since: Timestamp) -> Message {
    let type_ = match family.kind {
        Kind::Counter => Field::Named(0, "COUNTER"),
        Kind::Gauge => Field::Named(1, "GAUGE"),
        Kind::Histogram => Field::Named(4, "HISTOGRAM"),
    };
    let head = [
        (1, "name", Field::Text(family.name.clone())),
        (2, "help", Field::Text(family.help.clone())),
        (3, "type", type_),
    ];
    let created = (!family.is_read).then_some(since);
    let metrics =
        family.metrics.iter().map(|metric| (4, "metric", Field::Message(of_metric(metric, family.kind, created))));
    head.into_iter().chain(metrics).collect()
}

fn of_metric(metric: &Metric, kind: Kind, created: Option<Timestamp>) -> Message {
    let label = |(name, value): &(String, String)| {
        (
            1,
            "label",
            Field::Message(vec![(1, "name", Field::Text(name.clone())), (2, "value", Field::Text(value.clone()))]),
        )
    };
    let mut message: Message = metric.labels.iter().map(label).collect();
    message.push(match &metric.value {
        Value::Histogram(histogram) => (7, "histogram", Field::Message(of_histogram(histogram, created))),
        Value::Number(value) if kind == Kind::Gauge => {
            (2, "gauge", Field::Message(vec![(1, "value", Field::Double(*value))]))
        }
        Value::Number(value) => {
            let mut counter = vec![(1, "value", Field::Double(*value))];
            counter.extend(created.map(|created| (3, "created_timestamp", of_time(created))));
            (3, "counter", Field::Message(counter))
        }
    });
    message
}

fn of_histogram(histogram: &Histogram, created: Option<Timestamp>) -> Message {
    let bucket = |(bound, count): &(f64, u64)| {
        let fields = vec![(1, "cumulative_count", Field::Number(*count)), (2, "upper_bound", Field::Double(*bound))];
        (3, "bucket", Field::Message(fields))
    };
    let head = [(1, "sample_count", Field::Number(histogram.total)), (2, "sample_sum", Field::Double(histogram.sum))];
    let created = created.map(|created| (15, "created_timestamp", of_time(created)));
    head.into_iter().chain(histogram.buckets.iter().map(bucket)).chain(created).collect()
}

/// A `google.protobuf.Timestamp`, without fields that are zero.
fn of_time(time: Timestamp) -> Field {
    let parts =
        [(1, "seconds", time.as_second().unsigned_abs()), (2, "nanos", time.subsec_nanosecond().unsigned_abs().into())];
    let parts = parts.into_iter().filter(|(.., value)| *value != 0);
    Field::Message(parts.map(|(number, name, value)| (number, name, Field::Number(value))).collect())
}

fn encoded(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    let part = |bytes: &mut Vec<u8>, number: u64, part: &[u8]| {
        varint(bytes, number << 3 | LENGTH);
        varint(bytes, part.len() as u64);
        bytes.extend(part);
    };
    for (number, _, field) in message {
        match field {
            Field::Text(text) => part(&mut bytes, *number, text.as_bytes()),
            Field::Message(inner) => part(&mut bytes, *number, &encoded(inner)),
            Field::Number(value) | Field::Named(value, _) => {
                varint(&mut bytes, number << 3 | VARINT);
                varint(&mut bytes, *value);
            }
            Field::Double(value) => {
                varint(&mut bytes, number << 3 | DOUBLE);
                bytes.extend(value.to_le_bytes());
            }
        }
    }
    bytes
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The text of a value.
fn scalar(field: &Field) -> String {
    match field {
        Field::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
        Field::Number(value) => value.to_string(),
        Field::Named(_, name) => (*name).to_owned(),
        Field::Double(value) => float(*value),
        Field::Message(message) => compact(message),
    }
}

fn compact(message: &Message) -> String {
    let field = |(_, name, field): &(u64, &str, Field)| match field {
        Field::Message(inner) => format!("{name}:{{{}}}", compact(inner)),
        field => format!("{name}:{}", scalar(field)),
    };
    message.iter().map(field).collect::<Vec<_>>().join(" ")
}

fn lines(text: &mut String, message: &Message, depth: usize) {
    let indent = "  ".repeat(depth);
    for (_, name, field) in message {
        match field {
            Field::Message(inner) => {
                writeln!(text, "{indent}{name}: {{").expect("writing to a String cannot fail");
                lines(text, inner, depth + 1);
                writeln!(text, "{indent}}}").expect("writing to a String cannot fail");
            }
            field => writeln!(text, "{indent}{name}: {}", scalar(field)).expect("writing to a String cannot fail"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::families::Families;
    use super::*;
    use std::collections::HashSet;

    fn family() -> Family {
        let mut families = Families::default();
        families.family("a_seconds", "Help \"x\".", Kind::Histogram);
        families.histogram(&[("verb", "GET")], &[0.5], &[1, 2], 3.0);
        families.finish(&HashSet::new()).next().expect("a family")
    }

    /// Fields of each message in the order of their numbers, zeros of optional ones among them, as Go's encoder has them.
    #[test]
    fn messages_are_those_of_the_protocol() {
        let since: Timestamp = "2026-11-21T04:24:34.5Z".parse().expect("a time");
        let mut bytes = Vec::new();
        write_delimited(&mut bytes, &family(), since);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = "4f 0a09615f7365636f6e6473 120948656c70202278222e 1804 2235 \
                        0a0b0a04766572621203474554 3a26 0803 110000000000000840 1a0b0801 11000000000000e03f \
                        7a0c0882ba84d806 1080cab5ee01";
        assert_eq!(hex, expected.replace(' ', ""));
    }

    #[test]
    fn messages_as_text() {
        let since: Timestamp = "2026-11-21T04:24:34Z".parse().expect("a time");
        let mut text = String::new();
        write_text(&mut text, &family(), since, true);
        let expected = "name:\"a_seconds\" help:\"Help \\\"x\\\".\" type:HISTOGRAM metric:{label:{name:\"verb\" value:\"GET\"} \
                        histogram:{sample_count:3 sample_sum:3 bucket:{cumulative_count:1 upper_bound:0.5} \
                        created_timestamp:{seconds:1795235074}}}\n";
        assert_eq!(text, expected);
        text.clear();
        write_text(&mut text, &family(), since, false);
        assert!(text.starts_with("name: \"a_seconds\"\nhelp: \"Help \\\"x\\\".\"\ntype: HISTOGRAM\nmetric: {\n  label: {\n    name: \"verb\"\n"));
        assert!(text.ends_with("    created_timestamp: {\n      seconds: 1795235074\n    }\n  }\n}\n\n"));
    }
}
