//! A replica's view of the store: the present, or, while it is held, the state at that moment.
//!
//! ```text
//!           hold                            release
//!   level ────────▶ held at a revision ────────────▶ level
//!                   lists and gets "not older than" come from there; watches end there, and go on when it is released
//! ```
//! As with the real server's watch cache, only reads that ask for no freshness are stale: those without a
//! `resourceVersion` are consistent, and so are writes.

use crate::store::{Snapshot, Store};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use std::task::{Context, Poll, Waker};

/// The view of one replica.
pub(crate) struct View {
    /// The revision at which the view is held, or `u64::MAX`. Events are compared with it without the lock.
    horizon: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: Option<Snapshot>,
    /// The tasks of watches with events beyond the view.
    waiting: Vec<Waker>,
}

impl Default for View {
    fn default() -> Self {
        View { horizon: AtomicU64::new(u64::MAX), state: Mutex::default() }
    }
}

impl View {
    /// A view that is held there.
    pub(crate) fn at(held: Snapshot) -> View {
        let state = State { held: Some(held), ..State::default() };
        View {
            horizon: AtomicU64::new(state.held.as_ref().map_or(u64::MAX, |held| held.revision)),
            state: Mutex::new(state),
        }
    }

    /// Holds the view at the store's present state, also if it was held before.
    pub(crate) fn hold(&self, store: &Store) {
        self.look(Some(store.snapshot()));
    }

    /// Releases the view.
    pub(crate) fn release(&self) {
        self.look(None);
    }

    fn look(&self, held: Option<Snapshot>) {
        let waiting = {
            let mut state = self.lock();
            self.horizon.store(held.as_ref().map_or(u64::MAX, |held| held.revision), Ordering::Release);
            state.held = held;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The state at which the view is held, if it is.
    pub(crate) fn held(&self) -> Option<Snapshot> {
        self.lock().held.clone()
    }

    /// The snapshot that the replica sees.
    pub(crate) fn snapshot(&self, store: &Store) -> Snapshot {
        self.held().unwrap_or_else(|| store.snapshot())
    }

    /// Completes once the event of that revision is in the view; the task is woken when that may be so.
    pub(crate) fn poll_sees(&self, revision: u64, context: &Context<'_>) -> Poll<()> {
        if revision <= self.horizon.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let mut state = self.lock();
        match &state.held {
            Some(held) if held.revision < revision => {
                let waker = context.waker();
                if !state.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
                    state.waiting.push(waker.clone());
                }
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code that runs under this lock panics")
    }
}
