//! `PersistentVolumeClaim`: an object, or a template of one.
//!
//! Follows `SetDefaults_PersistentVolumeClaim` and `SetDefaults_PersistentVolumeClaimSpec` of
//! `pkg/apis/core/v1/defaults.go`, and what `zz_generated.defaults.go` calls with them (v1.37.1).

use super::resource_list::round_resources;
use crate::error::Path;
use crate::registry::defaults::visit;
use crate::registry::{child, default_to, quantity};
use tree::Value;

/// Warnings about the spec of a claim (`GetWarningsForPersistentVolumeClaimSpec`).
pub(in crate::registry) fn persistent_volume_claim_spec_warnings(at: Path<'_>, spec: &Value) -> Vec<String> {
    let resources = at.child("resources");
    let fractional = |list: &str| {
        let amount = spec["resources"][list]["storage"].as_str().filter(|amount| !quantity::is_whole(amount))?;
        let at = resources.child(list);
        let at = at.key("storage");
        Some(format!("{at}: fractional byte value {amount:?} is invalid, must be an integer"))
    };
    ["requests", "limits"].into_iter().filter_map(fractional).collect()
}

/// Fills in a claim.
pub(in crate::registry) fn default_persistent_volume_claim(claim: &mut Value) {
    default_to(child(claim, "status"), "phase", "Pending");
    default_to(child(claim, "spec"), "volumeMode", "Filesystem");
    visit(claim, "spec/resources/limits|requests", &mut round_resources);
    visit(claim, "status/capacity|allocatedResources", &mut round_resources);
}
