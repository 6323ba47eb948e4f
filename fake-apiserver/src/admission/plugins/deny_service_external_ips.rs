//! The plugin `DenyServiceExternalIPs`: services get no more external addresses than they have.
//!
//! Follows `plugin/pkg/admission/network/denyserviceexternalips/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::registry::items;
use tree::Value;

/// The plugin `DenyServiceExternalIPs`.
pub(super) struct DenyServiceExternalIps;

impl Immediate for DenyServiceExternalIps {
    fn check(&self, write: &Attributes<'_>, service: &Value) -> ApiResult<()> {
        if !write.is_about("services", "") || !matches!(write.operation, Operation::Create | Operation::Update) {
            return Ok(());
        }
        let known = write.old.map(|old| items(old, "/spec/externalIPs")).unwrap_or_default();
        match items(service, "/spec/externalIPs").iter().all(|address| known.contains(address)) {
            true => Ok(()),
            false => Err(write.forbidden(service, "Use of external IPs is denied by admission control")),
        }
    }
}
