//! Patches of objects as trees: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386), each with the leniencies of
//! `gopkg.in/evanphx/json-patch.v4`, which the real server uses, and strategic merge patches.

mod echo;
mod go_print;
pub mod json;
pub mod merge;
mod ordered_lists;
mod refusal;
mod stable_sort;
pub mod strategic;
mod tree;
#[cfg(test)]
mod vectors;

pub use go_print::{print, type_name};

use crate::error::{ApiError, ApiResult};
use crate::schema;
use ::tree::{Map, Value};

/// Parses a patch that is JSON without a type, and reports duplicate fields.
///
/// # Errors
/// 400, if it is not JSON.
pub fn parse(body: &[u8]) -> ApiResult<(Value, Vec<String>)> {
    let decoded = schema::parse_json(body).map_err(|_| not_json())?;
    Ok((decoded.object, decoded.findings))
}

fn not_json() -> ApiError {
    ApiError::bad_request("invalid JSON patch")
}

/// Parses a strategic merge patch, and reports duplicate fields.
///
/// # Errors
/// 400, if it is not a JSON object. Null counts as an empty one.
pub fn parse_strategic(body: &[u8]) -> ApiResult<(Value, Vec<String>)> {
    let refused = |error: schema::DecodeError| match error.to_string() {
        // Of a number that no float holds.
        message if message.starts_with("json: cannot unmarshal number") => ApiError::bad_request(message),
        _ => not_json(),
    };
    let schema::Decoded { object: patch, findings } = schema::parse_json(body).map_err(refused)?;
    match patch {
        Value::Null => Ok((Value::Object(Map::new()), findings)),
        Value::Object(_) => Ok((patch, findings)),
        other => {
            let type_ = schema::json_type(&other);
            let message = format!("json: cannot unmarshal {type_} into Go value of type map[string]interface {{}}");
            Err(ApiError::bad_request(message))
        }
    }
}
