//! State derived from objects, such as a parsed policy: kept up to date from the store, read without a lock.
//!
//! ```text
//!                  nothing of the resources changed since
//!   current() ──┬──────────────────────────────────────────────────────────────┬──▶ the state, at one revision
//!               │ something did: one thread catches up, others wait            │
//!               └──▶ the store's history ──▶ apply, delete ──▶ the next state ─┘
//!                      └── forgotten ──▶ from a snapshot
//! ```
//! Where a change may take long to apply, readers ask for the state [`since`](Live::since) the last change, and until there is one they catch
//! up [a step](Live::step) at a time, so that none waits for a thread that does.
//!
//! A state is derived from its resources at exactly one revision, never from parts of several. Reads are linearizable: a
//! state has every change that any client could know of when the read began. Nothing is derived before the first read.

#[cfg(test)]
mod tests;

use crate::store::{Entry, Event, Expired, Kept, Key, ResourceId, Scope, Store};
use crate::sync::Mutex;
use arc_swap::{ArcSwap, Guard};
use std::collections::{HashSet, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, TryLockError};

/// State that is derived from the objects of some resources. The default is derived from none.
///
/// Each change begins with a clone, so clones have to be cheap: persistent maps inside.
pub(crate) trait Index: Clone + Default + Send + Sync + 'static {
    /// The place where a store keeps it.
    const PLACE: Place;
    /// The resources of the objects.
    const RESOURCES: &'static [ResourceId];

    /// Applies an object that is new or has changed.
    fn apply(&mut self, entry: &Entry);

    /// Deletes an object, which may be unknown.
    fn delete(&mut self, key: &Key);

    /// The same state for a fork of the store.
    fn fork(&self) -> Self {
        self.clone()
    }

    /// The state as it is now in that store.
    fn current(store: &Store) -> Current<Self> {
        store.kept::<Live<Self>>().current(store)
    }
}

/// The places of indexes in a store, and of what goes with them: all that there are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    AccessRules,
    AggregatedRoles,
    LimitRanges,
    MutatingPolicies,
    MutatingWebhooks,
    NodePorts,
    Nodes,
    PriorityClasses,
    Quotas,
    RemoteServices,
    ReservedNodePorts,
    ValidatingPolicies,
    ValidatingWebhooks,
}

/// An index that follows a store, which keeps it.
pub(crate) struct Live<S> {
    reached: ArcSwap<Reached<S>>,
    /// The next state, locked to catch up, never to read.
    next: Mutex<Option<Next<S>>>,
}

/// An index as of a revision.
struct Reached<S> {
    revision: u64,
    state: S,
}

/// The next state of an index, as far as it is made.
struct Next<S> {
    reached: Reached<S>,
    /// The changes that it lacks, in their order.
    changes: VecDeque<Change>,
}

/// A change of an object.
enum Change {
    Applied(Arc<Entry>),
    Deleted(Key),
}

/// The changes by events that are about the resources. Of an object's changes in a row the last one is as good as all.
fn changes<'e>(events: impl DoubleEndedIterator<Item = &'e Arc<Event>>, resources: &[ResourceId]) -> VecDeque<Change> {
    let (mut changes, mut changed) = (VecDeque::new(), HashSet::new());
    for event in events.rev().filter(|event| resources.contains(&event.key().resource)) {
        let is_last = changed.insert(event.key());
        match &event.after {
            Some(entry) if is_last => changes.push_front(Change::Applied(entry.clone())),
            Some(_) => {}
            None => changes.push_front(Change::Deleted(event.key().clone())),
        }
    }
    changes
}

/// The state of an index at the time of a read. Holding it blocks neither readers nor writers.
pub(crate) struct Current<S>(Guard<Arc<Reached<S>>>);

impl<S> Deref for Current<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0.state
    }
}

/// Says that an index cannot panic, or that one has.
const NEXT: &str = "no code that runs under this lock panics";

impl<S: Index> Default for Live<S> {
    fn default() -> Self {
        Live::of(Reached { revision: 0, state: S::default() })
    }
}

impl<S: Index> Kept for Live<S> {
    const PLACE: usize = S::PLACE as usize;

    fn fork(&self, revision: u64) -> Self {
        let reached = self.reached.load();
        match reached.revision <= revision {
            true => Live::of(Reached { revision: reached.revision, state: reached.state.fork() }),
            false => Live::default(),
        }
    }

    fn renew(&self) {
        // A state that is being made is of the former content.
        let mut next = self.next.lock().expect(NEXT);
        *next = None;
        self.reached.store(Arc::new(Reached { revision: 0, state: S::default() }));
    }
}

impl<S: Index> Live<S> {
    fn of(reached: Reached<S>) -> Self {
        Live { reached: ArcSwap::from_pointee(reached), next: Mutex::new(None) }
    }

    /// The state as it is now in that store, which keeps it.
    fn current(&self, store: &Store) -> Current<S> {
        // In this order: the state may be newer than the change, but not older.
        let changed = store.last_change(S::RESOURCES);
        if let Some(current) = self.since(changed) {
            return current;
        }
        let mut next = self.next.lock().expect(NEXT);
        loop {
            // Another thread may have caught up meanwhile, or the store has gone back.
            match self.since(changed.min(store.last_change(S::RESOURCES))) {
                Some(current) => return current,
                None => self.advance(store, &mut next),
            }
        }
    }

    /// The state, if it includes the change at that revision.
    pub(crate) fn since(&self, change: u64) -> Option<Current<S>> {
        let reached = self.reached.load();
        (reached.revision >= change).then_some(Current(reached))
    }

    /// Applies a change, or ends catching up; false, if another thread is at it.
    pub(crate) fn step(&self, store: &Store) -> bool {
        match self.next.try_lock() {
            Ok(mut next) => self.advance(store, &mut next),
            Err(TryLockError::WouldBlock) => return false,
            Err(TryLockError::Poisoned(_)) => panic!("{NEXT}"),
        }
        true
    }

    /// Applies a change to the next state, or replaces the state by it.
    fn advance(&self, store: &Store, place: &mut Option<Next<S>>) {
        let next = place.get_or_insert_with(|| self.next(store));
        if let Some(change) = next.changes.pop_front() {
            next.reached.change(change);
        } else if let Some(next) = place.take() {
            self.reached.store(Arc::new(next.reached));
        }
    }

    /// The next state, which lacks all changes.
    fn next(&self, store: &Store) -> Next<S> {
        let before = self.reached.load();
        match store.events_about(S::RESOURCES, before.revision) {
            Ok((events, now)) => {
                let reached = Reached { revision: now.revision, state: before.state.clone() };
                Next { reached, changes: changes(events.iter(), S::RESOURCES) }
            }
            Err(Expired { .. }) => {
                let snapshot = store.snapshot();
                let scopes = S::RESOURCES.iter().map(|resource| Scope::all(*resource)).collect::<Vec<_>>();
                let entries = scopes.iter().flat_map(|scope| snapshot.range(scope, ""));
                let changes = entries.cloned().map(Change::Applied).collect();
                Next { reached: Reached { revision: snapshot.revision, state: S::default() }, changes }
            }
        }
    }
}

impl<S: Index> Reached<S> {
    fn change(&mut self, change: Change) {
        match change {
            Change::Applied(entry) => self.state.apply(&entry),
            Change::Deleted(key) => self.state.delete(&key),
        }
    }
}
