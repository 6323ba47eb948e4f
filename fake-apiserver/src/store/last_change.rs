//! The revision at which a resource last changed, readable without the store's lock.

use crate::sync::{AtomicU64, Ordering};
use std::sync::Arc;

/// The revision of the last change to the objects of one resource. Clones share it.
///
/// It is set before the change is visible in any other way. So state that includes all changes up to it is up to date.
#[derive(Debug, Clone, Default)]
pub struct LastChange(Arc<AtomicU64>);

impl LastChange {
    /// The revision; 0 if there was no change since it is tracked.
    pub fn revision(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn set(&self, revision: u64) {
        self.0.store(revision, Ordering::Release);
    }
}
