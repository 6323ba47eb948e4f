//! Turns: long computations take them, so that users compute one after the other, and no more at once than there are processors.
//!
//! ```text
//!   users that wait:   ann ─ ann ─ ann          a turn begins ──▶ computes ──▶ ends: with the computation,
//!                      bob                       (ann, bob, ann, …)             or TURN later, whatever it does
//! ```
//! A turn ends by the clock: a computation that does not give its turn back keeps no other user waiting for longer than that. A user's own
//! computations wait for it, and the oldest has the next turn, so that few are in progress at a time, with the memory that they need.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, Thread, available_parallelism};
use std::time::{Duration, Instant};

/// The duration of a turn.
pub(crate) const TURN: Duration = Duration::from_millis(50);
/// The minimum limit of concurrent turns, whatever the number of processors.
const LEAST: usize = 2;

/// The turns of a cluster's computations.
pub(crate) struct Turns(Mutex<State>);

/// A turn. The computation that has it gives it [back](Turns::end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    number: u64,
    until: Instant,
}

struct State {
    /// The number of turns at once.
    limit: usize,
    /// The number of the next turn.
    next: u64,
    /// The turns that were not given back, with their users.
    begun: Vec<(Turn, String)>,
    /// The users who wait, in the order of their turns, with their computations.
    users: VecDeque<(String, VecDeque<Waiting>)>,
}

/// A computation that waits for its turn.
struct Waiting {
    /// When the computation began.
    since: Instant,
    thread: Thread,
    turn: Arc<OnceLock<Turn>>,
}

impl Turn {
    /// Whether it is over.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.until <= now
    }
}

impl Turns {
    /// As many turns at once as processors.
    pub(crate) fn new() -> Turns {
        Turns(Mutex::new(State::new(available_parallelism().map_or(1, NonZero::get).max(LEAST))))
    }

    /// Waits, on this thread, for the next turn of that user's computation, which began at `since` and gives `last` back.
    pub(crate) fn begin(&self, user: &str, since: Instant, last: Option<Turn>) -> Turn {
        let mine = Arc::<OnceLock<Turn>>::default();
        {
            let mut state = self.state();
            state.ask(user, Waiting { since, thread: thread::current(), turn: mine.clone() });
            state.give_back(last);
        }
        loop {
            let watched = {
                let (mut state, now) = (self.state(), Instant::now());
                state.grant(now);
                if let Some(turn) = mine.get() {
                    return *turn;
                }
                state.watched(&mine, now).map(|end| end.saturating_duration_since(now))
            };
            match watched {
                Some(time) => thread::park_timeout(time),
                None => thread::park(),
            }
        }
    }

    /// Gives a turn back.
    pub(crate) fn end(&self, turn: Turn) {
        let mut state = self.state();
        state.give_back(Some(turn));
        state.grant(Instant::now());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no code that runs under this lock panics")
    }
}

impl State {
    fn new(limit: usize) -> State {
        State { limit, next: 0, begun: Vec::new(), users: VecDeque::new() }
    }

    /// Lets a computation of that user wait.
    fn ask(&mut self, user: &str, waiting: Waiting) {
        match self.users.iter_mut().find(|(other, _)| other == user) {
            Some((_, all)) => all.insert(all.partition_point(|other| other.since <= waiting.since), waiting),
            None => self.users.push_back((user.to_owned(), [waiting].into())),
        }
    }

    fn give_back(&mut self, turn: Option<Turn>) {
        self.begun.retain(|(begun, _)| Some(*begun) != turn);
    }

    /// Begins all turns that can begin now, and wakes those who have them.
    fn grant(&mut self, now: Instant) {
        let before = self.next;
        while self.active(now).count() < self.limit {
            let may_begin = |user: &str| self.begun.iter().filter(|(_, of)| of == user).count() < self.limit;
            let Some(place) = self.users.iter().position(|(user, _)| may_begin(user)) else { break };
            let Some((user, mut all)) = self.users.remove(place) else { break };
            if let Some(waiting) = all.pop_front() {
                let turn = Turn { number: self.next, until: now.checked_add(TURN).unwrap_or(now) };
                self.next += 1;
                self.begun.push((turn, user.clone()));
                waiting.turn.get_or_init(|| turn);
                waiting.thread.unpark();
            }
            if !all.is_empty() {
                self.users.push_back((user, all));
            }
        }
        // The next one watches the clock from now on.
        if let Some(next) = self.next_waiting().filter(|_| self.next > before) {
            next.thread.unpark();
        }
    }

    fn next_waiting(&self) -> Option<&Waiting> {
        self.users.front()?.1.front()
    }

    /// The turns that are not over.
    fn active(&self, now: Instant) -> impl Iterator<Item = &Turn> {
        self.begun.iter().map(|(turn, _)| turn).filter(move |turn| !turn.is_over(now))
    }

    /// The time when the first of the turns that have begun is over, if the computation with that turn is the next one: it watches the
    /// clock for all.
    fn watched(&self, turn: &Arc<OnceLock<Turn>>, now: Instant) -> Option<Instant> {
        let is_next = self.next_waiting().is_some_and(|next| Arc::ptr_eq(&next.turn, turn));
        if is_next { self.active(now).map(|turn| turn.until).min() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_take_turns() {
        let (mut state, start) = (State::new(2), Instant::now());
        let turns: Vec<_> = ["ann", "ann", "ann", "ann", "bob", "cid"]
            .into_iter()
            .map(|user| {
                let turn = Arc::<OnceLock<Turn>>::default();
                state.ask(user, Waiting { since: Instant::now(), thread: thread::current(), turn: turn.clone() });
                turn
            })
            .collect();
        let mut granted = |now, ended: &[usize]| {
            let ended: Vec<_> = ended.iter().filter_map(|ended| turns[*ended].get()).collect();
            state.begun.retain(|(turn, _)| !ended.contains(&turn));
            state.grant(now);
            (0..turns.len()).filter(|number| turns[*number].get().is_some()).collect::<Vec<_>>()
        };
        assert_eq!(granted(start, &[]), [0, 4], "ann's first, and bob's");
        assert_eq!(granted(start + TURN / 2, &[]), [0, 4]);
        assert_eq!(granted(start + TURN / 2, &[4]), [0, 4, 5], "bob's is given back");
        assert_eq!(granted(start + TURN, &[]), [0, 1, 4, 5], "ann's first is over by the clock");
        assert_eq!(granted(start + TURN * 3, &[]), [0, 1, 4, 5], "but not for a third one of ann's");
        assert_eq!(granted(start + TURN * 3, &[0, 1]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_oldest_goes_on_first() {
        let (mut state, start) = (State::new(1), Instant::now());
        for age in [2, 3, 1] {
            let since = start + TURN * age;
            state.ask("ann", Waiting { since, thread: thread::current(), turn: Arc::default() });
        }
        let order: Vec<_> = state.users[0].1.iter().map(|waiting| waiting.since).collect();
        assert!(order.is_sorted());
    }

    #[test]
    fn all_get_their_turn() {
        let turns = Turns::new();
        thread::scope(|scope| {
            for user in ["ann", "bob", "cid"] {
                for _ in 0..20 {
                    scope.spawn(|| turns.end(turns.begin(user, Instant::now(), None)));
                }
            }
        });
        let state = turns.state();
        assert!(state.begun.is_empty() && state.users.is_empty());
    }
}
