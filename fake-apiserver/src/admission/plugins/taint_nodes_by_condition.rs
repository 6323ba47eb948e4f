//! The plugin `TaintNodesByCondition`: taints new nodes as not ready.
//!
//! Follows `plugin/pkg/admission/nodetaint/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::registry::{child, items};
use tree::{Value, json};

/// The plugin `TaintNodesByCondition`.
pub(super) struct TaintNodesByCondition;

impl Immediate for TaintNodesByCondition {
    fn admit(&self, attributes: &Attributes<'_>, node: &mut Value) -> ApiResult<()> {
        if attributes.operation != Operation::Create || !attributes.is_about("nodes", "") {
            return Ok(());
        }
        let taint = json!({ "key": "node.kubernetes.io/not-ready", "effect": "NoSchedule" });
        let same = |other: &Value| ["key", "effect"].iter().all(|field| other.get(field) == taint.get(field));
        if !items(node, "/spec/taints").iter().any(same) {
            let taints = child(child(node, "spec"), "taints");
            match taints.as_array_mut() {
                Some(taints) => taints.push(taint),
                None => *taints = json!([taint]),
            }
        }
        Ok(())
    }
}
