//! A watcher: the queue of the events that it owes.
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
//! When its resource is closed or begins anew, a watcher owes no later events, and one that owes nothing yields [`Delivery::Ended`]. When the
//! store goes back, all watchers owe nothing.
//!
//! A level watcher owes no events, so it cannot expire, however far other writes move the window. Owed events are kept by
//! the window alone: a queue only points to them, and its length is bounded.

use super::event::{Change, Event, Filter};
use super::history::Expired;
use super::key::Scope;
use super::taken::Taken;
use crate::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::Waker;

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

/// The revision of the last event that a watcher owes which has ended at once: no event has it.
pub(super) const AT_ONCE: u64 = 0;

pub(super) struct Watcher {
    pub(super) scope: Scope,
    pub(super) filter: Option<Filter>,
    queue: Mutex<Queue>,
}

pub(super) struct Queue {
    pub(super) owed: VecDeque<(u64, Weak<Event>, Change)>,
    /// The most events that it holds.
    pub(super) room: usize,
    /// The revision after which it takes events, which may lie in the future.
    pub(super) after: u64,
    /// If not all owed events are in the queue: the revision after which the rest follows.
    pub(super) behind: Option<u64>,
    pub(super) expired: Option<Expired>,
    /// The revision of the last event that can be owed, once the subscription is to end.
    pub(super) ended: Option<u64>,
    pub(super) waker: Option<Waker>,
    /// Whether a task polls it: others take what there is now and then.
    pub(super) is_streamed: bool,
    /// Whether that task took anything since it last found nothing.
    pub(super) took: bool,
    /// Held until all that is owed now is passed on.
    pub(super) taken: Vec<Arc<Taken>>,
}

impl Watcher {
    /// A watcher of the events after `after`, with room for that many.
    pub(super) fn new(scope: Scope, filter: Option<Filter>, after: u64, room: usize) -> Self {
        let owed = VecDeque::new();
        let queue = Queue {
            owed,
            room,
            after,
            behind: None,
            expired: None,
            ended: None,
            waker: None,
            is_streamed: false,
            took: false,
            taken: Vec::new(),
        };
        Watcher { scope, filter, queue: Mutex::new(queue) }
    }

    /// A watcher that owes all events after `revision`, and has to [catch up](super::Subscription).
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

    /// Ends whatever it owes. Returns the task to wake.
    pub(super) fn end_at_once(&self) -> Option<Waker> {
        let mut queue = self.lock();
        (queue.owed, queue.behind, queue.expired, queue.ended) = (VecDeque::new(), None, None, Some(AT_ONCE));
        queue.waker.take()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no code that runs under this lock panics")
    }
}

impl Queue {
    fn expire(&mut self, compacted: u64) {
        if self.owed.front().is_some_and(|(revision, ..)| *revision <= compacted) {
            self.forgotten(compacted);
        }
    }

    /// Holds `taken` until the events are passed on, if any are to be. Returns whether this is a stream that is not slow.
    pub(super) fn hold(&mut self, taken: &Arc<Taken>) -> bool {
        let is_awaited = self.is_streamed && !self.taken.iter().any(|taken| taken.is_overdue());
        if is_awaited && (self.took || !self.owed.is_empty() || self.behind.is_some()) {
            self.taken.push(taken.clone());
        }
        is_awaited
    }

    /// Expires, as owed events are forgotten.
    pub(super) fn forgotten(&mut self, compacted: u64) {
        self.expired = Some(Expired { oldest: compacted });
        self.owed = VecDeque::new();
        self.behind = None;
    }
}
