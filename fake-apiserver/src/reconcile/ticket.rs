//! Tickets: the consequences of commits, to wait for.

use super::event::{Event, EventSink};
use super::queue::{RunEnd, Work};
use crate::commit::{After, Commits};
use crate::store::{Entry, Store};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The consequences of the commits of a request, or of a reconciler's run.
pub(crate) struct Ticket<'e> {
    sink: &'e dyn EventSink,
    /// The reconciler that commits.
    by: Option<usize>,
    ends: Mutex<Vec<RunEnd>>,
    /// The newest revision that was committed; 0 if none was.
    written: AtomicU64,
}

impl<'e> Ticket<'e> {
    pub(super) fn new(sink: &'e dyn EventSink, by: Option<usize>) -> Self {
        Ticket { sink, by, ends: Mutex::default(), written: AtomicU64::new(0) }
    }

    /// Commits to `store` whose consequences this ticket covers.
    pub(crate) fn commits<'c>(&'c self, store: &'c Store) -> Commits<'c> {
        Commits::new(store, Some(self))
    }

    /// Notes an event.
    pub(crate) fn note(&self, event: &Event<'_>) {
        self.sink.note(event, self.by).into_iter().for_each(|end| self.cover(end));
    }

    /// Adds a work of the same reconciler.
    pub(super) fn add(&self, key: &str) {
        if let Some(reconciler) = self.by {
            self.cover(self.sink.add(Work { reconciler, key: key.into() }));
        }
    }

    /// Adds a work of the same reconciler after that time, for which nobody waits.
    pub(super) fn add_later(&self, key: &str, after: Duration) {
        if let Some(reconciler) = self.by {
            self.sink.add_later(Work { reconciler, key: key.into() }, after);
        }
    }

    fn cover(&self, end: RunEnd) {
        let mut ends = self.ends();
        // Many commits in succession often have the same consequence.
        if ends.last() != Some(&end) {
            ends.push(end);
        }
    }

    /// Whether anything may have followed so far.
    pub(crate) fn covers_any(&self) -> bool {
        !self.ends().is_empty()
    }

    /// The newest revision that was committed, if one was.
    pub(crate) fn written(&self) -> Option<u64> {
        Some(self.written.load(Ordering::Relaxed)).filter(|revision| *revision > 0)
    }

    /// Completes when the consequences of all commits so far have been dealt with. Those that failed are tried again later.
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

impl After for Ticket<'_> {
    fn stored(&self, entry: &Entry, before: Option<&Entry>) {
        self.written.fetch_max(entry.revision, Ordering::Relaxed);
        self.note(&Event::Stored(entry, before));
    }

    fn removed(&self, entry: &Entry) {
        self.written.fetch_max(entry.revision, Ordering::Relaxed);
        self.note(&Event::Removed(entry));
    }
}
