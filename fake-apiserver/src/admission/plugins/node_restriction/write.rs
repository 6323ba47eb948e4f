//! A write of a node, and its refusal.

use crate::admission::{Attributes, Operation};
use crate::error::{ApiError, ApiResult, Qualified};
use std::sync::Arc;
use tree::Value;

/// A write of a node.
pub(super) struct Write<'a> {
    pub(super) node: &'a str,
    pub(super) attributes: &'a Attributes<'a>,
    /// The new object; null for a delete.
    pub(super) object: &'a Value,
}

impl Write<'_> {
    /// The old object; null for a create.
    pub(super) fn old(&self) -> &Value {
        self.attributes.old.unwrap_or(&Value::Null)
    }

    pub(super) fn operation(&self) -> Operation {
        self.attributes.operation
    }

    /// `NewForbidden`.
    pub(super) fn refuse<T>(&self, why: impl std::fmt::Display) -> ApiResult<T> {
        Err(self.attributes.forbidden(self.object, why))
    }

    /// An object as it is now. `singular` names the resource in the 404, as upstream's listers do.
    pub(super) fn live(&self, resource: &str, singular: &str, namespace: &str, name: &str) -> ApiResult<Arc<Value>> {
        let missing = || ApiError::not_found(Qualified { group: "", resource: singular }, name);
        self.attributes.objects.object(resource, namespace, name).ok_or_else(missing)
    }

    pub(super) fn pod(&self, name: &str) -> ApiResult<Arc<Value>> {
        self.live("pods", "pod", self.attributes.namespace, name)
    }

    /// Whether the value at `pointer` is unchanged. An empty list equals an absent one.
    pub(super) fn leaves(&self, pointer: &str) -> bool {
        let at = |object: &Value| match object.pointer(pointer) {
            Some(Value::Array(items)) if items.is_empty() => Value::Null,
            Some(Value::Object(fields)) if fields.is_empty() => Value::Null,
            value => value.cloned().unwrap_or_default(),
        };
        at(self.object) == at(self.old())
    }
}
