//! Priority and fairness: which requests are served at once, which wait, and which are refused.
//!
//! ```text
//!   request ─▶ arrangement.rs: the first flow schema that matches, and its level
//!          ─▶ level.rs, queues.rs ─┬─▶ a seat, until it is served (a watch: until it has begun) ─▶ the next one's
//!                                  ├─▶ waits for one, a quarter of its time at most
//!                                  └─▶ refused: try again, later
//!   every 10 s: demand.rs, allocation.rs: levels lend and borrow seats
//! ```
//! Stored objects have digests, so that a change of flow schemas or levels is only sorted, by the first request after it; every server has
//! seats of its own.
//!
//! Follows `pkg/util/flowcontrol` and `pkg/server/filters/priority-and-fairness.go` of `k8s.io/apiserver` (v0.37.1). Upstream a write keeps
//! seats for some milliseconds while watchers are told of it; here nobody waits for that.

mod allocation;
mod arrangement;
mod counts;
mod demand;
mod dropped;
mod dump;
mod hand;
mod level;
mod matching;
mod queues;
mod width;

pub(crate) use arrangement::Flow;
pub(crate) use counts::{Counts, DURATIONS, Histogram, LENGTHS, SEATS};
pub(crate) use dump::dump;
pub(crate) use level::{About, LevelState};
pub(crate) use queues::Reason;
pub(crate) use width::{Stored, Wanted, width};

use crate::auth::User;
use crate::auth::authorizer::Target;
use crate::clock::later;
use crate::registry::Distinguisher;
use crate::store::Store;
use arc_swap::{ArcSwap, Guard};
use arrangement::{Arrangement, RESOURCES};
use level::Begun;
use queues::Seated;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

/// `borrowingAdjustmentPeriod`.
const PERIOD: Duration = Duration::from_secs(10);

/// The priority and fairness of a server.
pub(crate) struct FlowControl {
    /// The number of its seats.
    seats: usize,
    began: Instant,
    reached: ArcSwap<Reached>,
    /// Whether servers of other clusters use the levels, too.
    is_shared: AtomicBool,
    /// Locked to change the arrangement or to adjust its levels; the time of the next adjustment, since `began`.
    next: Mutex<Duration>,
    /// The same time in milliseconds, read without the lock.
    due: AtomicU64,
    /// Whether a level is to be dropped.
    is_stale: AtomicBool,
    /// The fraction of their targets that levels have, in bits.
    fraction: AtomicU64,
    /// The numbers of requests that wait, which only read, and of others.
    waiting: [AtomicUsize; 2],
}

/// The arrangement of what is stored, up to a revision.
#[derive(Default)]
struct Reached {
    revision: u64,
    arrangement: Arc<Arrangement>,
}

/// The states of levels, by their names.
type LevelStates = Vec<(Box<str>, LevelState)>;

/// A request, as far as it is classified by it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) user: &'a User,
    pub(crate) verb: &'a str,
    pub(crate) target: Target<'a>,
}

/// The beginning of a request.
pub(crate) enum Begin<'f> {
    Seated(Seat<'f>),
    Waits(Box<Waiting<'f>>),
    /// The seconds after which the client is told to try again.
    Refused(u64),
}

/// The seats of a request, until this is dropped.
pub(crate) struct Seat<'f> {
    control: &'f FlowControl,
    flow: Arc<Flow>,
    seated: Seated,
    is_watch: bool,
}

/// A request that waits for its seats. It is refused if this is dropped.
pub(crate) struct Waiting<'f> {
    control: &'f FlowControl,
    flow: Arc<Flow>,
    id: u64,
    queue: u32,
    seats: usize,
    came: Duration,
    is_watch: bool,
    is_mutating: bool,
    told: oneshot::Receiver<Seated>,
    /// Whether it waits no longer.
    is_over: bool,
}

impl FlowControl {
    /// That of a server with so many seats.
    pub(crate) fn new(seats: usize) -> Self {
        FlowControl {
            seats,
            began: Instant::now(),
            reached: ArcSwap::default(),
            is_shared: AtomicBool::new(false),
            next: Mutex::new(PERIOD),
            due: AtomicU64::new(milliseconds(PERIOD)),
            is_stale: AtomicBool::new(true),
            fraction: AtomicU64::new(0),
            waiting: Default::default(),
        }
    }

