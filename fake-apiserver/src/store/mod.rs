//! Objects under one revision counter, with a bounded past and subscriptions to the future.
//!
//! The store knows neither HTTP nor any Kubernetes kind; what it keeps are keys, serialised objects and the few
//! facts that routing and selecting need. It is synchronous: one mutex, held for the time of a map operation.
//!
//! Invariants:
//! - Every change takes the next revision; a write that changes nothing takes none and makes no event.
//! - Every update and delete names the revision that it was computed from, and fails if that is not the current one.
//! - The past is readable as far back as the window of events reaches, and not at all beyond.
//! - A subscription sees every matching event exactly once, in order; if it is too slow for the window, it is told so.

mod entry;
mod event;
mod history;
mod key;
mod last_change;
mod state;
mod subscription;
mod watchers;

pub use entry::{Draft, Entry, Meta};
pub use event::{Change, Event};
pub use key::{Key, ResourceId, Scope};
pub use last_change::LastChange;
pub use subscription::{Delivery, Filter, Subscription};

use state::State;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

/// A handle on the store; clones share it.
#[derive(Clone)]
pub struct Store(Arc<Shared>);

struct Shared {
    /// A std mutex: never held across an await, and for microseconds at most.
    state: Mutex<State>,
    /// The state's revision, readable without the lock. Stored after the events up to it were handed out.
    revision: AtomicU64,
}

/// The whole content at one revision. Cheap to take and to keep.
#[derive(Clone)]
pub struct Snapshot {
    /// The revision that this is the content of.
    pub revision: u64,
    objects: imbl::OrdMap<Key, Arc<Entry>>,
}

/// What became of an update.
#[derive(Debug, Clone)]
pub enum Updated {
    /// Stored under a new revision.
    Changed(Arc<Entry>),
    /// Byte for byte what is stored already: nothing happened.
    Unchanged(Arc<Entry>),
}

/// Why a write was refused.
#[derive(Debug, Clone)]
pub enum WriteError {
    /// There is no such object.
    NotFound,
    /// There is one already.
    Exists(Arc<Entry>),
    /// It is not at the expected revision any more; here is what it is now.
    Modified(Arc<Entry>),
    /// The object that this one must live in is not there.
    NoParent,
    /// The object that this one must live in takes no more content.
    ParentClosed,
}

/// The asked-for past is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    /// The oldest revision that can still be asked for.
    pub oldest: u64,
}

/// What a new object must live in, checked in the same instant as it is stored.
#[derive(Debug, Clone)]
pub struct Parent {
    /// Key of the parent.
    pub key: Key,
    /// The parent takes new content only while this field does not hold this value.
    pub closed_when: (&'static str, &'static str),
}

impl Store {
    /// An empty store at revision 1 that remembers the last `history` events.
    pub fn new(history: usize) -> Self {
        let state = State::new(history);
        let revision = AtomicU64::new(state.revision());
        Store(Arc::new(Shared { state: Mutex::new(state), revision }))
    }

    /// The current revision.
    pub fn revision(&self) -> u64 {
        self.0.revision.load(Ordering::Acquire)
    }

