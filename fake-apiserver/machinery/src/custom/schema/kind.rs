//! Types of JSON values, named as in schemas.

use tree::Value;

/// A type of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `boolean`.
    Boolean,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `string`.
    String,
    /// `array`.
    Array,
    /// `object`.
    Object,
}

impl Kind {
    /// The type of a value; a number that is an int64 in Go is an integer.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Boolean,
            Value::Number(number) if number.is_i64() => Kind::Integer,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) | Value::Raw(_) => Kind::Object,
        }
    }

    /// The type with this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Kind::Boolean, Kind::Integer, Kind::Number, Kind::String, Kind::Array, Kind::Object];
        all.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in schemas.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}
