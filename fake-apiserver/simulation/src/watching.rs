//! The record of a watch: its start, its events, and its end; and the check that these are the events it was owed.

use crate::store::Scope;
use crate::truth::{Delivered, Truth};

/// The end of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its resource was closed.
    Closed,
    /// An owed event was forgotten; with the oldest revision that was available then.
    Expired(u64),
    /// It was dropped by its reader.
    Cancelled,
    /// It never began, as its past was forgotten; with the oldest revision that was available then.
    Refused(u64),
}

/// A watch from its beginning to its end.
#[derive(Debug)]
pub struct Watch {
    /// The scope that it watched.
    pub scope: Scope,
    /// The label that it selected, if any.
    pub filter: Option<&'static str>,
    /// The revision after which it was to begin.
    pub after: u64,
    /// The events, in the order of delivery.
    pub delivered: Vec<Delivered>,
    /// The bookmarks: the number of events before each, and its revision.
    pub bookmarks: Vec<(usize, u64)>,
    /// The end.
    pub end: End,
}

impl Watch {
    /// Checks the record against the truth.
    ///
    /// # Panics
    /// If a guarantee is broken.
    pub fn judge(&self, truth: &Truth) {
        let owed = truth.owed(self.after, &self.scope, self.filter);
        let revisions: Vec<u64> = self.delivered.iter().map(|(revision, _)| *revision).collect();
        for pair in revisions.windows(2) {
            assert_ne!(pair[0], pair[1], "unique: an event came twice: {self:?}, owed {owed:?}");
            assert!(pair[0] < pair[1], "ordered: an event came late: {self:?}, owed {owed:?}");
        }
        if let Some(first) = revisions.first() {
            assert!(*first > self.after, "resumable: what was known was repeated: {self:?}");
        }
        let missed = owed.iter().find(|(revision, _)| {
            !revisions.contains(revision) && revisions.last().is_some_and(|last| revision < last)
        });
        assert_eq!(missed, None, "reliable: an event was left out: {self:?}, owed {owed:?}");
        for delivered in &self.delivered {
            assert!(owed.contains(delivered), "selectors: {delivered:?} means something else: {self:?}, owed {owed:?}");
        }
        let next = owed.get(self.delivered.len()).map(|(revision, _)| *revision);
        match self.end {
            End::Closed => assert_eq!(next, None, "reliable: it ended before its time: {self:?}, owed {owed:?}"),
            End::Expired(oldest) => {
                assert!(
                    next.is_some_and(|next| next <= oldest),
                    "reliable: it expired for no reason: {self:?}, owed {owed:?}"
                );
            }
            End::Refused(oldest) => assert!(self.after < oldest, "resumable: it was refused for no reason: {self:?}"),
            End::Cancelled => {}
        }
        let mut last = self.after;
        for (delivered, bookmark) in &self.bookmarks {
            let seen = revisions[..*delivered].last().copied().unwrap_or(self.after);
            assert!(*bookmark >= last.max(seen), "bookmarkable: a bookmark went back: {self:?}, owed {owed:?}");
            let next = owed.get(*delivered).map(|(revision, _)| *revision);
            assert!(
                next.is_none_or(|next| next > *bookmark),
                "bookmarkable: it leaves one out: {self:?}, owed {owed:?}"
            );
            last = *bookmark;
        }
    }
}
