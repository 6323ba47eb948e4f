//! The TTL of cached objects, which the node states.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/cache_based_manager.go` (`GetObjectTTLFromNodeFunc`).

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Node;
use std::sync::Arc;

/// The annotation of a node with the TTL in seconds (`ObjectTTLAnnotationKey`); kube-controller-manager writes it.
pub const TTL_ANNOTATION: &str = "node.alpha.kubernetes.io/ttl";

/// A source of the current TTL, `None` if the node states none. It must not block.
pub type NodeTtl = Arc<dyn Fn() -> Option<SignedDuration> + Send + Sync>;

/// The TTL that `node` states. A negative one makes every object stale.
pub fn ttl_of_node(node: &Node) -> Option<SignedDuration> {
    let seconds = node.metadata.annotations.as_ref()?.get(TTL_ANNOTATION)?;
    seconds.parse().ok().map(SignedDuration::from_secs)
}
