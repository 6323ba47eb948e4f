//! Data with a schema, as expressions see it.
//!
//! Port of `pkg/cel/common/valuesunstructured.go` of k8s.io/apiserver v0.37.1.

use super::{Parts, Schema, escape, unescape};
use crate::library::Opaque;
use crate::value::{List, ListKind, Map, Member, Object, Timestamp, Value, time};
use std::sync::Arc;
use tree::Value as Json;

impl Schema {
    /// The value of data. Where the data is not as the schema says, to look at it is an error.
    #[must_use]
    pub fn value(&self, data: &Json) -> Value {
        self.part(data, &Parts::Whole)
    }

    /// The value of data, for expressions that read no more than these parts of it: the rest is not copied, and is not there.
    #[must_use]
    pub fn part(&self, data: &Json, parts: &Parts) -> Value {
        if data.is_null() {
            return match self.nullable {
                true => Value::Null,
                false => fault("invalid data, got null for schema with nullable=false"),
            };
        }
        if self.int_or_string {
            return match data {
                Json::String(text) => Value::from(text.as_str()),
                Json::Number(number) if number.is_i64() => Value::Int(number.as_i64().unwrap_or_default()),
                _ => fault("invalid data, expected XIntOrString value to be either a string or integer"),
            };
        }
        match self.kind.as_str() {
            "object" => match data {
                Json::Object(map) => self.object(map, parts),
                _ => fault("invalid data, expected a map for the provided schema with type=object"),
            },
            "array" => match (data, &self.items) {
                (Json::Array(items), Some(schema)) => match parts.is_nothing() {
                    true => self.list(&[], schema),
                    false => self.list(items, schema),
                },
                (Json::Array(_), None) => fault("invalid array type, expected Items with a non-empty Schema"),
                _ => fault("invalid data, expected an array for the provided schema with type=array"),
            },
            "string" => match data {
                Json::String(text) => self.string(text),
                other => fault(format!("invalid data, expected string, got {}", go_type(other))),
            },
            "number" => match data {
                Json::Number(number) => Value::Double(number.as_f64().unwrap_or_default()),
                other => fault(format!("invalid data, expected float, got {}", go_type(other))),
            },
            "integer" => match data.as_i64() {
                Some(number) => Value::Int(number),
                None => fault(format!("invalid data, expected int, got {}", go_type(data))),
            },
            "boolean" => match data {
                Json::Bool(value) => Value::Bool(*value),
                other => fault(format!("invalid data, expected bool, got {}", go_type(other))),
            },
            _ if self.preserve_unknown => Value::Opaque(Opaque::Preserved(Arc::new(data.clone()))),
            kind => fault(format!(
                "invalid type, expected object, array, number, integer, boolean or string, or no type with \
                 x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got {kind}"
            )),
        }
    }

    fn object(&self, map: &tree::Map, parts: &Parts) -> Value {
        let with_meta;
        let schema = if self.embedded_resource {
            with_meta = self.with_object_meta();
            &with_meta
        } else {
            self
        };
        let has_properties = !schema.properties.is_empty();
        let of_field = |name: &str| match has_properties {
            true => schema.properties.get(name),
            false => schema.additional.as_deref(),
        };
        let member = |name: &str, data: &Json, parts: &Parts| {
            let member = match of_field(name) {
                Some(schema) => Member::Known { value: schema.part(data, parts), is_null: data.is_null() },
                None => Member::Unknown(data.clone()),
            };
            (Arc::from(name), member)
        };
        let fields = match parts {
            Parts::Whole => map.iter().map(|(name, data)| member(name, data, parts)).collect(),
            Parts::Fields(fields) => {
                let read = fields.iter().filter_map(|(name, parts)| {
                    let name = if has_properties { unescape(name)? } else { name.clone() };
                    Some(member(&name, map.get(&name)?, parts))
                });
                read.collect()
            }
        };
        let object = Object { fields, has_properties };
        Value::Map(Map::Object(Arc::new(object)))
    }

    fn list(&self, items: &[Json], schema: &Schema) -> Value {
        let kind = match self.list_type.as_str() {
            "map" => {
                let keys = self.list_keys.iter().map(|key| escape(key).unwrap_or_else(|| key.clone()));
                ListKind::Keyed(keys.collect())
            }
            "set" => ListKind::Set,
            "atomic" | "" => ListKind::Atomic,
            other => {
                return fault(format!(
                    "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got {other}"
                ));
            }
        };
        Value::List(List::with_kind(items.iter().map(|item| schema.value(item)).collect(), kind))
    }

