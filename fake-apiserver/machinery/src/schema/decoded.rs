//! A decoded body, the error in its place, and the limits of both.

use tree::Value;

/// A decoded body.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The canonical tree.
    pub object: Value,
    /// The findings of strict decoding, in order: `unknown field "spec.bogus"`, `duplicate field "data.k"`.
    pub findings: Vec<String>,
}

/// The error of a body that is not an object of its type, in Go's words.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub(super) String);

/// Maximal nesting of objects and arrays. The real server allows 10,000, but trees are dropped, compared and copied by
/// recursion, and `serde_json`, which stops at 127, must be able to read stored objects, also within a list or an event.
pub const MAX_DEPTH: usize = 120;

/// Maximal number of findings that `saveStrictError` keeps.
pub const MAX_FINDINGS: usize = 100;

/// The error for deeper nesting.
pub(super) fn too_deep() -> String {
    format!("exceeded max depth of {MAX_DEPTH}")
}

/// Refuses an object with a part that is nested too deeply and was kept as text.
///
/// # Errors
/// If it has one.
pub fn check_depth(object: &Value) -> Result<(), DecodeError> {
    let is_deep = match object {
        Value::Raw(_) => true,
        Value::Array(items) => return items.iter().try_for_each(check_depth),
        Value::Object(fields) => return fields.values().try_for_each(check_depth),
        _ => false,
    };
    if is_deep { Err(DecodeError(too_deep())) } else { Ok(()) }
}
