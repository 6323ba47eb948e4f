//! Findings about a value, with or without showing it.

use crate::error::FieldError;
use crate::registry::cursor::At;
use crate::schema::{encode, encode_any, quote};
use std::sync::Arc;
use tree::Value;

/// The finding about a value, which shows it.
pub(super) fn shown(at: At<'_, '_>, detail: impl Into<Arc<str>>) -> FieldError {
    FieldError::invalid_printed(at.path(), printed(at), detail)
}

/// The finding about a value, which shows none.
pub(super) fn nothing(at: At<'_, '_>, detail: &str) -> FieldError {
    FieldError::invalid(at.path(), &Value::Null, detail)
}

/// A value as findings show it: a text of type `string` is quoted, and everything else JSON of the versioned type.
pub(super) fn printed(at: At<'_, '_>) -> String {
    match (at.ty().map(|ty| ty.target()), at.value()) {
        (None, Value::String(text)) => quote(text),
        (Some(ty), Value::String(text)) if ty.name() == "string" => quote(text),
        (Some(ty), value @ (Value::Object(_) | Value::Array(_))) => {
            String::from_utf8(encode(value, ty).json).expect("JSON of texts is UTF-8")
        }
        (_, Value::Null) => at.printed(),
        (_, value) => encode_any(value),
    }
}
