//! Tickets: the consequences of somebody's commits, to wait for.

use super::queue::{RunEnd, Work};
use crate::commit::{After, Commits};
use crate::store::{Entry, Store};
use std::sync::{Arc, Mutex, MutexGuard};
use tree::Value;

/// An event that reconcilers react to.
pub(crate) enum Event<'e> {
    /// The server starts.
    Start,
    /// An object was created or changed.
    Stored(&'e Entry),
    /// An object was removed; its last state.
    Removed(&'e Entry),
    /// The legacy token in that secret was used on that day.
    Used(&'e Value, &'e str),
    /// A work that waited for the cluster's clock is due.
    Due,
}

/// The place where events become works.
pub(super) trait Desk: Send + Sync {
    /// Adds the works that follow from an event, and returns the ends of their runs. Nothing follows for the reconciler
    /// `by` which the event comes.
    fn note(&self, event: &Event<'_>, by: Option<usize>) -> Vec<RunEnd>;

    /// Adds a work, and returns the end of its run.
    fn add(&self, work: Work) -> RunEnd;
}

/// The consequences of the commits of a request, or of a reconciler's run.
pub(crate) struct Ticket {
    desk: Arc<dyn Desk>,
    /// The reconciler that commits.
    by: Option<usize>,
    ends: Mutex<Vec<RunEnd>>,
}

impl Ticket {
    pub(super) fn new(desk: Arc<dyn Desk>, by: Option<usize>) -> Arc<Self> {
        Arc::new(Ticket { desk, by, ends: Mutex::default() })
    }

    /// Commits to `store` whose consequences this ticket covers.
    pub(crate) fn commits(self: &Arc<Self>, store: &Store) -> Commits {
        Commits::new(store.clone(), Some(self.clone()))
    }

    /// Notes an event.
    pub(crate) fn note(&self, event: &Event<'_>) {
        let ends = self.desk.note(event, self.by);
        if !ends.is_empty() {
            ends.into_iter().for_each(|end| self.cover(end));
        }
    }

    /// Adds a work of the same reconciler.
    pub(super) fn add(&self, key: &str) {
        if let Some(reconciler) = self.by {
            self.cover(self.desk.add(Work { reconciler, key: key.into() }));
        }
    }

    fn cover(&self, end: RunEnd) {
        let mut ends = self.ends();
        // Many commits in succession often have the same consequence.
        if ends.last() != Some(&end) {
            ends.push(end);
        }
    }

    /// Completes when the consequences of all commits so far have been dealt with, also with failures, which are tried again later.
    pub(crate) async fn done(&self) {
        loop {
            let Some(end) = self.ends().pop() else { return };
            end.cancelled().await;
        }
    }

    fn ends(&self) -> MutexGuard<'_, Vec<RunEnd>> {
        self.ends.lock().expect("no code that runs under this lock panics")
    }
}

impl After for Ticket {
    fn stored(&self, entry: &Entry) {
        self.note(&Event::Stored(entry));
    }

    fn removed(&self, entry: &Entry) {
        self.note(&Event::Removed(entry));
    }
}
