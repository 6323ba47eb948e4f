//! Patches of objects as trees: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386), each with the leniencies of
//! `gopkg.in/evanphx/json-patch.v4`, which the real server uses.

pub mod json;
pub mod merge;
mod tree;

use crate::error::{ApiError, ApiResult};
use crate::schema;
use serde_json::Value;

/// Parses a patch of either kind, and reports duplicate fields.
///
/// # Errors
/// 400, if it is not JSON.
pub fn parse(body: &[u8]) -> ApiResult<(Value, Vec<String>)> {
    let decoded = schema::parse_json(body).map_err(|_| ApiError::bad_request("invalid JSON patch"))?;
    Ok((decoded.object, decoded.findings))
}
