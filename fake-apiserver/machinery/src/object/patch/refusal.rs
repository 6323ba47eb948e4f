//! Refusals of strategic merge patches, with the texts of `pkg/util/mergepatch/errors.go` (k8s.io/apimachinery v0.37.1).

use super::go_print::{print, print_as_text, type_name};
use crate::error::ApiError;
use tree::{Map, Value};

/// The reason that a patch cannot be applied.
#[derive(Debug, PartialEq)]
pub enum Refusal {
    /// The part of that name is malformed.
    Format(&'static str),
    ListOfLists,
    /// Upstream has no type for the error, and so no status.
    Untyped(String),
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        match refusal {
            Refusal::Format(part) => ApiError::bad_request(format!("invalid patch format of {part}")),
            Refusal::ListOfLists => ApiError::unprocessable(),
            Refusal::Untyped(message) => ApiError::untyped(message),
        }
    }
}

pub(super) fn untyped<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Untyped(message.into()))
}

/// `ErrBadArgType`.
pub(super) fn not_a<T>(expected: &str, value: &Value) -> Result<T, Refusal> {
    let found = if value.is_null() { "%!s(<nil>)" } else { type_name(value) };
    untyped(format!("expected a {expected}, but received a {found}"))
}

pub(super) fn not_a_map<T>(value: &Value) -> Result<T, Refusal> {
    not_a("map[string]interface {}", value)
}

/// `ErrNoMergeKey`.
pub(super) fn no_key<T>(item: &Value, key: &str) -> Result<T, Refusal> {
    untyped(format!("map: {} does not contain declared merge key: {key}", print(item)))
}

/// `ErrBadPatchType`.
pub(super) fn unknown_directive<T>(directive: &Value, fields: &Map) -> Result<T, Refusal> {
    let (shown, map) = (print_as_text(directive), print(&Value::Object(fields.clone())));
    untyped(format!("unknown patch type: {shown} in map: {map}"))
}
