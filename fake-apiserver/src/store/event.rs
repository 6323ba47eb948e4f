//! One change, with the object before and after it, so that a selector can tell what it means to a watcher.

use super::cost::{Cost, Sum};
use super::memo::Memo;
use super::{Entry, Filter, FormId, Key};
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

/// What a change means to one watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was not there, or did not match.
    Added,
    /// It matched before and does now.
    Modified,
    /// It is gone, or does not match any more.
    Deleted,
}

/// A committed change.
#[derive(Debug)]
pub struct Event {
    /// The revision that the change took.
    pub revision: u64,
    /// The object before; none if it was created.
    pub before: Option<Arc<Entry>>,
    /// The object after; none if it was deleted.
    pub after: Option<Arc<Entry>>,
    /// `before` under this event's revision, made when the first watcher needs it.
    last: OnceLock<Arc<Entry>>,
    /// Serialised for the wire, made when the first watcher needs it and shared by all.
    frames: Memo<(Change, FormId), Option<Bytes>>,
    cost: Cost,
}

impl Event {
    /// An event that counts what it keeps into `sum`: at first the object before it, for the one after it is the store's, and then
    /// the one before the next event.
    pub(super) fn new(revision: u64, before: Option<Arc<Entry>>, after: Option<Arc<Entry>>, sum: &Sum) -> Self {
        debug_assert!(before.is_some() || after.is_some());
        let cost = Cost::new(size_of::<Event>() + before.as_ref().map_or(0, |before| before.bytes()), sum);
        Event { revision, before, after, last: OnceLock::new(), frames: Memo::default(), cost }
    }

    /// Counts nothing any more.
    pub(super) fn forget(&self) {
        self.cost.forget();
    }

    /// The object's key.
    pub fn key(&self) -> &Key {
        let entry = self.after.as_ref().or(self.before.as_ref());
        &entry.expect("an event has an object before or after it").key
    }

    /// What the change means to a watcher with that filter; none if nothing.
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

    /// The object to show for `change`: for a deletion the last content, under the revision of the change.
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

    /// The event as sent for `change` in a form, made by `render` the first time; none if the object cannot take that form.
    pub fn frame(&self, change: Change, form: FormId, render: impl FnOnce(&Entry) -> Option<Bytes>) -> Option<Bytes> {
        let made = || {
            let frame = render(self.object(change));
            self.cost.add(frame.as_ref().map_or(0, Bytes::len));
            frame
        };
        self.frames.get_or_make((change, form), made).clone()
    }
}
