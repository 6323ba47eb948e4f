//! For how long what was read is good: the node says.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/cache_based_manager.go` (`GetObjectTTLFromNodeFunc`).

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Node;
use std::sync::Arc;

/// Annotation of a node with whole seconds (`ObjectTTLAnnotationKey`); kube-controller-manager writes it.
pub const TTL_ANNOTATION: &str = "node.alpha.kubernetes.io/ttl";

/// Tells for how long what was read is good; none if the node does not say. It must be quick.
pub type NodeTtl = Arc<dyn Fn() -> Option<SignedDuration> + Send + Sync>;

/// What `node` says. It may be negative; then nothing is ever good.
pub fn ttl_of_node(node: &Node) -> Option<SignedDuration> {
    let seconds = node.metadata.annotations.as_ref()?.get(TTL_ANNOTATION)?;
    seconds.parse().ok().map(SignedDuration::from_secs)
}
