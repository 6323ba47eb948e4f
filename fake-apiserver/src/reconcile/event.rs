//! Events, and the place where they become works.

use super::queue::{RunEnd, Work};
use crate::store::Entry;
use tree::Value;

/// An event that reconcilers react to.
pub(crate) enum Event<'e> {
    /// The server starts.
    Start,
    /// An object was created or changed; its state before, if it had one.
    Stored(&'e Entry, Option<&'e Entry>),
    /// An object was removed; its last state.
    Removed(&'e Entry),
    /// The legacy token in that secret was used on that day.
    Used(&'e Value, &'e str),
    /// A work that waited for the cluster's clock is due.
    Due,
}

/// The place where events become works.
pub(super) trait EventSink: Send + Sync {
    /// Adds the works that follow from an event, and returns the ends of their runs. The reconciler `by`, whose own write the event
    /// is, gets none.
    fn note(&self, event: &Event<'_>, by: Option<usize>) -> Vec<RunEnd>;

    /// Adds a work after that time, for which nobody waits.
    fn add_later(&self, work: Work, after: std::time::Duration);

    /// Adds a work, and returns the end of its run.
    fn add(&self, work: Work) -> RunEnd;
}
