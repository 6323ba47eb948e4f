//! The history: the last events, oldest first, bounded in number and memory; the newest is always kept.
//!
//! ```text
//!   forgotten │ events ...                │ future
//!   ──────────┼───────────────────────────┼────────▶ revision
//!         compacted                    newest
//! ```
//! A watcher that has seen all events up to `compacted` can go on; one that has seen less cannot.

use super::cost::Sum;
use super::event::Event;
use super::key::ResourceId;
use super::last_change::LastChanges;
use imbl::Vector;
use std::sync::Arc;

/// An error of reading the past: its events are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    /// The oldest revision that is available.
    pub oldest: u64,
}

/// The window of events. A clone is a pointer, so that it can be read without the store's lock.
#[derive(Debug, Clone)]
pub(super) struct History {
    events: Vector<Arc<Event>>,
    /// The most events that it holds.
    capacity: usize,
    /// The most bytes that they keep.
    max_bytes: usize,
    bytes: Sum,
    compacted: u64,
    changes: Arc<LastChanges>,
}

impl History {
    pub(super) fn new(capacity: usize, max_bytes: usize) -> Self {
        let changes = Arc::<LastChanges>::default();
        History { events: Vector::new(), capacity, max_bytes, bytes: Sum::default(), compacted: 0, changes }
    }

    /// The history of a fork of the store at that revision: all before it is forgotten.
    pub(super) fn forked(&self, revision: u64) -> Self {
        let changes = self.changes.forked().into();
        History { compacted: revision, changes, ..Self::new(self.capacity, self.max_bytes) }
    }

    /// The revisions of the last changes to resources.
    pub(super) fn changes(&self) -> &Arc<LastChanges> {
        &self.changes
    }

    /// The memory that its events keep.
    pub(super) fn bytes(&self) -> &Sum {
        &self.bytes
    }

    /// The newest revision whose event is forgotten.
    pub(super) fn compacted(&self) -> u64 {
        self.compacted
    }

    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.events.push_back(event);
        while self.events.len() > 1 && (self.events.len() > self.capacity || self.bytes.bytes() > self.max_bytes) {
            self.drop_oldest();
        }
    }

    pub(super) fn compact(&mut self, revision: u64) {
        while self.events.front().is_some_and(|event| event.revision <= revision) {
            self.drop_oldest();
        }
        self.compacted = self.compacted.max(revision);
    }

    /// Forgets all events, and up to which revision some were forgotten.
    pub(super) fn clear(&mut self) {
        self.events.iter().for_each(|event| event.forget());
        self.events.clear();
        self.compacted = 0;
    }

    fn drop_oldest(&mut self) {
        if let Some(event) = self.events.pop_front() {
            event.forget();
            self.compacted = event.revision;
            self.changes.forget(event.key().resource, event.revision);
        }
    }

    /// The events after `revision`, oldest first.
    ///
    /// # Errors
    /// [`Expired`] if some of them are forgotten.
    pub(super) fn after(mut self, revision: u64) -> Result<Vector<Arc<Event>>, Expired> {
        if revision < self.compacted {
            return Err(Expired { oldest: self.compacted });
        }
        let start = self.events.binary_search_by_key(&(revision + 1), |event| event.revision);
        Ok(self.events.split_off(start.unwrap_or_else(|start| start)))
    }

    /// The events after `revision`, oldest first, among which are all that are about the resources.
    ///
    /// # Errors
    /// [`Expired`] if one of those is forgotten.
    pub(super) fn about(self, resources: &[ResourceId], revision: u64) -> Result<Vector<Arc<Event>>, Expired> {
        // It may be later than this history, which then lacks nothing that it had.
        if self.changes.forgotten(resources) > revision {
            return Err(Expired { oldest: self.compacted });
        }
        let start = revision.max(self.compacted);
        self.after(start)
    }
}
