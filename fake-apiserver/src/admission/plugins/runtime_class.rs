//! The plugin `RuntimeClass`: refuses pods with a runtime class that does not exist, or with an overhead that no class has. As runtime
//! classes are not served, none does.
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

    fn validate(&self, attributes: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        if attributes.operation != Operation::Create || !attributes.is_about("pods", "") {
            return Ok(());
        }
        match pod["spec"].get("overhead") {
            None => Ok(()),
            // Also an empty one, which Go tells from none.
            Some(_) => {
                let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
                Err(attributes.forbidden(pod, why))
            }
        }
    }
}
