//! The plugin `AlwaysDeny`: refuses every write.
//!
//! Follows `plugin/pkg/admission/deny/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate};
use crate::error::ApiResult;
use tree::Value;

/// The plugin `AlwaysDeny`.
pub(super) struct AlwaysDeny;

impl Immediate for AlwaysDeny {
    fn admit(&self, write: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        Err(write.forbidden(object, "admission control is denying all modifications"))
    }
}
