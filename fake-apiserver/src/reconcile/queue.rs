//! The queue of works. A work is done by one run at a time; it is done again if it was added meanwhile, or if it failed.
//!
//! ```text
//!                                        ┌── failed: after a delay, which grows
//!   add ──▶ wanted ──▶ running ──▶ done ─┼── added meanwhile: at once
//!             ▲                          │
//!             └──────────────────────────┘
//! ```

use crate::clock::later;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The delay after the first failure; each further one doubles it (`DefaultTypedControllerRateLimiter` of client-go, v0.37.1).
const FIRST_DELAY: Duration = Duration::from_millis(5);
/// The longest delay of most works.
pub(super) const LONGEST_DELAY: Duration = Duration::from_secs(1000);

/// The delay from which on a failed work is not waited for.
const SOON: Duration = Duration::from_secs(1);

/// A work: the reconciler that does it, by its place in the list, and the key of its object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    pub(super) reconciler: usize,
    pub(super) key: Box<str>,
}

/// The end of a run, to wait for: cancelled when the run has ended, and with the queue.
pub(super) type RunEnd = CancellationToken;

/// A run of a work.
pub(super) struct Run {
    /// Cancelled by the run at its end.
    pub(super) end: RunEnd,
    /// Cancelled when the work is added again, so that another run has to follow.
    pub(super) again: CancellationToken,
    /// The parent of the ends of the run that follows.
    next: CancellationToken,
}

impl Run {
    /// Tells those who wait for this run, and for the one that follows it, not to: it may take long.
    pub(super) fn release(&self) {
        self.end.cancel();
        self.next.cancel();
    }
}

/// The works of a server that are not done.
pub(super) struct Queue {
    works: Mutex<Works>,
    /// Notified when a work may have become ready.
    changed: Notify,
    /// Notified when a run has ended.
    ended: Notify,
    stop: CancellationToken,
}

impl Queue {
    /// An empty queue, which ends with `stop`.
    pub(super) fn new(stop: CancellationToken) -> Self {
        Queue { works: Mutex::default(), changed: Notify::new(), ended: Notify::new(), stop }
    }

    /// Adds a work, and returns the end of the run that will do it: one that begins from now on.
    pub(super) fn add(&self, work: Work) -> RunEnd {
        let end = self.works().add(work, || self.stop.child_token());
        self.changed.notify_one();
        end
    }

    /// Whether a work is wanted or in progress.
    pub(super) fn has(&self, work: &Work) -> bool {
        self.works().0.contains_key(work)
    }

    /// Whether there is nothing to do, now or later.
    pub(super) fn is_empty(&self) -> bool {
        self.works().0.is_empty()
    }

    /// Whether it ends.
    pub(super) fn has_ended(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// The next work to do, which is in progress until it is [ended](Self::end).
    pub(super) async fn next(&self) -> (Work, Run) {
        loop {
            let due = match self.works().take(Instant::now(), || self.stop.child_token()) {
                Ok(taken) => return taken,
                Err(due) => due,
            };
            match due {
                Some(due) => drop(timeout_at(due, self.changed.notified()).await),
                None => self.changed.notified().await,
            }
        }
    }

    /// Ends the run of a work; a failed one is done again, at the latest after that delay. Those who wait for the run are not told.
    pub(super) fn end(&self, work: &Work, outcome: Result<(), Duration>) {
        self.works().end(work, outcome, Instant::now(), || self.stop.child_token());
        self.changed.notify_one();
        self.ended.notify_waiters();
    }

    /// Completes when nothing is left to do but what has failed and is not tried again soon.
    pub(super) async fn rested(&self) {
        loop {
            let ended = self.ended.notified();
            if self.works().rest() {
                return;
            }
            ended.await;
        }
    }

    /// The token that is cancelled when the queue ends.
    pub(super) fn end_of_all(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Completes when the queue ends.
    pub(super) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    fn works(&self) -> MutexGuard<'_, Works> {
        self.works.lock().expect("no code that runs under this lock panics")
    }
}

/// The works that are wanted or in progress. The first of those that are ready is done first.
#[derive(Default)]
struct Works(BTreeMap<Work, State>);

#[derive(Default)]
struct State {
    /// The end of the next run, if one is wanted.
    wanted: Option<RunEnd>,
    /// The time before which the next run does not begin.
    due: Option<Instant>,
    /// The [`Run::again`] and [`Run::next`] of the run that is in progress.
    running: Option<[CancellationToken; 2]>,
    /// The number of failures in succession.
    failures: u32,
}

impl Works {
    fn add(&mut self, work: Work, new: impl FnOnce() -> RunEnd) -> RunEnd {
        let state = self.0.entry(work).or_default();
        state.due = None;
        let Some([again, next]) = &state.running else { return state.wanted.get_or_insert_with(new).clone() };
        again.cancel();
        state.wanted.get_or_insert_with(|| next.child_token()).clone()
    }

