//! The plugin `NamespaceExists`: nothing is written in a namespace that does not exist.
//!
//! Follows `plugin/pkg/admission/namespace/exists/admission.go` (v1.37.1).

use super::namespace_lifecycle;
use crate::admission::{Attributes, Immediate};
use crate::error::ApiResult;
use tree::Value;

/// The plugin `NamespaceExists`.
pub(super) struct NamespaceExists;

impl Immediate for NamespaceExists {
    fn check(&self, write: &Attributes<'_>, _: &Value) -> ApiResult<()> {
        let is_missing =
            write.resource.meta.namespaced && !write.namespace.is_empty() && write.own_namespace().is_none();
        match is_missing {
            true => Err(namespace_lifecycle::missing(write.namespace)),
            false => Ok(()),
        }
    }
}
