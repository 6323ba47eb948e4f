//! A watcher's side of the store.
//!
//! ```text
//!            offer                 poll
//!   ┌───────┐ ───▶ ┌────────────┐ ───▶ Delivery::Event ...
//!   │ level │      │ owes events│
//!   └───────┘ ◀─── └─────┬──────┘
//!           queue empty  │ the window moved past the oldest one owed
//!                        ▼
//!                   ┌─────────┐
//!                   │ expired │ ───▶ Delivery::Expired, and nothing more
//!                   └─────────┘
//! ```
//! When its resource is closed, a watcher that owes nothing yields [`Delivery::Ended`].
//!
//! A level watcher owes nothing, so it cannot expire, however far other people's writes move the window.

use super::{Change, Entry, Event, Expired, Scope, Store};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Which objects a watcher wants to see.
pub type Filter = Box<dyn Fn(&Entry) -> bool + Send + Sync>;

/// What a subscription yields.
#[derive(Debug)]
pub enum Delivery {
    /// A change, and what it means under the subscription's filter.
    Event(Arc<Event>, Change),
    /// Events were forgotten before they could be delivered. Nothing follows.
    Expired(Expired),
    /// The resource is closed. Nothing follows.
    Ended,
}

pub(super) struct Watcher {
    pub(super) scope: Scope,
    filter: Option<Filter>,
    /// Only later events are offered to it; this may lie in the future.
    after: u64,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    owed: VecDeque<(Arc<Event>, Change)>,
    expired: Option<Expired>,
    ended: bool,
    waker: Option<Waker>,
}

impl Watcher {
    pub(super) fn new(scope: Scope, filter: Option<Filter>, after: u64) -> Self {
        Watcher { scope, filter, after, queue: Mutex::default() }
    }

    /// Queues the event if it means something to this watcher. Returns whom to wake.
    pub(super) fn offer(&self, event: &Arc<Event>, compacted: u64) -> Option<Waker> {
        if event.revision <= self.after {
            return None;
        }
        let change = event.classify(self.filter.as_ref())?;
        let mut queue = self.lock();
        queue.expire(compacted);
        if queue.expired.is_none() {
            queue.owed.push_back((event.clone(), change));
        }
        queue.waker.take()
    }

    /// Puts what means something to this watcher before all that it was offered.
    pub(super) fn owe_first(&self, past: impl IntoIterator<Item = Arc<Event>>) {
        let in_scope = past.into_iter().filter(|event| self.scope.contains(event.key()));
        let mut owed: VecDeque<_> =
            in_scope.filter_map(|event| event.classify(self.filter.as_ref()).map(|change| (event, change))).collect();
        let mut queue = self.lock();
        owed.append(&mut queue.owed);
        queue.owed = owed;
    }

    /// Expires if an owed event is forgotten. Returns whom to wake.
    pub(super) fn expire(&self, compacted: u64) -> Option<Waker> {
        let mut queue = self.lock();
        queue.expire(compacted);
        queue.expired.and_then(|_| queue.waker.take())
    }

    /// Ends after what is owed. Returns whom to wake.
    pub(super) fn end(&self) -> Option<Waker> {
        let mut queue = self.lock();
        queue.ended = true;
        queue.waker.take()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no code that runs under this lock panics")
    }
}

impl Queue {
    fn expire(&mut self, compacted: u64) {
        if self.owed.front().is_some_and(|(event, _)| event.revision <= compacted) {
            self.expired = Some(Expired { oldest: compacted });
            self.owed = VecDeque::new();
        }
    }
}

/// A place in the stream of events. Dropping it unsubscribes.
pub struct Subscription {
    store: Store,
    id: u64,
    watcher: Arc<Watcher>,
}

impl Subscription {
    pub(super) fn new(store: Store, id: u64, watcher: Arc<Watcher>) -> Self {
        Subscription { store, id, watcher }
    }

    /// The next delivery, if there is one already.
    pub fn try_next(&mut self) -> Option<Delivery> {
        match self.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(delivery) => Some(delivery),
            Poll::Pending => None,
        }
    }

    /// The next delivery; the caller is woken when there is one.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Delivery> {
        let mut queue = self.watcher.lock();
        if let Some(expired) = queue.expired {
            return Poll::Ready(Delivery::Expired(expired));
        }
        if let Some((event, change)) = queue.owed.pop_front() {
            return Poll::Ready(Delivery::Event(event, change));
        }
        if queue.ended {
            return Poll::Ready(Delivery::Ended);
        }
        queue.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// A revision up to which everything was delivered, if that is so: what a bookmark may say.
    pub fn level(&self) -> Option<u64> {
        // Read before the queue: all events up to it are then in the queue, or were taken from it.
        let revision = self.store.revision();
        let queue = self.watcher.lock();
        (queue.owed.is_empty() && queue.expired.is_none() && revision >= self.watcher.after).then_some(revision)
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
