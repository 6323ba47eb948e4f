//! State derived from objects, such as a parsed policy: kept up to date from the store, read without a lock.
//!
//! ```text
//!                  nothing of the resources changed since
//!   current() ──┬──────────────────────────────────────────────────────┬──▶ the state, at one revision
//!               │ something did: one thread catches up, others wait    │
//!               └──▶ events ──▶ apply, delete ──▶ the next state ──────┘
//!                      └── forgotten by the store ──▶ reset, from a snapshot
//! ```
//! A state is derived from its resources at exactly one revision, never from parts of several. Reads are linearizable: a
//! state has every change that any client could know of when the read began. Nothing is derived before the first read.

#[cfg(test)]
mod tests;

use crate::store::{Delivery, Entry, Event, Expired, Key, LastChange, ResourceId, Scope, Store, Subscription};
use crate::sync::Mutex;
use arc_swap::{ArcSwap, Guard};
use std::ops::Deref;
use std::sync::Arc;

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
    feed: Mutex<Feed>,
}

/// An index as of a revision.
struct Reached<S> {
    revision: u64,
    state: S,
}

/// The events to apply.
struct Feed {
    /// The subscriptions, one for each resource.
    subscriptions: Vec<Subscription>,
    /// Events from the subscriptions that are later than the state.
    events: Vec<Arc<Event>>,
}

/// The state of an index at the time of a read. Holding it blocks neither readers nor writers.
pub(crate) struct Current<S>(Guard<Arc<Reached<S>>>);

impl<S> Deref for Current<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0.state
    }
}

impl<S: Index> Live<S> {
    /// An index of the objects of these resources.
    pub(crate) fn new(store: Store, resources: &[ResourceId]) -> Live<S> {
        let last_changes = resources.iter().map(|resource| store.last_change(*resource)).collect();
        let (feed, reached) = reset(&store, resources);
        Live {
            store,
            resources: resources.into(),
            last_changes,
            reached: ArcSwap::from_pointee(reached),
            feed: Mutex::new(feed),
        }
    }

    /// The state as it is now.
    pub(crate) fn current(&self) -> Current<S> {
        // In this order: the state may be newer than the change, but not older.
        let changed = self.last_change();
        let reached = self.reached.load();
        if reached.revision >= changed {
            return Current(reached);
        }
        drop(reached);
        self.catch_up();
        Current(self.reached.load())
    }

    fn last_change(&self) -> u64 {
        self.last_changes.iter().map(LastChange::revision).max().unwrap_or_default()
    }

    fn catch_up(&self) {
        let mut feed = self.feed.lock().expect("no code that runs under this lock panics");
        let reached = self.reached.load();
        if reached.revision >= self.last_change() {
            // Another thread has done it meanwhile.
            return;
        }
        // No earlier than any client may know of, and no later than the events that the subscriptions hold.
        let revision = self.store.delivered_revision();
        let next = match feed.take(revision) {
            Ok(events) => reached.after(&events, revision),
            Err(Expired { .. }) => {
                let (restarted, next) = reset(&self.store, &self.resources);
                *feed = restarted;
                next
            }
        };
        self.reached.store(Arc::new(next));
    }
}

/// The index of the present objects, and the feed of the following events.
fn reset<S: Index>(store: &Store, resources: &[ResourceId]) -> (Feed, Reached<S>) {
    let scopes: Vec<Scope> = resources.iter().map(|resource| Scope::all(*resource)).collect();
    let subscriptions = scopes.iter().map(|scope| store.subscribe(scope.clone(), None).1).collect();
    // Taken last: it includes the events that the subscriptions hold already.
    let snapshot = store.snapshot();
    let mut state = S::default();
    scopes.iter().flat_map(|scope| snapshot.range(scope, "")).for_each(|entry| state.apply(entry));
    (Feed { subscriptions, events: Vec::new() }, Reached { revision: snapshot.revision, state })
}

impl Feed {
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
    /// The same index at a later revision, after these events.
    fn after(&self, events: &[Arc<Event>], revision: u64) -> Reached<S> {
        let mut state = self.state.clone();
        for event in events.iter().filter(|event| event.revision > self.revision) {
            match &event.after {
                Some(entry) => state.apply(entry),
                None => state.delete(event.key()),
            }
        }
        Reached { revision, state }
    }
}
