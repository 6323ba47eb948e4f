//! Kinds of JSON values.

use tree::Value;

/// The kind of a JSON value, known from its first byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// The name of a value's type in errors of Go's decoder.
pub fn json_type(value: &Value) -> &'static str {
    Token::of(value).name()
}

impl Token {
    /// The kind of a tree.
    pub(super) fn of(value: &Value) -> Token {
        match value {
            Value::Null => Token::Null,
            Value::Bool(_) => Token::Bool,
            Value::Number(_) => Token::Number,
            Value::String(_) => Token::String,
            Value::Array(_) => Token::Array,
            Value::Object(_) | Value::Raw(_) => Token::Object,
        }
    }

    /// The name in type errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Token::Null => "null",
            Token::Bool => "bool",
            Token::Number => "number",
            Token::String => "string",
            Token::Array => "array",
            Token::Object => "object",
        }
    }
}
