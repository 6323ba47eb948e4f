//! The namespace of a write, as policies see it.

use crate::admission::{Attributes, namespace_missing};
use crate::commit::namespace::is_namespace;
use crate::error::ApiResult;
use tree::Value;

/// The namespace of a write; `None` if the object is in none, or is one.
///
/// # Errors
/// 404, if it does not exist.
pub(crate) fn namespace_of(write: &Attributes<'_>) -> ApiResult<Option<Value>> {
    if write.namespace.is_empty() || is_namespace(write.resource) && write.subresource.is_empty() {
        return Ok(None);
    }
    let entry = write.own_namespace().ok_or_else(|| namespace_missing(write.namespace))?;
    Ok(Some(entry.object()))
}
