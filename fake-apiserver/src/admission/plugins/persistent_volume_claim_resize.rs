//! The plugin `PersistentVolumeClaimResize`: a claim may ask for more storage once it is bound, if its class allows that.
//!
//! Follows `plugin/pkg/admission/storage/persistentvolume/resize/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::registry::{amount, flag, ids, storage_class, text};
use tree::Value;

/// The plugin `PersistentVolumeClaimResize`.
pub(super) struct PersistentVolumeClaimResize;

impl Immediate for PersistentVolumeClaimResize {
    fn check(&self, attributes: &Attributes<'_>, claim: &Value) -> ApiResult<()> {
        let is_update = attributes.operation == Operation::Update && attributes.is_about("persistentvolumeclaims", "");
        let Some(old) = attributes.old.filter(|_| is_update) else { return Ok(()) };
        let size = |claim| amount(text(claim, "/spec/resources/requests/storage"));
        if size(claim) <= size(old) {
            return Ok(());
        }
        if text(old, "/status/phase") != "Bound" {
            return Err(attributes.forbidden(claim, "Only bound persistent volume claims can be expanded"));
        }
        let name = storage_class(claim);
        let class = attributes.seen_cluster_wide(ids::STORAGE_CLASSES, name).filter(|_| name == storage_class(old));
        match class.is_some_and(|class| flag(&class, "/allowVolumeExpansion")) {
            true => Ok(()),
            false => Err(attributes.forbidden(
                claim,
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
            )),
        }
    }
}
