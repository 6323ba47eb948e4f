//! Events: a change with the object before and after it, so that each watcher's selector can classify it.

use super::cost::{Cost, Sum};
use super::entry::{Entry, FormId};
use super::key::Key;
use super::memo::Memo;
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

/// A predicate for the objects that a watcher selects.
pub type Filter = Box<dyn Fn(&Entry) -> bool + Send + Sync>;

/// The type of an event for one watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The object did not exist or match before, and does now.
    Added,
    /// The object matched before and does now.
    Modified,
    /// The object is deleted, or does not match any more.
    Deleted,
}

/// A committed change.
#[derive(Debug)]
pub struct Event {
    /// The revision of the change.
    pub revision: u64,
    /// The object before; `None` if it was created.
    pub before: Option<Arc<Entry>>,
    /// The object after; `None` if it was deleted.
    pub after: Option<Arc<Entry>>,
    /// `before` at this event's revision, made when the first watcher needs it.
    last: OnceLock<Arc<Entry>>,
    /// The frames for the wire, each made when the first watcher needs it, and shared by all.
    frames: Memo<(Change, FormId), Option<Bytes>>,
    cost: Cost,
}

impl Event {
    /// An event that adds the memory it keeps to `sum`: at first that of the object before, as the one after is kept by the
    /// store, and then by the next event.
    pub(super) fn new(revision: u64, before: Option<Arc<Entry>>, after: Option<Arc<Entry>>, sum: &Sum) -> Self {
        debug_assert!(before.is_some() || after.is_some());
        let cost = Cost::new(size_of::<Event>() + before.as_ref().map_or(0, |before| before.bytes()), sum);
        Event { revision, before, after, last: OnceLock::new(), frames: Memo::default(), cost }
    }

    /// Stops counting the event's memory.
    pub(super) fn forget(&self) {
        self.cost.forget();
    }

    /// The object's key.
    pub fn key(&self) -> &Key {
        let entry = self.after.as_ref().or(self.before.as_ref());
        &entry.expect("an event has an object before or after it").key
    }

    /// The type of the event for a watcher with `filter`; `None` if it does not concern the watcher.
    pub fn classify(&self, filter: Option<&Filter>) -> Option<Change> {
        let matches =
            |entry: &Option<Arc<Entry>>| entry.as_ref().is_some_and(|entry| filter.is_none_or(|filter| filter(entry)));
        match (matches(&self.before), matches(&self.after)) {
            (false, true) => Some(Change::Added),
            (true, true) => Some(Change::Modified),
            (true, false) => Some(Change::Deleted),
            (false, false) => None,
        }
    }

    /// The object of the event as `change`: for a deletion the last content, at the revision of the change.
    pub fn object(&self, change: Change) -> &Arc<Entry> {
        match (&self.before, &self.after) {
            (Some(before), _) if change == Change::Deleted => self.last.get_or_init(|| {
                self.cost.add(before.bytes());
                Arc::new(before.at_revision(self.revision))
            }),
            (_, Some(after)) => after,
            (Some(before), None) => before,
            (None, None) => unreachable!("an event has an object before or after it"),
        }
    }

    /// The frame for `change` in `form`, made by `render` the first time; `None` if the object cannot be rendered in it. Watches that
    /// need it at the same time may make it each: none holds a lock that another waits for.
    pub fn frame(&self, change: Change, form: FormId, render: impl FnOnce() -> Option<Bytes>) -> Option<Bytes> {
        let place = self.frames.place((change, form));
        if place.get().is_none() {
            let frame = render();
            place.get_or_init(|| {
                self.cost.add(frame.as_ref().map_or(0, Bytes::len));
                frame
            });
        }
        place.get().cloned().flatten()
    }
}
