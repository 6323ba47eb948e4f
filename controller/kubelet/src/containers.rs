//! The containers of a pod that run as it says: all but the ephemeral ones.

use k8s_openapi::api::core::v1::{Container, PodSpec};

/// The init containers and the containers, in this order.
pub(crate) fn containers(spec: &PodSpec) -> impl Iterator<Item = &Container> {
    spec.init_containers.iter().flatten().chain(&spec.containers)
}
