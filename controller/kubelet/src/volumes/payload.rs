//! The payload of a volume: its files before they are written.
//!
//! Follows kubernetes v1.37.1 `pkg/volume/util/atomic_writer.go`.

use std::collections::BTreeMap;

/// A file of a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProjection {
    /// The content.
    pub data: Vec<u8>,
    /// The permission bits.
    pub mode: u32,
    /// The user id of the owner; if unset, the writer's.
    pub owner: Option<u32>,
}

/// Files by their paths within the volume.
pub type Payload = BTreeMap<String, FileProjection>;
