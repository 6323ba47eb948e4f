//! How far a replica sees: everything that happens, or, held, only what there was when it was told to stand still.
//!
//! ```text
//!           hold                            release
//!   level ────────▶ held at a revision ────────────▶ level
//!                   lists and gets "not older than" come from there; watches end there, and go on when it is released
//! ```
//! As with the real server's watch cache, only reads that ask for no freshness are stale: those without a
//! `resourceVersion` are consistent, and so are writes.

use crate::store::{Snapshot, Store};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// What one replica sees of the store.
pub(crate) struct View {
    /// The revision that it stands still at, or the last there can be. What every event is held against without the lock.
    horizon: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: Option<Snapshot>,
    /// Watches that owe events from beyond what is seen.
    waiting: Vec<Waker>,
}

impl Default for View {
    fn default() -> Self {
        View { horizon: AtomicU64::new(u64::MAX), state: Mutex::default() }
    }
}

impl View {
    /// Stands still at what the store holds now, also if it stood still before.
    pub(crate) fn hold(&self, store: &Store) {
        self.look(Some(store.snapshot()));
    }

    /// Sees everything again.
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

    /// What it stands still at, if it does.
    pub(crate) fn held(&self) -> Option<Snapshot> {
        self.lock().held.clone()
    }

    /// Everything as it is seen.
    pub(crate) fn snapshot(&self, store: &Store) -> Snapshot {
        self.held().unwrap_or_else(|| store.snapshot())
    }

    /// Ready once the event of that revision is seen; the caller is woken when it may be.
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
