//! The life of nodes, as others see it: who is lost, what that means for pods, and what nodes are tainted with.

mod eviction;
mod health;
mod nodes;
mod taints;

pub(crate) use eviction::Eviction;
pub(crate) use nodes::Nodes;

use crate::resource::Resource;

const NODES: Resource = Resource::new("", "v1", "nodes");
const LEASES: Resource = Resource::new("coordination.k8s.io", "v1", "leases");
/// The namespace of the leases of nodes.
const LEASES_OF_NODES: &str = "kube-node-lease";