    /// That of a server of a fork, as of that revision of this one's store. Until the schemas or levels of one of them change, both have the
    /// same seats.
    pub(crate) fn fork(&self, store: &Store, revision: u64) -> Self {
        let (changed, reached) = (store.last_change(RESOURCES), self.reached.load());
        let fork = FlowControl { began: self.began, ..FlowControl::new(self.seats) };
        if changed <= revision && reached.revision >= changed && !self.is_stale.load(Ordering::Acquire) {
            self.is_shared.store(true, Ordering::Release);
            fork.is_shared.store(true, Ordering::Release);
            fork.is_stale.store(false, Ordering::Release);
            fork.reached.store(Arc::new(Reached { revision, arrangement: reached.arrangement.clone() }));
            let due = self.due.load(Ordering::Relaxed);
            fork.due.store(due, Ordering::Relaxed);
            *fork.lock() = Duration::from_millis(due);
        }
        fork
    }

    /// Arranges anew, as the store has gone back.
    pub(crate) fn renew(&self) {
        self.is_stale.store(true, Ordering::Release);
    }

    /// The flow of a request, by what is stored.
    pub(crate) fn classify(&self, store: &Store, asked: &Asked<'_>) -> Arc<Flow> {
        self.current(store).arrangement.classify(asked.user, asked.verb, &asked.target).clone()
    }

