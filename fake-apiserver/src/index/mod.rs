//! State derived from objects, such as a parsed policy: kept up to date from the store, read without a lock.
//!
//! ```text
//!                  nothing of the resources changed since
//!   current() ──┬──────────────────────────────────────────────────────┬──▶ the state, at one revision
//!               │ something did: one thread catches up, others wait    │
//!               └──▶ events ──▶ apply, delete ──▶ the next state ──────┘
//!                      └── forgotten by the store ──▶ reset, from a snapshot
//! ```
//! Where a change may take long to apply, readers ask for the state [`since`](Live::since) the last change, and until there is one they catch
//! up [a step](Live::step) at a time, so that none waits for a thread that does.
//!
//! A state is derived from its resources at exactly one revision, never from parts of several. Reads are linearizable: a
//! state has every change that any client could know of when the read began. Nothing is derived before the first read.

#[cfg(test)]
mod tests;

use crate::store::{Delivery, Entry, Event, Expired, Key, LastChange, ResourceId, Scope, Store, Subscription};
use crate::sync::Mutex;
use arc_swap::{ArcSwap, Guard};
use std::collections::{HashSet, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, TryLockError};

/// State that is derived from the objects of some resources. The default is derived from none.
///
/// Each change begins with a clone, so clones have to be cheap: persistent maps inside.
pub(crate) trait Index: Clone + Default {
    /// Applies an object that is new or has changed.
    fn apply(&mut self, entry: &Entry);

    /// Deletes an object, which may be unknown.
    fn delete(&mut self, key: &Key);
}

/// An index that follows a store.
pub(crate) struct Live<S> {
    store: Store,
    resources: Box<[ResourceId]>,
    last_changes: Box<[LastChange]>,
    reached: ArcSwap<Reached<S>>,
    /// The feed, locked to catch up, never to read.
    feed: Mutex<Feed<S>>,
}

/// An index as of a revision.
struct Reached<S> {
    revision: u64,
    state: S,
}

/// The events to apply.
struct Feed<S> {
    /// The subscriptions, one for each resource.
    subscriptions: Vec<Subscription>,
    /// Events from the subscriptions that are later than the state, and than the next one.
    events: Vec<Arc<Event>>,
    next: Option<Next<S>>,
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

/// The changes by events that are later than `revision`. Of an object's changes in a row the last one is as good as all.
fn changes(events: &[Arc<Event>], revision: u64) -> VecDeque<Change> {
    let (mut changes, mut changed) = (VecDeque::new(), HashSet::new());
    for event in events.iter().rev().take_while(|event| event.revision > revision) {
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
const FEED: &str = "no code that runs under this lock panics";

impl<S: Index> Live<S> {
    /// An index of the objects of these resources.
    pub(crate) fn new(store: Store, resources: &[ResourceId]) -> Live<S> {
        let last_changes = resources.iter().map(|resource| store.last_change(*resource)).collect();
        let (feed, mut next) = reset(&store, resources);
        next.changes.drain(..).for_each(|change| next.reached.change(change));
        Live {
            store,
            resources: resources.into(),
            last_changes,
            reached: ArcSwap::from_pointee(next.reached),
            feed: Mutex::new(feed),
        }
    }

    /// The state as it is now.
    pub(crate) fn current(&self) -> Current<S> {
        // In this order: the state may be newer than the change, but not older.
        let changed = self.last_change();
        if let Some(current) = self.since(changed) {
            return current;
        }
        let mut feed = self.feed.lock().expect(FEED);
        loop {
            // Another thread may have caught up meanwhile.
            match self.since(changed) {
                Some(current) => return current,
                None => self.advance(&mut feed),
            }
        }
    }

    /// The revision of the last change, which a reader has to know of that comes now.
    pub(crate) fn last_change(&self) -> u64 {
        self.last_changes.iter().map(LastChange::revision).max().unwrap_or_default()
    }

    /// The state, if it includes that change.
    pub(crate) fn since(&self, change: u64) -> Option<Current<S>> {
        let reached = self.reached.load();
        (reached.revision >= change).then_some(Current(reached))
    }

    /// Applies a change, or ends catching up; false, if another thread is at it.
    pub(crate) fn step(&self) -> bool {
        match self.feed.try_lock() {
            Ok(mut feed) => self.advance(&mut feed),
            Err(TryLockError::WouldBlock) => return false,
            Err(TryLockError::Poisoned(_)) => panic!("{FEED}"),
        }
        true
    }

    /// Applies a change to the next state, or replaces the state by it.
    fn advance(&self, feed: &mut Feed<S>) {
        let next = match &mut feed.next {
            Some(next) => next,
            None => {
                let next = self.next(feed);
                feed.next.insert(next)
            }
        };
        if let Some(change) = next.changes.pop_front() {
            next.reached.change(change);
        } else if let Some(next) = feed.next.take() {
            self.reached.store(Arc::new(next.reached));
        }
    }

    /// The next state, which lacks all changes.
    fn next(&self, feed: &mut Feed<S>) -> Next<S> {
        // No earlier than any client may know of, and no later than the events that the subscriptions hold.
        let revision = self.store.delivered_revision();
        match feed.take(revision) {
            Ok(events) => {
                let before = self.reached.load();
                let changes = changes(&events, before.revision);
                Next { reached: Reached { revision, state: before.state.clone() }, changes }
            }
            Err(Expired { .. }) => {
                let next;
                (*feed, next) = reset(&self.store, &self.resources);
                next
            }
        }
    }
}

/// The feed of what follows the present objects, and the state that lacks these.
fn reset<S: Index>(store: &Store, resources: &[ResourceId]) -> (Feed<S>, Next<S>) {
    let scopes: Vec<Scope> = resources.iter().map(|resource| Scope::all(*resource)).collect();
    let subscriptions = scopes.iter().map(|scope| store.subscribe(scope.clone(), None).1).collect();
    // Taken last: it includes the events that the subscriptions hold already.
    let snapshot = store.snapshot();
    let changes = scopes.iter().flat_map(|scope| snapshot.range(scope, "")).cloned().map(Change::Applied).collect();
    let reached = Reached { revision: snapshot.revision, state: S::default() };
    (Feed { subscriptions, events: Vec::new(), next: None }, Next { reached, changes })
}

impl<S> Feed<S> {
    /// The events up to `revision` in their order, over all resources.
    fn take(&mut self, revision: u64) -> Result<Vec<Arc<Event>>, Expired> {
        for subscription in &mut self.subscriptions {
            while let Some(delivery) = subscription.try_next() {
                match delivery {
                    Delivery::Event(event, _) => self.events.push(event),
                    Delivery::Expired(expired) => return Err(expired),
                    Delivery::Ended => break,
                }
            }
        }
        self.events.sort_by_key(|event| event.revision);
        let later = self.events.partition_point(|event| event.revision <= revision);
        let later = self.events.split_off(later);
        Ok(std::mem::replace(&mut self.events, later))
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
