//! Subscriptions: a watcher's queue of events, and catching up from the window.
//!
//! ```text
//!            offer                 poll
//!   ┌───────┐ ───▶ ┌────────────┐ ───▶ Delivery::Event ...
//!   │ level │      │ owes events│
//!   └───────┘ ◀─── └──┬──┬──────┘
//!        queue empty  │  │ ▲ queue full: offers are passed over
//!                     │  ▼ │ queue empty: it is filled from the window
//!                     │ ┌──┴─────┐
//!                     │ │ behind │
//!                     │ └──┬─────┘
//!                     ▼    ▼ the window moved past the oldest event owed
//!                   ┌─────────┐
//!                   │ expired │ ───▶ Delivery::Expired, and nothing more
//!                   └─────────┘
//! ```
//! When its resource is closed or begins anew, a watcher owes no later events, and one that owes nothing yields [`Delivery::Ended`].
//!
//! A level watcher owes no events, so it cannot expire, however far other writes move the window. Owed events are kept by
//! the window alone: a queue only points to them, and its length is bounded.

use super::{Change, Entry, Event, Expired, Scope, Store};
use crate::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

/// A predicate for the objects that a watcher selects.
pub type Filter = Box<dyn Fn(&Entry) -> bool + Send + Sync>;

/// An item that a subscription yields.
#[derive(Debug)]
pub enum Delivery {
    /// An event, and its type under the subscription's filter.
    Event(Arc<Event>, Change),
    /// Events were forgotten before they could be delivered. Nothing follows.
    Expired(Expired),
    /// The resource is closed, or began anew. Nothing follows.
    Ended,
}

pub(super) struct Watcher {
    pub(super) scope: Scope,
    filter: Option<Filter>,
    queue: Mutex<Queue>,
}

struct Queue {
    owed: VecDeque<(u64, Weak<Event>, Change)>,
    /// The most events that it holds.
    room: usize,
    /// The revision after which it takes events, which may lie in the future.
    after: u64,
    /// If not all owed events are in the queue: the revision after which the rest follows.
    behind: Option<u64>,
    expired: Option<Expired>,
    /// The revision of the last event that can be owed, once the subscription is to end.
    ended: Option<u64>,
    waker: Option<Waker>,
}

impl Watcher {
    /// A watcher of the events after `after`, with room for that many.
    pub(super) fn new(scope: Scope, filter: Option<Filter>, after: u64, room: usize) -> Self {
        let owed = VecDeque::new();
        let queue = Queue { owed, room, after, behind: None, expired: None, ended: None, waker: None };
        Watcher { scope, filter, queue: Mutex::new(queue) }
    }

    /// A watcher that owes all events after `revision`, and has to [catch up](Self::catch_up).
    pub(super) fn behind(scope: Scope, filter: Option<Filter>, revision: u64, room: usize) -> Self {
        let mut watcher = Watcher::new(scope, filter, revision, room);
        watcher.queue.get_mut().expect("it is not shared yet").behind = Some(revision);
        watcher
    }

    /// Queues the event if it concerns this watcher. Returns the task to wake.
    pub(super) fn offer(&self, event: &Arc<Event>, compacted: u64) -> Option<Waker> {
        let change = event.classify(self.filter.as_ref())?;
        let mut queue = self.lock();
        if event.revision <= queue.after || queue.ended.is_some_and(|last| last < event.revision) {
            return None;
        }
        queue.expire(compacted);
        if queue.behind.is_none() && queue.expired.is_none() {
            match queue.owed.len() == queue.room {
                true => queue.behind = Some(event.revision - 1),
                false => queue.owed.push_back((event.revision, Arc::downgrade(event), change)),
            }
        }
        queue.waker.take()
    }

    /// Fills the empty queue of a watcher that is behind from the window.
    ///
    /// # Errors
    /// [`Expired`] if the window does not reach back to the first owed event.
    fn catch_up(&self, queue: &mut Queue, store: &Store) -> Result<(), Expired> {
        let Some(behind) = queue.behind.take() else { return Ok(()) };
        let (now, history) = store.past();
        queue.after = now.max(behind);
        let last = queue.ended.unwrap_or(u64::MAX);
        let owed = history.after(behind)?;
        let owed = owed.iter().take_while(|event| event.revision <= last);
        for event in owed.filter(|event| self.scope.contains(event.key())) {
            let Some(change) = event.classify(self.filter.as_ref()) else { continue };
            if queue.owed.len() == queue.room {
                queue.behind = Some(event.revision - 1);
                break;
            }
            queue.owed.push_back((event.revision, Arc::downgrade(event), change));
        }
        Ok(())
    }

    /// Expires if an owed event is forgotten. Returns the task to wake.
    pub(super) fn expire(&self, compacted: u64) -> Option<Waker> {
        let mut queue = self.lock();
        queue.expire(compacted);
        queue.expired.and_then(|_| queue.waker.take())
    }

    /// Ends after the owed events, of which the last is at `revision` or before. Returns the task to wake.
    pub(super) fn end(&self, revision: u64) -> Option<Waker> {
        let mut queue = self.lock();
        queue.ended.get_or_insert(revision);
        queue.waker.take()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no code that runs under this lock panics")
    }
}

impl Queue {
    fn expire(&mut self, compacted: u64) {
        if self.owed.front().is_some_and(|(revision, ..)| *revision <= compacted) {
            self.forgotten(compacted);
        }
    }

    /// Expires, as owed events are forgotten.
    fn forgotten(&mut self, compacted: u64) {
        self.expired = Some(Expired { oldest: compacted });
        self.owed = VecDeque::new();
        self.behind = None;
    }
}

/// A subscription to events. Dropping it unsubscribes.
pub struct Subscription {
    store: Store,
    id: u64,
    watcher: Arc<Watcher>,
}

impl Subscription {
    pub(super) fn new(store: Store, id: u64, watcher: Arc<Watcher>) -> Self {
        Subscription { store, id, watcher }
    }

    /// Queues events of the window, for a watcher that begins in the past.
    pub(super) fn catch_up(&self) -> Result<(), Expired> {
        self.watcher.catch_up(&mut self.watcher.lock(), &self.store)
    }

    /// Ends after the events that are committed by now.
    pub fn end(&self) {
        self.watcher.end(self.store.committed_revision());
    }

    /// The next delivery, if there is one already.
    pub fn try_next(&mut self) -> Option<Delivery> {
        match self.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(delivery) => Some(delivery),
            Poll::Pending => None,
        }
    }

    /// The next delivery; the task is woken when there is one.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Delivery> {
        let mut queue = self.watcher.lock();
        if queue.owed.is_empty()
            && let Err(expired) = self.watcher.catch_up(&mut queue, &self.store)
        {
            queue.expired = Some(expired);
        }
        if let Some((revision, event, change)) = queue.owed.pop_front() {
            // It may be taken before the store counts its revision as delivered.
            queue.after = queue.after.max(revision);
            match event.upgrade() {
                Some(event) => return Poll::Ready(Delivery::Event(event, change)),
                None => queue.forgotten(self.store.past().1.compacted()),
            }
        }
        if let Some(expired) = queue.expired {
            return Poll::Ready(Delivery::Expired(expired));
        }
        if queue.ended.is_some() {
            return Poll::Ready(Delivery::Ended);
        }
        queue.waker = Some(context.waker().clone());
        Poll::Pending
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