    /// Begins a request of that flow, which needs as many seats as `width` says if so many at most are allowed; of one that waits `about`
    /// tells people, given the seats.
    pub(crate) fn begin<'f>(
        &'f self,
        flow: Arc<Flow>,
        asked: &Asked<'_>,
        width: impl FnOnce(Option<usize>) -> usize,
        about: impl FnOnce(&str, usize) -> About,
    ) -> Begin<'f> {
        let now = self.now();
        let is_watch = asked.verb == "watch";
        if flow.level.is_exempt() {
            flow.level.begin(now, 0, 1, || about("", 1));
            return Begin::Seated(self.seat(flow, Seated::exempt(now), is_watch));
        }
        if milliseconds(now) >= self.due.load(Ordering::Relaxed) {
            self.adjust(now);
        }
        let seats = width(flow.widest);
        let distinguisher = match flow.schema.distinguisher.filter(|_| flow.queues > 1) {
            Some(Distinguisher::User) => &*asked.user.name,
            Some(Distinguisher::Namespace) => match asked.target {
                Target::Resource { namespace, .. } => namespace,
                Target::Path(_) => "",
            },
            None => "",
        };
        let hash = if flow.queues > 1 { hand::hash(&flow.schema.name, distinguisher) } else { 0 };
        match flow.level.begin(now, hash, seats, || about(distinguisher, seats)) {
            Begun::Exempt => Begin::Seated(self.seat(flow, Seated::exempt(now), is_watch)),
            Begun::Seated(seated) => {
                if flow.queues > 0 {
                    flow.counts.served_after.note(&DURATIONS, 0.0);
                }
                Begin::Seated(self.seat(flow, seated, is_watch))
            }
            Begun::Refused(reason) => {
                flow.counts.reject(reason);
                Begin::Refused(flow.level.refuse(now))
            }
            Begun::Waits { id, queue, length, told } => {
                flow.counts.lengths.note(&LENGTHS, length as f64);
                flow.counts.waiting.fetch_add(1, Ordering::Relaxed);
                flow.counts.waiting_seats.fetch_add(seats, Ordering::Relaxed);
                let is_mutating = !matches!(asked.verb, "get" | "list" | "watch");
                self.waiting[usize::from(is_mutating)].fetch_add(1, Ordering::Relaxed);
                let (control, came, is_over) = (self, now, false);
                Begin::Waits(
                    Waiting { control, flow, id, queue, seats, came, is_watch, is_mutating, told, is_over }.into(),
                )
            }
        }
    }

    /// The numbers of requests that wait, which only read, and of others.
    pub(crate) fn waiting(&self) -> [usize; 2] {
        self.waiting.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// The fraction of their targets that levels have.
    pub(crate) fn fraction(&self) -> f64 {
        f64::from_bits(self.fraction.load(Ordering::Relaxed))
    }

    /// The flows, and the states of the levels by name, for people.
    pub(crate) fn told(&self, store: &Store) -> (Vec<Arc<Flow>>, LevelStates) {
        let now = self.now();
        if milliseconds(now) >= self.due.load(Ordering::Relaxed) {
            self.adjust(now);
        }
        let current = self.current(store).arrangement.clone();
        let levels = current.levels.iter().map(|(name, arranged)| (name.clone(), arranged.level.told()));
        (current.flows.clone(), levels.collect())
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn seat(&self, flow: Arc<Flow>, seated: Seated, is_watch: bool) -> Seat<'_> {
        flow.level.dispatched.fetch_add(1, Ordering::Relaxed);
        flow.counts.begin(seated.seats());
        Seat { control: self, flow, seated, is_watch }
    }

    /// The arrangement of what is stored. It is made anew if that has changed, which takes microseconds.
    fn current(&self, store: &Store) -> Guard<Arc<Reached>> {
        // In this order: the arrangement may be newer than the change, but not older.
        let changed = store.last_change(RESOURCES);
        let is_current = |reached: &Reached| reached.revision >= changed && !self.is_stale.load(Ordering::Acquire);
        let reached = self.reached.load();
        if is_current(&reached) {
            return reached;
        }
        let mut next = self.lock();
        let reached = self.reached.load();
        if is_current(&reached) {
            return reached;
        }
        self.is_stale.store(false, Ordering::Release);
        let none = Arrangement::default();
        let before = if self.is_shared.swap(false, Ordering::AcqRel) { &none } else { &*reached.arrangement };
        let snapshot = store.snapshot();
        let arrangement = Arrangement::of(&snapshot, before, self.seats);
        self.adjust_all(&arrangement, self.now(), &mut next);
        self.reached.store(Arc::new(Reached { revision: snapshot.revision, arrangement: arrangement.into() }));
        self.reached.load()
    }

    fn lock(&self) -> MutexGuard<'_, Duration> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets levels lend and borrow, unless somebody else is at it.
    fn adjust(&self, now: Duration) {
        let next = match self.next.try_lock() {
            Ok(next) => Some(next),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(mut next) = next.filter(|next| **next <= now) {
            self.adjust_all(&self.reached.load().arrangement, now, &mut next);
        }
    }

    fn adjust_all(&self, arrangement: &Arrangement, now: Duration, next: &mut MutexGuard<'_, Duration>) {
        self.fraction.store(arrangement.adjust(now).to_bits(), Ordering::Relaxed);
        **next = now.saturating_add(PERIOD);
        self.due.store(milliseconds(**next), Ordering::Relaxed);
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let now = self.control.now();
        let is_over = match self.flow.level.is_exempt() {
            true => self.flow.level.finish_exempt(),
            false => self.flow.level.finish(now, self.seated),
        };
        if is_over {
            self.control.is_stale.store(true, Ordering::Release);
        }
        let took = now.saturating_sub(self.seated.began());
        self.flow.counts.end(self.seated.seats(), self.is_watch, took);
    }
}

impl<'f> Waiting<'f> {
    /// Waits for the seats until that time.
    ///
    /// # Errors
    /// The seconds after which the client is told to try again, if the time is up.
    pub(crate) async fn seat(mut self, until: Instant) -> Result<Seat<'f>, u64> {
        let control = self.control;
        loop {
            // Levels borrow even if no other request comes.
            let due = later(control.began, Duration::from_millis(control.due.load(Ordering::Relaxed)));
            let due = due.max(later(Instant::now(), Duration::from_millis(1)));
            tokio::select! {
                biased;
                Ok(seated) = &mut self.told => return Ok(self.seated(seated)),
                () = sleep_until(until.min(due)) => {}
            }
            if Instant::now() >= until {
                break;
            }
            control.adjust(control.now());
        }
        match self.ends(false) {
            Some(seated) => Ok(self.seated(seated)),
            None => Err(self.flow.level.refuse(control.now())),
        }
    }

    fn seated(mut self, seated: Seated) -> Seat<'f> {
        let now = self.control.now();
        self.leaves();
        self.flow.counts.served_after.note(&DURATIONS, now.saturating_sub(self.came).as_secs_f64());
        self.control.seat(self.flow.clone(), seated, self.is_watch)
    }

    /// It waits no longer; the seats, if it got some meanwhile.
    fn ends(&mut self, is_cancelled: bool) -> Option<Seated> {
        let now = self.control.now();
        if !self.flow.level.leave(now, self.id, self.queue) {
            return self.told.try_recv().ok();
        }
        self.leaves();
        self.flow.counts.reject(Reason::TimeOut);
        if !is_cancelled {
            self.flow.counts.refused_after.note(&DURATIONS, now.saturating_sub(self.came).as_secs_f64());
        }
        None
    }

    fn leaves(&mut self) {
        self.is_over = true;
        self.flow.counts.waiting.fetch_sub(1, Ordering::Relaxed);
        self.flow.counts.waiting_seats.fetch_sub(self.seats, Ordering::Relaxed);
        self.control.waiting[usize::from(self.is_mutating)].fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Some(seated) = self.ends(true) {
            self.leaves();
            self.flow.level.finish(self.control.now(), seated);
        }
    }
}
