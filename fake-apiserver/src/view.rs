//! A replica's view of the store: the present, or, while it is held, the state at that moment.
//!
//! ```text
//!           hold                            release
//!   level ────────▶ held at a revision ────────────▶ level
//!                   lists and gets "not older than" come from there; watches end there, and go on when it is released
//!         ────────▶ some objects held ─────────────▶ level
//!                   reads are level; watches get the events of all other objects
//! ```
//! As with the real server's watch cache, only reads that ask for no freshness are stale: those without a
//! `resourceVersion` are consistent, and so are writes.

use crate::store::{Event, Key, ResourceId, Snapshot, Store};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use control::{HoldOnly, glob};
use std::collections::BTreeSet;
use std::task::{Context, Waker};

/// The view of one replica.
pub(crate) struct View {
    /// The revision at which the view is held, or `u64::MAX`. Events are compared with it without the lock.
    horizon: AtomicU64,
    /// The number of times that it was held or released.
    turn: AtomicU64,
    state: Mutex<State>,
    /// Whether reads see it that ask for the newest state, too.
    forces: bool,
}

#[derive(Default)]
struct State {
    held: Option<Snapshot>,
    /// The objects whose events alone are held.
    only: Option<Only>,
    /// The tasks of watches with events beyond the view.
    waiting: Vec<Waker>,
}

/// Objects whose events are held back, while those of all others go on.
pub(crate) struct Only {
    /// The words in which they were named.
    pub(crate) words: HoldOnly,
    /// The resources that these words name.
    pub(crate) resources: BTreeSet<ResourceId>,
}

/// How a view sees an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It is in the view.
    Seen,
    /// It is not in the view yet, and neither are those behind it.
    Unseen,
    /// It is not in the view yet; those of other objects may be.
    Apart,
}

impl Default for View {
    fn default() -> Self {
        View { horizon: AtomicU64::new(u64::MAX), turn: AtomicU64::new(0), state: Mutex::default(), forces: false }
    }
}

impl Only {
    fn has(&self, key: &Key) -> bool {
        let any =
            |patterns: &[String], text: &str| patterns.is_empty() || patterns.iter().any(|pattern| glob(pattern, text));
        self.resources.contains(&key.resource)
            && any(&self.words.namespaces, key.namespace())
            && any(&self.words.names, key.name())
    }
}

impl View {
    /// A view that is held there, maybe for all reads.
    pub(crate) fn at(held: Snapshot, forces: bool) -> View {
        let view = View { forces, ..View::default() };
        view.look(Some(held), None);
        view
    }

    /// Holds the view at the store's present state, also if it was held before: of all objects, or of some.
    pub(crate) fn hold(&self, store: &Store, only: Option<Only>) {
        self.look(Some(store.snapshot()), only);
    }

    /// Releases the view.
    pub(crate) fn release(&self) {
        self.look(None, None);
    }

    fn look(&self, held: Option<Snapshot>, only: Option<Only>) {
        let waiting = {
            let mut state = self.lock();
            // Before the horizon: who sees further knows that it has moved.
            self.turn.fetch_add(1, Ordering::Release);
            self.horizon.store(held.as_ref().map_or(u64::MAX, |held| held.revision), Ordering::Release);
            (state.held, state.only) = (held, only);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The number of times that it was held or released.
    pub(crate) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire)
    }

    /// Whether it is held, at least of some objects, and of which.
    pub(crate) fn is_held(&self) -> (bool, Option<HoldOnly>) {
        let state = self.lock();
        (state.held.is_some(), state.only.as_ref().map(|only| only.words.clone()))
    }

    /// The state at which the view of all objects is held, if it is.
    pub(crate) fn held(&self) -> Option<Snapshot> {
        let state = self.lock();
        state.held.clone().filter(|_| state.only.is_none())
    }

    /// The state that reads see in place of the newest, if there is one.
    pub(crate) fn forced(&self) -> Option<Snapshot> {
        self.forces.then(|| self.held()).flatten()
    }

    /// The snapshot that the replica sees.
    pub(crate) fn snapshot(&self, store: &Store) -> Snapshot {
        self.held().unwrap_or_else(|| store.snapshot())
    }

    /// Whether an event is in the view; if it is not, the task is woken when that may be so.
    pub(crate) fn poll_sees(&self, event: &Event, context: &Context<'_>) -> Sight {
        if event.revision <= self.horizon.load(Ordering::Acquire) {
            return Sight::Seen;
        }
        let mut state = self.lock();
        let is_held = state.held.as_ref().is_some_and(|held| held.revision < event.revision)
            && state.only.as_ref().is_none_or(|only| only.has(event.key()));
        if !is_held {
            return Sight::Seen;
        }
        let waker = context.waker();
        if !state.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
            state.waiting.push(waker.clone());
        }
        if state.only.is_some() { Sight::Apart } else { Sight::Unseen }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code that runs under this lock panics")
    }
}
