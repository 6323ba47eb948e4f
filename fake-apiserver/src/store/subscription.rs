//! Subscriptions: what watchers owe to a client that polls. The queue of a watcher and its states are in `watcher.rs`.

use super::Store;
use super::event::Filter;
use super::history::Expired;
use super::key::Scope;
use super::snapshot::Snapshot;
use super::watcher::{AT_ONCE, Delivery, Queue, Watcher};
use super::watchers::Watchers;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

impl Store {
    /// Subscribes to the events of `scope` from now on. The snapshot has the content before them.
    pub fn subscribe(&self, scope: Scope, filter: Option<Filter>) -> (Snapshot, Subscription) {
        let mut watchers = self.watchers();
        let snapshot = self.snapshot();
        let watcher = Watcher::new(scope, filter, snapshot.revision, self.0.queue);
        (snapshot, self.enlist(&mut watchers, watcher))
    }

    /// Subscribes to the events of `scope` after `revision`, which may lie in the future.
    ///
    /// # Errors
    /// [`Expired`] if the window of events does not reach back that far, or the resource has [begun anew](Self::begin) since.
    pub fn subscribe_after(
        &self,
        revision: u64,
        scope: Scope,
        filter: Option<Filter>,
    ) -> Result<Subscription, Expired> {
        let mut watchers = self.watchers();
        let oldest = self.state().begun(scope.resource);
        if revision < oldest {
            return Err(Expired { oldest });
        }
        let watcher = Watcher::behind(scope, filter, revision, self.0.queue);
        let subscription = self.enlist(&mut watchers, watcher);
        drop(watchers);
        subscription.catch_up()?;
        Ok(subscription)
    }

    fn enlist(&self, watchers: &mut Watchers, watcher: Watcher) -> Subscription {
        let watcher = Arc::new(watcher);
        let state = self.state();
        if state.is_closed(watcher.scope.resource) {
            watcher.end(state.revision());
        }
        drop(state);
        Subscription::new(self.clone(), watchers.insert(watcher.clone()), watcher)
    }

    fn unsubscribe(&self, scope: &Scope, id: u64) {
        self.watchers().remove(scope, id);
    }
}

/// A subscription to events. Dropping it unsubscribes.
pub struct Subscription {
    store: Store,
    id: u64,
    watcher: Arc<Watcher>,
}

impl Subscription {
    fn new(store: Store, id: u64, watcher: Arc<Watcher>) -> Self {
        Subscription { store, id, watcher }
    }

    /// Queues events of the window, for a watcher that begins in the past.
    fn catch_up(&self) -> Result<(), Expired> {
        self.fill(&mut self.watcher.lock())
    }

    /// Fills the empty queue of a watcher that is behind from the window.
    ///
    /// # Errors
    /// [`Expired`] if the window does not reach back to the first owed event.
    fn fill(&self, queue: &mut Queue) -> Result<(), Expired> {
        let Some(behind) = queue.behind.take() else { return Ok(()) };
        let (now, history) = self.store.past();
        queue.after = now.max(behind);
        let last = queue.ended.unwrap_or(u64::MAX);
        let owed = history.after(behind)?;
        let owed = owed.iter().take_while(|event| event.revision <= last);
        for event in owed.filter(|event| self.watcher.scope.contains(event.key())) {
            let Some(change) = event.classify(self.watcher.filter.as_ref()) else { continue };
            if queue.owed.len() == queue.room {
                queue.behind = Some(event.revision - 1);
                break;
            }
            queue.owed.push_back((event.revision, Arc::downgrade(event), change));
        }
        Ok(())
    }

    /// Ends after the events that are committed by now.
    pub fn end(&self) {
        self.watcher.end(self.store.committed_revision());
    }

    /// Whether the store has gone back: earlier events that are still on their way are void.
    pub fn is_void(&self) -> bool {
        self.watcher.lock().ended == Some(AT_ONCE)
    }

    /// The next delivery, if there is one already.
    pub fn try_next(&mut self) -> Option<Delivery> {
        self.take(&mut self.watcher.lock())
    }

    /// The next delivery; the task is woken when there is one.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Delivery> {
        let mut queue = self.watcher.lock();
        queue.is_streamed = true;
        if let Some(delivery) = self.take(&mut queue) {
            queue.took = true;
            return Poll::Ready(delivery);
        }
        queue.waker = Some(context.waker().clone());
        let passed_on = match std::mem::take(&mut queue.took) {
            // What was taken in this turn of the task is not passed on yet.
            true => Vec::new(),
            false => std::mem::take(&mut queue.taken),
        };
        drop(queue);
        drop(passed_on);
        Poll::Pending
    }

    /// Takes the next delivery from the queue.
    fn take(&self, queue: &mut Queue) -> Option<Delivery> {
        if queue.owed.is_empty()
            && let Err(expired) = self.fill(queue)
        {
            queue.expired = Some(expired);
        }
        if let Some((revision, event, change)) = queue.owed.pop_front() {
            // It may be taken before the store counts its revision as delivered.
            queue.after = queue.after.max(revision);
            match event.upgrade() {
                Some(event) => return Some(Delivery::Event(event, change)),
                None => queue.forgotten(self.store.past().1.compacted()),
            }
        }
        let expired = queue.expired.map(Delivery::Expired);
        expired.or_else(|| queue.ended.map(|_| Delivery::Ended))
    }

    /// The revision up to which all events were taken, for a bookmark; `None` while events are owed.
    pub fn level(&self) -> Option<u64> {
        // Read before the queue, so that all events up to it are in the queue, or were taken from it.
        let revision = self.store.revision();
        let queue = self.watcher.lock();
        let owes_nothing = queue.owed.is_empty() && queue.behind.is_none() && queue.expired.is_none();
        (owes_nothing && revision >= queue.after).then_some(revision)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.store.unsubscribe(&self.watcher.scope, self.id);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("id", &self.id).finish_non_exhaustive()
    }
}
