//! stub
use crate::error::{ApiError,ApiResult};
use serde_json::Value;
pub struct Patch;
impl Patch { pub fn json(_: &[u8]) -> ApiResult<Patch> { Err(ApiError::not_implemented("x")) } pub fn merge(_: &[u8]) -> ApiResult<Patch> { Err(ApiError::not_implemented("x")) } pub fn apply(&self, _: &Value) -> ApiResult<Value> { Err(ApiError::not_implemented("x")) } }