    /// One object.
    pub fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        self.lock().get(key)
    }

    /// Everything, now.
    pub fn snapshot(&self) -> Snapshot {
        self.lock().snapshot()
    }

    /// Everything as it was at `revision`: the present with later events undone.
    ///
    /// # Errors
    /// [`Expired`] if the window of events does not reach back that far.
    pub fn snapshot_at(&self, revision: u64) -> Result<Snapshot, Expired> {
        let (now, events) = {
            let state = self.lock();
            (state.snapshot(), state.events_after(revision)?)
        };
        Ok(now.rewound(revision, &events))
    }

    /// The current revision, once all subscriptions hold the events up to it: waits for a delivery that is going on.
    pub fn delivered_revision(&self) -> u64 {
        self.lock().revision()
    }

    /// The revision of the last change to a resource, from now on.
    pub fn last_change(&self, resource: ResourceId) -> LastChange {
        self.lock().last_change(resource)
    }

    /// Stores a new object.
    ///
    /// # Errors
    /// [`WriteError::Exists`], [`WriteError::NoParent`], [`WriteError::ParentClosed`].
    pub fn create(&self, draft: Draft, parent: Option<&Parent>) -> Result<Arc<Entry>, WriteError> {
        self.write(|state, wakers| state.create(draft, parent, wakers))
    }

    /// Replaces the object that is at revision `expected`.
    ///
    /// # Errors
    /// [`WriteError::NotFound`], [`WriteError::Modified`].
    pub fn update(&self, draft: Draft, expected: u64) -> Result<Updated, WriteError> {
        self.write(|state, wakers| state.update(draft, expected, wakers))
    }

    /// Removes the object that is at revision `expected`; returns it under the revision of its removal.
    ///
    /// # Errors
    /// [`WriteError::NotFound`], [`WriteError::Modified`].
    pub fn delete(&self, key: &Key, expected: u64) -> Result<Arc<Entry>, WriteError> {
        self.write(|state, wakers| state.delete(key, expected, wakers))
    }

    /// Forgets all events up to and including `revision`.
    pub fn compact(&self, revision: u64) {
        self.write(|state, wakers| state.compact(revision, wakers));
    }

    /// Subscribes to what happens in `scope` from now on, with the content of this instant.
    pub fn subscribe(&self, scope: Scope, filter: Option<Filter>) -> (Snapshot, Subscription) {
        let mut state = self.lock();
        let snapshot = state.snapshot();
        let (id, watcher) = state.subscribe(scope, filter, snapshot.revision);
        (snapshot, Subscription::new(self.clone(), id, watcher))
    }

    /// Subscribes to what happened in `scope` after `revision`, which may lie in the future.
    ///
    /// # Errors
    /// [`Expired`] if the window of events does not reach back that far.
    pub fn subscribe_after(
        &self,
        revision: u64,
        scope: Scope,
        filter: Option<Filter>,
    ) -> Result<Subscription, Expired> {
        let mut state = self.lock();
        let (id, watcher) = state.subscribe_after(revision, scope, filter)?;
        Ok(Subscription::new(self.clone(), id, watcher))
    }

    fn unsubscribe(&self, scope: &Scope, id: u64) {
        self.lock().unsubscribe(scope, id);
    }

    /// Runs a write under the lock, and wakes those concerned after it.
    fn write<T>(&self, change: impl FnOnce(&mut State, &mut Vec<Waker>) -> T) -> T {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        let result = change(&mut state, &mut wakers);
        self.0.revision.store(state.revision(), Ordering::Release);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().expect("no code that runs under this lock panics")
    }
}

impl Snapshot {
    fn new(revision: u64, objects: imbl::OrdMap<Key, Arc<Entry>>) -> Self {
        Snapshot { revision, objects }
    }

    /// One object.
    pub fn get(&self, key: &Key) -> Option<&Arc<Entry>> {
        self.objects.get(key)
    }

    /// The objects of `scope` in key order, from the first whose path is not before `start`.
    pub fn range<'s>(&'s self, scope: &'s Scope, start: &str) -> impl Iterator<Item = &'s Arc<Entry>> + 's {
        // Only a name in all namespaces is more than a range.
        let exact = scope.namespace.is_some() || scope.name.is_none();
        let entries = self.objects.range(scope.bounds(start)).map(|(_, entry)| entry);
        entries.filter(move |entry| exact || scope.contains(&entry.key))
    }

    fn rewound(mut self, revision: u64, events: &[Arc<Event>]) -> Snapshot {
        for event in events.iter().rev() {
            match &event.before {
                Some(before) => self.objects.insert(before.key.clone(), before.clone()),
                None => self.objects.remove(event.key()),
            };
        }
        Snapshot { revision: revision.min(self.revision), objects: self.objects }
    }
}
