//! A priority level of a server: its seats and queues under a lock, and those who wait for it.

use super::demand::{Demand, Known};
use super::dropped::Dropped;
use super::queues::{QueueState, Queues, Reason, Seated};
use crate::registry::{PriorityLevel, Queuing};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A priority level.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) name: Box<str>,
    /// The requests that nothing limits; `None` if there are limits.
    exempt: Option<Exempt>,
    state: Mutex<State>,
    pub(super) dispatched: AtomicU64,
}

/// Requests without limits.
#[derive(Debug, Default)]
struct Exempt {
    executing: AtomicUsize,
    /// The most at a time since the last adjustment.
    most: AtomicUsize,
}

/// The numbers of seats of a level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Those that its shares are worth.
    pub(crate) nominal: usize,
    /// Those that others may not borrow.
    pub(crate) lowest: usize,
    /// Those that it may have if it borrows.
    pub(crate) highest: usize,
    /// Those that it has at present.
    pub(crate) current: usize,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) queues: Queues,
    waiting: HashMap<u64, Waiter>,
    next_id: u64,
    demand: Demand,
    pub(super) known: Known,
    pub(super) limits: Limits,
    dropped: Dropped,
    pub(super) rejected: u64,
    pub(super) cancelled: u64,
    /// Whether its configuration is gone, and only those who are here are served.
    pub(super) is_quiescing: bool,
}

/// A request that waits.
#[derive(Debug)]
struct Waiter {
    told: oneshot::Sender<Seated>,
    about: Arc<About>,
}

/// The facts about a request that waits, for people.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) schema: Box<str>,
    pub(crate) distinguisher: Box<str>,
    pub(crate) seats: usize,
    pub(crate) user: Box<str>,
    pub(crate) verb: Box<str>,
    pub(crate) path: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) api_version: Box<str>,
    pub(crate) resource: Box<str>,
    pub(crate) subresource: Box<str>,
    /// When it came, as Go prints it.
    pub(crate) arrived: Box<str>,
}

/// The beginning of a request at a level.
pub(super) enum Begun {
    /// It needs no seat.
    Exempt,
    Seated(Seated),
    /// It waits until it is told, in the queue of that number, as one of so many.
    Waits {
        id: u64,
        queue: u32,
        length: usize,
        told: oneshot::Receiver<Seated>,
    },
    Refused(Reason),
}

/// The state of a level, for people.
pub(crate) struct LevelState {
    pub(crate) is_idle: bool,
    pub(crate) is_quiescing: bool,
    pub(crate) waiting: usize,
    pub(crate) executing: usize,
    pub(crate) dispatched: u64,
    pub(crate) rejected: u64,
    pub(crate) cancelled: u64,
    pub(crate) queuing: Option<Queuing>,
    pub(super) queues: BTreeMap<u32, QueueState>,
    /// Those who wait, by their numbers in the queues.
    pub(super) about: HashMap<u64, Arc<About>>,
    pub(crate) limits: Limits,
    pub(crate) progress: f64,
    pub(crate) known: Known,
}

impl Level {
    pub(super) fn new(level: &PriorityLevel) -> Self {
        Level {
            name: level.name.clone(),
            exempt: level.is_exempt.then(Exempt::default),
            state: Mutex::default(),
            dispatched: AtomicU64::new(0),
        }
    }

