//! A budget of memory, from which users claim parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of free bytes. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<AtomicUsize>);

/// Bytes that are claimed until this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    bytes: usize,
    room: Room,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Room(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Claims that many bytes, if they are free.
    pub(super) fn claim(&self, bytes: usize) -> Option<Claim> {
        let rest = |free: usize| free.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).ok()?;
        Some(Claim { bytes, room: self.clone() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.room.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}
