//! Conversions of values to other types.

use super::{Outcome, Timestamp, Value, fail, hexadecimal, number, time};
use crate::types::Type;

impl Value {
    /// The value converted to another type.
    ///
    /// # Errors
    /// If the conversion does not exist, or the value is out of range or malformed.
    pub(crate) fn convert(&self, to: &Type) -> Outcome {
        if let Type::Type(_) = to {
            return Ok(Value::Type(self.runtime_type()));
        }
        Ok(match (self, to) {
            (Self::Bool(_), Type::Bool)
            | (Self::Int(_), Type::Int)
            | (Self::Uint(_), Type::Uint)
            | (Self::Double(_), Type::Double)
            | (Self::String(_), Type::String)
            | (Self::Bytes(_), Type::Bytes)
            | (Self::Timestamp(_), Type::Timestamp)
            | (Self::Duration(_), Type::Duration)
            | (Self::List(_), Type::List(_))
            | (Self::Map(_), Type::Map(..)) => self.clone(),
            (Self::Null, Type::String) => Value::from("null"),
            (Self::Bool(value), Type::String) => Value::from(value.to_string()),
            (Self::Int(value), Type::String) => Value::from(value.to_string()),
            (Self::Uint(value), Type::String) => Value::from(value.to_string()),
            (Self::Double(value), Type::String) => Value::from(number::general(*value)),
            (Self::Type(t), Type::String) => Value::from(t.name()),
            (Self::Duration(nanos), Type::String) => Value::from(time::seconds_text(*nanos)),
            (Self::Timestamp(at), Type::String) => Value::from(at.to_rfc3339()),
            (Self::Bytes(bytes), Type::String) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::from(text),
                Err(_) => return fail("invalid UTF-8 in bytes, cannot convert to string"),
            },
            (Self::Int(value), Type::Uint) => match u64::try_from(*value) {
                Ok(value) => Value::Uint(value),
                Err(_) => return fail("unsigned integer overflow"),
            },
            (Self::Uint(value), Type::Int) => match i64::try_from(*value) {
                Ok(value) => Value::Int(value),
                Err(_) => return fail("integer overflow"),
            },
            (Self::Int(value), Type::Double) => Value::Double(*value as f64),
            (Self::Uint(value), Type::Double) => Value::Double(*value as f64),
            (Self::Double(value), Type::Int) => match number::to_int(*value) {
                Some(value) => Value::Int(value),
                None => return fail("integer overflow"),
            },
            (Self::Double(value), Type::Uint) => match number::to_uint(*value) {
                Some(value) => Value::Uint(value),
                None => return fail("unsigned integer overflow"),
            },
            (Self::Int(value), Type::Timestamp) => match (time::MIN_SECONDS..=time::MAX_SECONDS).contains(value) {
                true => Value::Timestamp(Timestamp::from_unix(*value, 0)),
                false => return fail("timestamp overflow"),
            },
            (Self::Timestamp(at), Type::Int) => Value::Int(at.seconds()),
            (Self::Duration(nanos), Type::Int) => Value::Int(*nanos),
            (Self::String(text), Type::Bytes) => Value::from_bytes(text.as_bytes().to_vec()),
            (Self::String(text), _) => return self.text_to(text, to),
            (Self::Opaque(opaque), Type::String) => match opaque.address() {
                Some(text) => Value::from(text),
                None => return self.no_conversion(to),
            },
            _ => return self.no_conversion(to),
        })
    }

    fn no_conversion(&self, to: &Type) -> Outcome {
        let shown = |t: &Type| match t {
            Type::List(_) => "list(dyn)".to_owned(),
            Type::Map(..) => "map(dyn, dyn)".to_owned(),
            other => other.name().to_owned(),
        };
        fail(format!("type conversion error from '{}' to '{}'", shown(&self.type_of()), shown(to)))
    }

    fn text_to(&self, text: &str, to: &Type) -> Outcome {
        let found = match to {
            Type::Int => parse_int(text).map(Value::Int),
            Type::Uint => {
                text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten().map(Value::Uint)
            }
            Type::Double => parse_double(text).map(Value::Double),
            Type::Bool => match text {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(Value::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(Value::Bool(false)),
                _ => None,
            },
            Type::Duration => time::parse_duration(text).map(Value::Duration),
            Type::Timestamp => match Timestamp::parse(text) {
                Some(at) if !(time::MIN_SECONDS..=time::MAX_SECONDS).contains(&at.seconds()) => {
                    return fail("timestamp overflow");
                }
                found => found.map(Value::Timestamp),
            },
            _ => None,
        };
        found.map_or_else(|| self.no_conversion(to), Ok)
    }

    /// The result of `type()`.
    fn runtime_type(&self) -> Type {
        self.type_of()
    }
}

fn parse_int(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Parses a number as Go's `ParseFloat`, including hexadecimal ones, infinity and NaN.
fn parse_double(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" => return (unsigned.len() == text.len()).then_some(f64::NAN),
        _ => {}
    }
    let unsigned = hexadecimal::without_underscores(unsigned)?;
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return hexadecimal::parse(digits).map(|value| sign * value);
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    unsigned.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| sign * value)
}
