//! The computation of a request, which lets others compute and be served, wherever in the code it is.
//!
//! ```text
//!   polled ──▶ computes ── SLICE later, at a check of its deadline ──▶ gives its thread's other tasks away, waits for a turn ──▶ …
//!                 └── ends, or waits for something else: its turn ends
//! ```
//! A computation that never checks occupies one thread of many; a short one costs two looks at the clock.

use crate::deadline::{Deadline, Pace};
use crate::threads::{self, SLICE};
use crate::turns::{Turn, Turns};
use crate::user::User;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;
use tokio_util::sync::CancellationToken;

/// The computation of a request.
pub(super) struct Computation {
    turns: Arc<Turns>,
    /// The token that is cancelled when the server stops.
    stop: CancellationToken,
    /// The user, once it is known.
    user: OnceLock<Arc<User>>,
    /// The end of the request's time limit, if it has one.
    until: OnceLock<Instant>,
    over: AtomicBool,
    began: Instant,
    /// The beginning of the slice, in nanoseconds since `began`.
    slice: AtomicU64,
    turn: Mutex<Option<Turn>>,
}

impl Computation {
    /// The computation of a request that begins now.
    pub(super) fn new(turns: Arc<Turns>, stop: CancellationToken) -> Arc<Computation> {
        Arc::new(Computation {
            turns,
            stop,
            user: OnceLock::new(),
            until: OnceLock::new(),
            over: AtomicBool::new(false),
            began: Instant::now(),
            slice: AtomicU64::new(0),
            turn: Mutex::default(),
        })
    }

    /// The computation of a body that is made as it is sent: of the same user, without a time limit, until `stop`.
    pub(super) fn of_body(&self, stop: CancellationToken) -> Arc<Computation> {
        let body = Computation::new(self.turns.clone(), stop);
        if let Some(user) = self.user.get() {
            body.is_for(user);
        }
        body
    }

    /// Its deadline.
    pub(super) fn deadline(self: &Arc<Self>) -> Deadline {
        Deadline::new(self.clone())
    }

    /// Tells the user whose turns it takes.
    pub(super) fn is_for(&self, user: &Arc<User>) {
        self.user.get_or_init(|| user.clone());
    }

    /// Lets its deadline pass after that time, counted from its beginning.
    pub(super) fn limit(&self, time: Duration) {
        if let Some(until) = self.began.checked_add(time) {
            self.until.get_or_init(|| until);
        }
    }

    /// Does a part of it, which begins another slice, and after which its turn ends.
    pub(super) fn go_on<T>(&self, part: impl FnOnce() -> T) -> T {
        threads::computing();
        self.begin_slice(Instant::now());
        let _end = Part(self);
        part()
    }

    /// Takes a turn now, as what follows is going to take its time: a long body is read.
    pub(super) fn take_turn(&self) {
        if may_block() {
            self.let_others_go_first(Instant::now());
        }
    }

    /// Lets its deadline pass.
    pub(super) fn abandon(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Whether its time limit has passed.
    pub(super) fn is_late(&self) -> bool {
        self.is_after_limit(Instant::now())
    }

    fn is_over(&self, now: Instant) -> bool {
        self.over.load(Ordering::Relaxed) || self.is_after_limit(now)
    }

    fn is_after_limit(&self, now: Instant) -> bool {
        self.until.get().is_some_and(|until| *until <= now)
    }

    fn begin_slice(&self, now: Instant) {
        let since = u64::try_from(now.duration_since(self.began).as_nanos()).unwrap_or(u64::MAX);
        self.slice.store(since, Ordering::Relaxed);
    }

    /// Gives the thread's other tasks away, and waits for a turn unless the present one goes on.
    fn let_others_go_first(&self, now: Instant) {
        let mut turn = self.turn();
        if turn.is_none_or(|turn| turn.is_over(now)) {
            let user = self.user.get().map_or("", |user| &user.name);
            *turn = Some(block_in_place(|| {
                threads::replaced();
                self.turns.begin(user, self.began, *turn)
            }));
        }
    }

    fn turn(&self) -> MutexGuard<'_, Option<Turn>> {
        self.turn.lock().expect("no code that runs under this lock panics")
    }
}

impl Pace for Computation {
    fn goes_on(&self) -> bool {
        let now = Instant::now();
        if self.is_over(now) {
            return false;
        }
        if now.duration_since(self.began)
            < Duration::from_nanos(self.slice.load(Ordering::Relaxed)).saturating_add(SLICE)
        {
            return true;
        }
        if self.stop.is_cancelled() {
            self.abandon();
            return false;
        }
        if may_block() {
            self.let_others_go_first(now);
        }
        let now = Instant::now();
        self.begin_slice(now);
        !self.is_over(now)
    }
}

/// Whether this thread can give its tasks to another one: not that of a runtime with a single thread.
fn may_block() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// A future whose polls are a computation.
pub(super) struct Paced<F> {
    future: F,
    computation: Arc<Computation>,
}

impl<F> Paced<F> {
    pub(super) fn new(future: F, computation: Arc<Computation>) -> Paced<F> {
        Paced { future, computation }
    }
}

impl<F: Future + Unpin> Future for Paced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Paced { future, computation } = &mut *self;
        computation.go_on(|| Pin::new(future).poll(context))
    }
}

/// A part of a computation; its turn ends when this is dropped.
struct Part<'c>(&'c Computation);

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Some(turn) = self.0.turn().take() {
            self.0.turns.end(turn);
        }
    }
}