    fn string(&self, text: &str) -> Value {
        match self.format.as_str() {
            "duration" => match parse_duration(text) {
                Some(nanos) => Value::Duration(nanos),
                None => fault(format!("Invalid duration {text}: unable to parse {text} as duration")),
            },
            "date" => match Timestamp::parse_day(text) {
                Some(at) => Value::Timestamp(at),
                None => fault(format!("Invalid date formatted string {text}: {}", unparsed(text, "2006-01-02"))),
            },
            "date-time" => match parse_date_time(text) {
                Some(at) => Value::Timestamp(at),
                None => {
                    let layout = "2006-01-02T15:04:05";
                    fault(format!("Invalid date-time formatted string {text}: {}", unparsed(text, layout)))
                }
            },
            "byte" => match decode_base64(text) {
                Ok(bytes) => Value::from_bytes(bytes),
                Err(at) => {
                    fault(format!("Invalid byte formatted string {text}: illegal base64 data at input byte {at}"))
                }
            },
            _ => Value::from(text),
        }
    }
}

fn fault(message: impl Into<Arc<str>>) -> Value {
    Value::Fault(message.into())
}

fn unparsed(text: &str, layout: &str) -> String {
    let quoted = go_text::quote;
    format!("parsing time {} as {}: cannot parse {} as \"2006\"", quoted(text), quoted(layout), quoted(text))
}

/// Go's type of data, for messages.
fn go_type(data: &Json) -> &'static str {
    match data {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) | Json::Raw(_) => "map[string]interface {}",
    }
}

/// A duration of Go's syntax, or of numbers with units such as `3 days`.
fn parse_duration(text: &str) -> Option<i64> {
    if let Some(nanos) = time::parse_duration(text) {
        return Some(nanos);
    }
    let mut total: Option<i64> = None;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let after = digits[end..].trim_start();
        let word_end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let unit = unit(&after[..word_end].to_lowercase());
        if let Some(unit) = unit {
            total = Some(total.unwrap_or(0).wrapping_add(digits[..end].parse::<i64>().ok()?.wrapping_mul(unit)));
        }
        rest = &after[word_end..];
    }
    total
}

fn unit(word: &str) -> Option<i64> {
    let hour = 3600 * time::SECOND;
    Some(match word {
        "ns" | "nano" => 1,
        "us" | "µs" | "micro" => 1000,
        "ms" | "milli" => 1_000_000,
        "s" | "sec" => time::SECOND,
        "m" | "min" => 60 * time::SECOND,
        "h" | "hr" | "hour" => hour,
        "d" | "day" => 24 * hour,
        "w" | "wk" | "week" => 7 * 24 * hour,
        word if word.starts_with("nano") => 1,
        word if word.starts_with("micro") => 1000,
        word if word.starts_with("milli") => 1_000_000,
        word if word.starts_with("sec") => time::SECOND,
        word if word.starts_with("min") => 60 * time::SECOND,
        word if word.starts_with("hour") => hour,
        word if word.starts_with("day") => 24 * hour,
        word if word.starts_with("week") => 7 * 24 * hour,
        _ => return None,
    })
}

fn parse_date_time(text: &str) -> Option<Timestamp> {
    if text.is_empty() {
        return Some(Timestamp::from_unix(0, 0));
    }
    Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}Z")))
}

/// Decodes base64 as Go does, or tells the place at which it cannot.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = text.bytes().enumerate().filter(|(_, b)| !matches!(b, b'\n' | b'\r'));
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    loop {
        let (mut bits, mut count) = (0_u32, 0);
        while count < 4 {
            let Some((at, byte)) = bytes.next() else {
                return if count == 0 { Ok(out) } else { Err(text.len() - count) };
            };
            match digit(byte) {
                Some(digit) => bits |= digit << (18 - 6 * count),
                None if byte == b'=' && count >= 2 => break,
                None => return Err(at),
            }
            count += 1;
        }
        if count == 2 {
            match bytes.next() {
                Some((_, b'=')) => {}
                Some((at, _)) => return Err(at - 1),
                None => return Err(text.len()),
            }
        }
        out.extend(&bits.to_be_bytes()[1..count]);
        if count < 4 {
            return bytes.next().map_or(Ok(out), |(at, _)| Err(at));
        }
    }
}

fn digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}
