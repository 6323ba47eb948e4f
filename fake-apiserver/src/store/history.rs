//! The bounded past: the last events, oldest first.
//!
//! ```text
//!   forgotten │ events ...                │ future
//!   ──────────┼───────────────────────────┼────────▶ revision
//!         compacted                    newest
//! ```
//! Whoever has seen everything up to `compacted` can go on; whoever has seen less cannot.

use super::{Event, Expired};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct History {
    events: VecDeque<Arc<Event>>,
    capacity: usize,
    compacted: u64,
}

impl History {
    pub(super) fn new(capacity: usize) -> Self {
        History { events: VecDeque::new(), capacity, compacted: 0 }
    }

    /// The newest revision whose event is forgotten.
    pub(super) fn compacted(&self) -> u64 {
        self.compacted
    }

    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.events.push_back(event);
        while self.events.len() > self.capacity {
            self.drop_oldest();
        }
    }

    pub(super) fn compact(&mut self, revision: u64) {
        while self.events.front().is_some_and(|event| event.revision <= revision) {
            self.drop_oldest();
        }
        self.compacted = self.compacted.max(revision);
    }

    fn drop_oldest(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.compacted = event.revision;
        }
    }

    /// The events after `revision`, oldest first.
    pub(super) fn after(&self, revision: u64) -> Result<impl Iterator<Item = &Arc<Event>>, Expired> {
        if revision < self.compacted {
            return Err(Expired { oldest: self.compacted });
        }
        let start = self.events.partition_point(|event| event.revision <= revision);
        Ok(self.events.range(start..))
    }
}
