//! The plugin `RuntimeClass`: refuses pods with a runtime class that does not exist. As runtime classes are not served, none does.
//!
//! Follows `plugin/pkg/admission/runtimeclass/admission.go` (v1.37.1).

use crate::admission::{Attributes, Operation, Plugin};
use crate::error::ApiResult;
use crate::registry::text;
use tree::Value;

/// The plugin `RuntimeClass`.
pub(super) struct RuntimeClass;

impl Plugin for RuntimeClass {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if attributes.operation != Operation::Create || !attributes.is_about("pods", "") {
            return Ok(());
        }
        match text(pod, "/spec/runtimeClassName") {
            "" => Ok(()),
            class => Err(attributes.forbidden(pod, format!("pod rejected: RuntimeClass {class:?} not found"))),
        }
    }
}
