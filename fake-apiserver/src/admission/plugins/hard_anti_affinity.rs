//! The plugin `LimitPodHardAntiAffinityTopology`: a pod may insist on keeping away from others on a node, but not in a wider area.
//!
//! Follows `plugin/pkg/admission/antiaffinity/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{items, text};
use tree::Value;

const TERMS: &str = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
/// `LabelHostname`.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// The plugin `LimitPodHardAntiAffinityTopology`.
pub(super) struct HardAntiAffinity;

impl Immediate for HardAntiAffinity {
    fn check(&self, write: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        if !write.is_about("pods", "") || !matches!(write.operation, Operation::Create | Operation::Update) {
            return Ok(());
        }
        let keys = items(pod, TERMS).iter().map(|term| text(term, "/topologyKey"));
        match keys.into_iter().find(|key| *key != HOSTNAME) {
            None => Ok(()),
            Some(key) => {
                let why = format!(
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key {HOSTNAME} is allowed"
                );
                Err(ApiError::forbidden(write.version.qualified(), meta::name(pod), why))
            }
        }
    }
}
