//! Data without a schema as expressions see it, and values as JSON.
//!
//! Follows `NativeToValue` and `ConvertToNative` of cel-go v0.29.2, and `pkg/cel/mutation` of k8s.io/apiserver v0.37.1.

use super::{Map, Value};
use crate::library::Opaque;
use crate::schema::Parts;
use crate::types::Type;
use std::sync::Arc;
use tree::Value as Json;

/// The largest integer that a floating-point number holds exactly.
const MAX_EXACT: i64 = (1 << 53) - 1;

impl Value {
    /// The value of data without a schema, for expressions that read no more than these parts of it: the rest is not copied, and is not there.
    #[must_use]
    pub fn of_data(data: &Json, parts: &Parts) -> Value {
        match data {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Value::Int(whole),
                None => Value::Double(number.as_f64().unwrap_or_default()),
            },
            Json::String(text) => Value::from(text.as_str()),
            Json::Array(_) if parts.is_nothing() => Value::from(Vec::new()),
            Json::Array(items) => {
                Value::from(items.iter().map(|item| Value::of_data(item, &Parts::Whole)).collect::<Vec<_>>())
            }
            Json::Object(fields) => {
                let read = fields.iter().filter_map(|(name, data)| Some((name, data, parts.of(name)?)));
                Value::Map(Map::new(
                    read.map(|(name, data, parts)| (Value::from(&**name), Value::of_data(data, parts))),
                ))
            }
            Json::Raw(_) => Value::of_data(&data.parsed(), parts),
        }
    }

    /// The value as JSON.
    ///
    /// # Errors
    /// If the value, or one in it, has no form in JSON.
    pub fn to_json(&self) -> Result<Json, String> {
        Ok(match self {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::from(*value),
            Value::Int(number) if (-MAX_EXACT..=MAX_EXACT).contains(number) => Json::from(*number),
            Value::Int(number) => Json::from(number.to_string()),
            Value::Uint(number) if *number <= MAX_EXACT.unsigned_abs() => Json::from(*number),
            Value::Uint(number) => Json::from(number.to_string()),
            Value::Double(number) => match super::number::whole(*number).filter(|whole| whole.abs() <= MAX_EXACT) {
                Some(whole) => Json::from(whole),
                None => Json::from(*number),
            },
            Value::String(text) => Json::from(&**text),
            Value::Bytes(bytes) => Json::from(base64(bytes)),
            Value::Timestamp(_) | Value::Duration(_) => Json::from(&*self.text()?),
            Value::List(list) => Json::Array(list.items().iter().map(Value::to_json).collect::<Result<_, _>>()?),
            Value::Map(map) => {
                let entries = map.entries();
                let field = |(key, value): &(Value, Value)| Ok((key.text()?.to_string(), value.to_json()?));
                Json::Object(entries.iter().map(field).collect::<Result<_, String>>()?)
            }
            Value::Opaque(Opaque::Patch(patch)) => {
                let field = |(name, value): (&Arc<str>, &Value)| Ok((name.to_string(), value.to_json()?));
                Json::Object(patch.fields().iter().map(field).collect::<Result<_, String>>()?)
            }
            Value::Fault(message) => return Err(message.to_string()),
            Value::Type(_) | Value::Optional(_) | Value::Opaque(_) => {
                return Err(format!(
                    "unsupported type conversion from '{}' to google.protobuf.Value",
                    self.type_name()
                ));
            }
        })
    }

    /// The text of a scalar.
    fn text(&self) -> Result<Arc<str>, String> {
        match self.convert(&Type::String) {
            Ok(Value::String(text)) => Ok(text),
            Ok(_) | Err(_) => Err(format!("unsupported key type: {}", self.type_name())),
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}
