//! Trees as values of Go's types, without the detour by JSON: what upstream does with the result of a strategic merge patch.
//!
//! A port of `fromUnstructured` of `pkg/runtime/converter.go` (k8s.io/apimachinery v0.37.1), with its texts. Unlike JSON's decoder it cuts
//! integers off.

use super::types::{Shape, TypeRef};
use super::{bytes, check};
use tree::Value;

/// Makes numbers those of the type, and finds out whether values can be converted at all. Unknown fields stay.
///
/// # Errors
/// If a value is of another kind than its type, or cannot be read.
pub fn convert(value: &mut Value, ty: TypeRef<'_>) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    if let (Shape::Bytes, Value::Array(items)) = (ty.shape(), &*value) {
        // Each is a byte: numbers are cut off, others are none.
        let byte = |item: &Value| item.as_i64().map(|number| number.to_le_bytes()[0]);
        let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
        *value = bytes::encode(&bytes.ok_or("unrecognized type: uint8")?).into();
        return Ok(());
    }
    match (ty.shape(), value) {
        (Shape::Pointer(target), value) => convert(value, ty.at(*target)),
        (Shape::Bool, Value::Bool(_)) | (Shape::String, Value::String(_)) | (Shape::Float64, Value::Number(_)) => {
            Ok(())
        }
        (Shape::Int32 | Shape::Int64, Value::Number(number)) => {
            let whole = |float: &f64| float.fract() == 0.0;
            #[expect(clippy::cast_possible_truncation, reason = "Go's conversion cuts numbers off, too")]
            let integer = match (number.as_i64(), number.as_f64().filter(whole)) {
                (Some(integer), _) => integer,
                (None, Some(float)) => float as i64,
                (None, None) => return Err(format!("cannot convert float64 to {}", ty.go_name())),
            };
            #[expect(clippy::cast_possible_truncation, reason = "Go's conversion cuts numbers off, too")]
            let integer = if matches!(ty.shape(), Shape::Int32) { i64::from(integer as i32) } else { integer };
            *number = integer.into();
            Ok(())
        }
        (Shape::String, Value::Number(number)) if number.is_i64() => {
            Err(format!("cannot convert int64 to {}", ty.go_name()))
        }
        (Shape::Bool | Shape::String | Shape::Int32 | Shape::Int64 | Shape::Float64, _) => {
            Err(format!("unrecognized type: {}", ty.go_kind()))
        }
        (Shape::Bytes, value @ Value::String(_)) => {
            check(value, ty).map(drop).map_err(|error| format!("error decoding from json: {error}"))
        }
        (Shape::List { element, .. }, Value::Array(items)) => {
            items.iter_mut().try_for_each(|item| convert(item, ty.at(*element)))
        }
        (Shape::Map(element), Value::Object(entries)) => {
            entries.values_mut().try_for_each(|entry| convert(entry, ty.at(*element)))
        }
        (Shape::Struct(_), Value::Object(fields)) => {
            for field in ty.fields() {
                if let Some(value) = fields.get_mut(field.name()) {
                    convert(value, ty.of(field))?;
                }
            }
            Ok(())
        }
        (Shape::Bytes | Shape::List { .. }, value) => Err(format!("cannot restore slice from {}", kind(value))),
        (Shape::Map(_), value) => Err(format!("cannot restore map from {}", kind(value))),
        (Shape::Struct(_), value) => Err(format!("cannot restore struct from: {}", kind(value))),
        // A text that was decoded before.
        (Shape::Any, Value::Raw(_)) => Ok(()),
        // They have decoders of their own.
        (
            Shape::Time | Shape::MicroTime | Shape::Quantity | Shape::IntOrString | Shape::Any | Shape::Union(_),
            value,
        ) => check(value, ty).map(drop).map_err(|error| error.to_string()),
    }
}

/// The kind of a value, as package `reflect` names it.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) | Value::Raw(_) => "map",
    }
}