    /// Whether nothing limits it.
    pub(super) fn is_exempt(&self) -> bool {
        self.exempt.is_some()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request that needs that many seats begins, of a flow with that hash.
    pub(super) fn begin(&self, now: Duration, hash: u64, seats: usize, about: impl FnOnce() -> About) -> Begun {
        if let Some(exempt) = &self.exempt {
            let executing = exempt.executing.fetch_add(1, Ordering::Relaxed) + 1;
            exempt.most.fetch_max(executing, Ordering::Relaxed);
            return Begun::Exempt;
        }
        let mut state = self.state();
        let state = &mut *state;
        let id = state.next_id;
        state.next_id += 1;
        let mut own = None;
        let waiting = &mut state.waiting;
        let begun = state.queues.begin(now, (id, hash, seats), &mut |seated_id, seated| match seated_id == id {
            true => own = Some(seated),
            false => tell(waiting, seated_id, seated),
        });
        let begun = match (begun, own) {
            (Err(reason), _) => {
                state.rejected += 1;
                Begun::Refused(reason)
            }
            (Ok(_), Some(seated)) => Begun::Seated(seated),
            (Ok(queue), None) => {
                let (queue, length) = queue.unwrap_or_default();
                let (sender, told) = oneshot::channel();
                state.waiting.insert(id, Waiter { told: sender, about: about().into() });
                Begun::Waits { id, queue, length, told }
            }
        };
        state.note_demand(now);
        begun
    }

    /// A request without limits ends. Its level is always needed.
    pub(super) fn finish_exempt(&self) -> bool {
        if let Some(exempt) = &self.exempt {
            exempt.executing.fetch_sub(1, Ordering::Relaxed);
        }
        false
    }

    /// A request that has seats ends. Whether the level is not needed any more.
    pub(super) fn finish(&self, now: Duration, seated: Seated) -> bool {
        let mut state = self.state();
        let state = &mut *state;
        let waiting = &mut state.waiting;
        state.queues.finish(now, seated, &mut |id, seated| tell(waiting, id, seated));
        state.note_demand(now);
        state.is_quiescing && state.queues.is_idle()
    }

    /// A request waits no longer; false, if it was seated before.
    pub(super) fn leave(&self, now: Duration, id: u64, queue: u32) -> bool {
        let mut state = self.state();
        if state.waiting.remove(&id).is_none() {
            return false;
        }
        state.queues.leave(now, id, queue);
        state.rejected += 1;
        state.cancelled += 1;
        state.note_demand(now);
        true
    }

    /// The seconds after which a client that is refused is told to try again.
    pub(super) fn refuse(&self, now: Duration) -> u64 {
        self.state().dropped.note(now.as_secs())
    }

    /// Changes its seats and its queues.
    pub(super) fn configure(&self, now: Duration, limits: Limits, queuing: Option<Queuing>) {
        let mut state = self.state();
        let state = &mut *state;
        state.limits = limits;
        let waiting = &mut state.waiting;
        let seat = &mut |id, seated| tell(waiting, id, seated);
        state.queues.configure(now, (queuing, limits.current), seat);
        state.note_demand(now);
    }

    /// The demand so far, which begins anew.
    pub(super) fn adjusted(&self, now: Duration) -> Known {
        let mut state = self.state();
        if let Some(exempt) = &self.exempt {
            let executing = exempt.executing.load(Ordering::Relaxed);
            state.known.most = exempt.most.swap(executing, Ordering::Relaxed).max(executing) as f64;
            return state.known;
        }
        let before = state.known;
        state.known = state.demand.adjusted(now, before);
        state.known
    }

    /// The state, for people.
    pub(crate) fn told(&self) -> LevelState {
        let state = self.state();
        let exempt = self.exempt.as_ref().map_or(0, |exempt| exempt.executing.load(Ordering::Relaxed));
        LevelState {
            is_idle: state.queues.is_idle() && exempt == 0,
            is_quiescing: state.is_quiescing,
            waiting: state.queues.waiting,
            executing: state.queues.executing + exempt,
            dispatched: self.dispatched.load(Ordering::Relaxed),
            rejected: state.rejected,
            cancelled: state.cancelled,
            queuing: state.queues.queuing,
            queues: state.queues.states(),
            about: state.waiting.iter().map(|(id, waiter)| (*id, waiter.about.clone())).collect(),
            limits: state.limits,
            progress: state.queues.progress(),
            known: state.known,
        }
    }

    /// Whether nobody is there.
    pub(super) fn is_idle(&self) -> bool {
        let exempt = self.exempt.as_ref().map_or(0, |exempt| exempt.executing.load(Ordering::Relaxed));
        exempt == 0 && self.state().queues.is_idle()
    }
}

/// Tells a request that it has its seats.
fn tell(waiting: &mut HashMap<u64, Waiter>, id: u64, seated: Seated) {
    // One that leaves at this moment finds its seats, and gives them back.
    if let Some(waiter) = waiting.remove(&id) {
        waiter.told.send(seated).ok();
    }
}

impl State {
    fn note_demand(&mut self, now: Duration) {
        let demand = self.queues.demand();
        self.demand.is(now, demand);
    }
}