    /// Takes the first work that is ready, or says when the next one will be.
    fn take(&mut self, now: Instant, new: impl FnOnce() -> RunEnd) -> Result<(Work, Run), Option<Instant>> {
        let mut next: Option<Instant> = None;
        for (work, state) in self.0.iter_mut().filter(|(_, state)| state.running.is_none()) {
            if let Some(due) = state.due.filter(|due| *due > now) {
                next = Some(next.map_or(due, |next| next.min(due)));
            } else if let Some(end) = state.wanted.take() {
                let (again, next) = (CancellationToken::new(), new());
                state.running = Some([again.clone(), next.clone()]);
                return Ok((work.clone(), Run { end, again, next }));
            }
        }
        Err(next)
    }

    fn end(&mut self, work: &Work, outcome: Result<(), Duration>, now: Instant, new: impl FnOnce() -> RunEnd) {
        let Some(state) = self.0.get_mut(work) else { return };
        state.running = None;
        let Err(longest) = outcome else {
            state.failures = 0;
            if state.wanted.is_none() {
                self.0.remove(work);
            }
            return;
        };
        state.failures += 1;
        if state.wanted.is_none() {
            state.due = Some(later(now, delay(state.failures).min(longest)));
            state.wanted = Some(new());
        }
    }

    /// Whether all that is left has failed, and is not tried again soon.
    fn rest(&self) -> bool {
        self.0.values().all(|state| state.running.is_none() && state.due.is_some() && delay(state.failures) >= SOON)
    }
}

/// The delay after that many failures.
fn delay(failures: u32) -> Duration {
    FIRST_DELAY.saturating_mul(1_u32.checked_shl(failures - 1).unwrap_or(u32::MAX)).min(LONGEST_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(key: &str) -> Work {
        Work { reconciler: 0, key: key.into() }
    }

    fn taken(works: &mut Works, now: Instant) -> Option<String> {
        works.take(now, RunEnd::new).ok().map(|(work, _)| work.key.into())
    }

    #[test]
    fn a_work_is_done_once_at_a_time_and_again_if_it_was_added_meanwhile() {
        let (mut works, now) = (Works::default(), Instant::now());
        let end = works.add(work("b"), RunEnd::new);
        assert!(works.add(work("b"), RunEnd::new) == end, "the same run does both");
        works.add(work("a"), RunEnd::new);
        assert_eq!(taken(&mut works, now).as_deref(), Some("a"));
        let Ok((second, run)) = works.take(now, RunEnd::new) else { panic!("a work") };
        assert!(second == work("b") && run.end == end && !run.again.is_cancelled());
        assert!(works.add(work("b"), RunEnd::new) != end);
        assert!(run.again.is_cancelled());
        assert_eq!(taken(&mut works, now), None, "it is in progress");
        works.end(&work("a"), Ok(()), now, RunEnd::new);
        works.end(&work("b"), Ok(()), now, RunEnd::new);
        assert_eq!(taken(&mut works, now).as_deref(), Some("b"));
        works.end(&work("b"), Ok(()), now, RunEnd::new);
        assert!(works.0.is_empty());
    }

    #[test]
    fn a_work_that_failed_is_tried_again_later_or_when_it_is_added() {
        let (mut works, start) = (Works::default(), Instant::now());
        works.add(work("a"), RunEnd::new);
        for failures in 1..=3 {
            let now = start + LONGEST_DELAY * failures;
            assert_eq!(taken(&mut works, now).as_deref(), Some("a"));
            works.end(&work("a"), Err(LONGEST_DELAY), now, RunEnd::new);
            assert_eq!(works.take(now, RunEnd::new).err(), Some(Some(now + delay(failures))));
            works.add(work("other"), RunEnd::new);
            assert_eq!(taken(&mut works, now).as_deref(), Some("other"), "it holds up no other");
            works.end(&work("other"), Ok(()), now, RunEnd::new);
        }
        works.add(work("a"), RunEnd::new);
        assert_eq!(taken(&mut works, start).as_deref(), Some("a"));
    }

    #[test]
    fn delays_grow_up_to_a_limit() {
        let seconds = [1, 2, 3, 11, 18, 19, 32, 33, u32::MAX].map(|failures| delay(failures).as_secs_f64());
        assert_eq!(seconds, [0.005, 0.01, 0.02, 5.12, 655.36, 1000.0, 1000.0, 1000.0, 1000.0]);
    }
}
