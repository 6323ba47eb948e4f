//! Memory of a fixed size, that whoever wants to keep something takes a part of.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes are free. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<AtomicUsize>);

/// Bytes that are taken until this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    bytes: usize,
    room: Room,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Room(Arc::new(AtomicUsize::new(bytes)))
    }

    /// That many bytes, if they are free.
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
