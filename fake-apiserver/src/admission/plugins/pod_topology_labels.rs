//! The plugin `PodTopologyLabels`: a pod that is put on a node gets the labels of the node's zone and region.
//!
//! Follows `plugin/pkg/admission/podtopologylabels/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{ids, text};
use tree::Value;

/// The labels.
const LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// The plugin `PodTopologyLabels`.
pub(super) struct PodTopologyLabels;

impl Immediate for PodTopologyLabels {
    fn admit(&self, write: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        if write.operation != Operation::Create {
            return Ok(());
        }
        let node = match () {
            () if write.is_about("pods", "") => text(object, "/spec/nodeName"),
            // The labels of a binding become those of its pod.
            () if write.is_about("pods", "binding") && text(object, "/target/kind") == "Node" => {
                text(object, "/target/name")
            }
            () => return Ok(()),
        };
        if node.is_empty() {
            return Ok(());
        }
        if let Some(node) = write.seen_entry(ids::NODES, node) {
            for (key, value) in node.meta.labels().filter(|(key, _)| LABELS.contains(key)) {
                meta::set_label(object, key, value);
            }
        }
        Ok(())
    }
}
