//! The objects in manifests.

use crate::index::Index;
use crate::store::ResourceId;
use tree::Value;

/// An object in a manifest.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) kind: ResourceId,
    pub(crate) object: Value,
}

/// The state of a plugin, made of manifests in the order of their names.
pub(crate) trait FromManifests: Index {
    /// The state.
    fn of(manifests: Vec<Manifest>) -> Self;
}
