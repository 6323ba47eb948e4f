//! The containers of a pod without the ephemeral ones.

use k8s_openapi::api::core::v1::{Container, PodSpec};

/// The init containers, then the containers.
pub(crate) fn containers(spec: &PodSpec) -> impl Iterator<Item = &Container> {
    spec.init_containers.iter().flatten().chain(&spec.containers)
}
