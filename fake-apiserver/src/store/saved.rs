//! The content of a store with its past, for another store to take over.

use super::entry::Draft;
use super::event::Event;
use super::key::Key;
use super::snapshot::Snapshot;
use imbl::Vector;
use std::sync::Arc;

/// The content of a store.
pub struct Saved {
    /// The content at the oldest revision that can be read.
    pub base: Snapshot,
    /// The events since then, oldest first.
    pub events: Vector<Arc<Event>>,
    /// The present revision.
    pub revision: u64,
}

/// A content that an empty store takes over. Watches begin anew, as those of an API server that starts over the content of its etcd do: none
/// begins before the revision that follows.
#[derive(Debug, Default)]
pub struct Takeover {
    /// The oldest revision that can be read.
    pub compacted: u64,
    /// The objects at that revision, each with its own.
    pub base: Vec<(Draft, u64)>,
    /// The changes since then, with their revisions, oldest first.
    pub changes: Vec<(u64, Past)>,
    /// The present revision.
    pub revision: u64,
}

/// A change in the past.
#[derive(Debug)]
pub enum Past {
    /// The object was stored.
    Stored(Draft),
    /// The object was removed.
    Removed(Key),
}
