//! The seats of a level and the queues before them: who is seated next, and who is refused. Pure: times are told.
//!
//! ```text
//!   begin ─┬─ no queues ──▶ seated, or refused: `concurrency-limit`
//!          └─ dealt a queue ─┬─ it is full, and no seat is free ──▶ refused: `queue-full`
//!                            └─ waits ─┬─▶ seated ──▶ finish ──▶ others are seated
//!                                      └─▶ leave
//! ```
//! Queues take turns by the work that was done for each, in seats and time. Of the time that a request takes, 3 ms are assumed, and corrected
//! when it ends. A queue that nobody waits or sits for is not there, so that a level may have millions.
//!
//! Follows `pkg/util/flowcontrol/fairqueuing/queueset/queueset.go` of `k8s.io/apiserver` (v0.37.1), but for the seats that writes keep while
//! watchers are told of them.

use super::hand;
use crate::registry::Queuing;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// `estimatedServiceDuration`.
const ASSUMED: Duration = Duration::from_millis(3);
/// Units of work in a second of a seat (`ssScale`).
const UNITS: f64 = 1e8;

/// Why a request is refused, as metrics call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    ConcurrencyLimit,
    QueueFull,
    TimeOut,
}

/// The seats of a level, and its queues by number.
#[derive(Debug, Default)]
pub(super) struct Queues {
    /// `None` if nobody waits.
    pub(super) queuing: Option<Queuing>,
    /// The number of seats.
    pub(super) limit: usize,
    queues: BTreeMap<u32, Queue>,
    /// The work that each queue that is there could have had so far (`currentR`), as of `since`.
    progress: i64,
    since: Duration,
    /// The queue that was served last.
    last: u32,
    /// The number of requests that were dealt a queue.
    dealt: usize,
    /// The requests that wait, and the seats that they need.
    pub(super) waiting: usize,
    pub(super) waiting_seats: usize,
    /// The requests that have seats, and their seats.
    pub(super) executing: usize,
    pub(super) seats: usize,
}

/// A queue.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    executing: usize,
    seats: usize,
    /// The progress at which its next request is due (`nextDispatchR`).
    next: i64,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    seats: usize,
    /// The progress when it came.
    arrived: i64,
}

/// A request that has seats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seated {
    queue: Option<u32>,
    seats: usize,
    began: Duration,
}

impl Seated {
    /// A request that needs no seats, and counts as one.
    pub(super) fn exempt(now: Duration) -> Self {
        Seated { queue: None, seats: 1, began: now }
    }

    pub(super) fn seats(self) -> usize {
        self.seats
    }

    /// When it got them.
    pub(super) fn began(self) -> Duration {
        self.began
    }
}

/// The state of a queue, for people.
#[derive(Debug, Default)]
pub(super) struct QueueState {
    pub(super) waiting: Vec<u64>,
    pub(super) executing: usize,
    pub(super) seats: usize,
    pub(super) next: i64,
    pub(super) waiting_seats: usize,
    pub(super) work: i64,
}

/// The work of some seats in that time (`SeatsTimesDuration`), which may be negative.
fn work(seats: usize, seconds: f64) -> i64 {
    (seats as f64 * seconds * UNITS).round() as i64
}

/// A number of units of work as Go prints it.
pub(super) fn printed(units: i64) -> String {
    let (whole, rest) = (units / 100_000_000, units % 100_000_000);
    format!("{whole}.{rest:08}ss")
}

impl Queue {
    fn work(&self) -> i64 {
        self.waiting.iter().map(|waiting| work(waiting.seats, ASSUMED.as_secs_f64())).sum()
    }

    /// Nothing is due before it came (`boundNextDispatchLocked`).
    fn bound(&mut self) {
        if let Some(oldest) = self.waiting.front() {
            self.next = self.next.max(oldest.arrived);
        }
    }

    fn is_needed(&self) -> bool {
        self.executing > 0 || !self.waiting.is_empty()
    }
}

impl Queues {
    /// Whether nobody waits or sits.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting == 0 && self.executing == 0
    }

    /// The seats that are wanted.
    pub(super) fn demand(&self) -> f64 {
        (self.seats + self.waiting_seats) as f64
    }

    /// Changes queues and limit; those who can be seated are told to `seat`.
    pub(super) fn configure(
        &mut self,
        now: Duration,
        (queuing, limit): (Option<Queuing>, usize),
        seat: &mut impl FnMut(u64, Seated),
    ) {
        self.pass(now);
        (self.queuing, self.limit) = (queuing, limit);
        self.dispatch(now, seat);
    }

    /// A request comes, of the flow with that hash, and waits, or is among those who are seated, whom `seat` is told. The number of its
    /// queue, and how many wait there, if it has one.
    ///
    /// # Errors
    /// The reason why it is refused.
    pub(super) fn begin(
        &mut self,
        now: Duration,
        (id, hash, seats): (u64, u64, usize),
        seat: &mut impl FnMut(u64, Seated),
    ) -> Result<Option<(u32, usize)>, Reason> {
        self.pass(now);
        let Some(queuing) = self.queuing else {
            if !self.has_room(seats) {
                return Err(Reason::ConcurrencyLimit);
            }
            self.executing += 1;
            self.seats += seats;
            seat(id, Seated { queue: None, seats, began: now });
            return Ok(None);
        };
        let number = self.chosen(hash, queuing);
        let progress = self.progress;
        let is_full = self.seats >= self.limit;
        let queue = self.queues.entry(number).or_insert_with(|| Queue { next: progress, ..Queue::default() });
        if is_full && queue.waiting.len() >= usize::try_from(queuing.length).unwrap_or(usize::MAX) {
            self.forget(number);
            return Err(Reason::QueueFull);
        }
        queue.waiting.push_back(Waiting { id, seats, arrived: progress });
        queue.bound();
        let length = queue.waiting.len();
        self.waiting += 1;
        self.waiting_seats += seats;
        self.dispatch(now, seat);
        Ok(Some((number, length)))
    }

    /// A request that has seats ends.
    pub(super) fn finish(&mut self, now: Duration, seated: Seated, seat: &mut impl FnMut(u64, Seated)) {
        self.pass(now);
        self.executing -= 1;
        self.seats -= seated.seats;
        if let Some((number, queue)) = seated.queue.and_then(|number| Some((number, self.queues.get_mut(&number)?))) {
            let taken = now.saturating_sub(seated.began).as_secs_f64();
            queue.executing -= 1;
            queue.seats -= seated.seats;
            queue.next -= work(seated.seats, ASSUMED.as_secs_f64() - taken);
            queue.bound();
            self.forget(number);
        }
        self.dispatch(now, seat);
    }

    /// A request waits no longer.
    pub(super) fn leave(&mut self, now: Duration, id: u64, number: u32) {
        self.pass(now);
        let Some(queue) = self.queues.get_mut(&number) else { return };
        let Some(place) = queue.waiting.iter().position(|waiting| waiting.id == id) else { return };
        let left = queue.waiting.remove(place).expect("it has that place");
        queue.bound();
        self.waiting -= 1;
        self.waiting_seats -= left.seats;
        self.forget(number);
    }

    /// The progress so far.
    pub(super) fn progress(&self) -> f64 {
        self.progress as f64 / UNITS
    }

    /// The queues that are there, by number.
    pub(super) fn states(&self) -> BTreeMap<u32, QueueState> {
        let state = |queue: &Queue| QueueState {
            waiting: queue.waiting.iter().map(|waiting| waiting.id).collect(),
            executing: queue.executing,
            seats: queue.seats,
            next: queue.next,
            waiting_seats: queue.waiting.iter().map(|waiting| waiting.seats).sum(),
            work: queue.work(),
        };
        self.queues.iter().map(|(number, queue)| (*number, state(queue))).collect()
    }

    /// Time passes, in which all queues make the same progress.
    fn pass(&mut self, now: Duration) {
        let seconds = now.saturating_sub(self.since).as_secs_f64();
        self.since = self.since.max(now);
        if !self.queues.is_empty() {
            let wanted = self.demand().min(self.limit as f64);
            let made = seconds * wanted / self.queues.len() as f64;
            self.progress = self.progress.saturating_add((made * UNITS).round() as i64);
        }
    }

    /// The queue of those that a flow is dealt for which the least work waits; they begin in turn.
    fn chosen(&mut self, hash: u64, queuing: Queuing) -> u32 {
        let hand: Vec<u32> = match queuing.hand {
            0 | 1 => return hand::deal(hash, queuing.queues, 1).next().unwrap_or_default(),
            size => hand::deal(hash, queuing.queues, size).collect(),
        };
        let first = self.dealt % hand.len().max(1);
        self.dealt = self.dealt.wrapping_add(1);
        let in_turn = hand.iter().cycle().skip(first).take(hand.len()).copied();
        in_turn.min_by_key(|number| self.queues.get(number).map_or(0, Queue::work)).unwrap_or_default()
    }

    /// Whether a request can have that many seats. One that needs more than there are waits until it is alone.
    fn has_room(&self, seats: usize) -> bool {
        match seats > self.limit {
            true => self.executing == 0,
            false => self.seats + seats <= self.limit,
        }
    }

    /// Seats as many as can be.
    fn dispatch(&mut self, now: Duration, seat: &mut impl FnMut(u64, Seated)) {
        while self.waiting > 0 && self.seats < self.limit {
            let Some(number) = self.next() else { return };
            let queue = self.queues.get_mut(&number).expect("it is there");
            let Waiting { id, seats, .. } = queue.waiting.pop_front().expect("somebody waits there");
            queue.next += work(seats, ASSUMED.as_secs_f64());
            queue.executing += 1;
            queue.seats += seats;
            queue.bound();
            self.last = number;
            self.waiting -= 1;
            self.waiting_seats -= seats;
            self.executing += 1;
            self.seats += seats;
            seat(id, Seated { queue: Some(number), seats, began: now });
        }
    }

    /// The queue whose oldest request would be done first; of several the one whose turn it is. `None`, if there is no room for it.
    fn next(&self) -> Option<u32> {
        let in_turn = self.queues.range(self.last.saturating_add(1)..).chain(self.queues.range(..=self.last));
        let due = in_turn.filter_map(|(number, queue)| {
            let oldest = queue.waiting.front()?;
            Some((queue.next + work(oldest.seats, ASSUMED.as_secs_f64()), *number, oldest.seats))
        });
        let (_, number, seats) = due.min_by_key(|(done, ..)| *done)?;
        self.has_room(seats).then_some(number)
    }

    fn forget(&mut self, number: u32) {
        if self.queues.get(&number).is_some_and(|queue| !queue.is_needed()) {
            self.queues.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn queues(queuing: Option<[u32; 3]>, limit: usize) -> Queues {
        let queuing = queuing.map(|[queues, hand, length]| Queuing { queues, hand, length });
        Queues { queuing, limit, ..Queues::default() }
    }

    /// Those who are seated, in their order.
    #[derive(Default)]
    struct Room(Vec<(u64, Seated)>);

    impl Room {
        fn begin(&mut self, queues: &mut Queues, id: u64, hash: u64, seats: usize) -> Result<Option<u32>, Reason> {
            let begun = queues.begin(NOW, (id, hash, seats), &mut |id, seated| self.0.push((id, seated)));
            begun.map(|queue| queue.map(|(number, _)| number))
        }

        fn finish(&mut self, queues: &mut Queues, now: Duration, id: u64) {
            let place = self.0.iter().position(|(known, _)| *known == id).expect("it is seated");
            let (_, seated) = self.0.remove(place);
            queues.finish(now, seated, &mut |id, seated| self.0.push((id, seated)));
        }

        fn ids(&self) -> Vec<u64> {
            self.0.iter().map(|(id, _)| *id).collect()
        }
    }

    #[test]
    fn without_queues_whoever_finds_no_seat_is_refused() {
        let (mut queues, mut room) = (queues(None, 2), Room::default());
        for (id, seats, expected) in [(1, 1, Ok(None)), (2, 1, Ok(None)), (3, 1, Err(Reason::ConcurrencyLimit))] {
            assert_eq!(room.begin(&mut queues, id, 0, seats), expected, "{id}");
        }
        room.finish(&mut queues, NOW, 1);
        assert_eq!(room.begin(&mut queues, 4, 0, 3), Err(Reason::ConcurrencyLimit));
        room.finish(&mut queues, NOW, 2);
        assert_eq!(room.begin(&mut queues, 4, 0, 3), Ok(None), "it is alone");
        assert_eq!((queues.executing, queues.seats), (1, 3));
    }

    #[test]
    fn those_who_wait_are_seated_when_others_end() {
        let (mut queues, mut room) = (queues(Some([1, 1, 2]), 1), Room::default());
        for id in 1..=3 {
            assert_eq!(room.begin(&mut queues, id, 0, 1), Ok(Some(0)));
        }
        assert_eq!(room.begin(&mut queues, 4, 0, 1), Err(Reason::QueueFull));
        assert_eq!((room.ids(), queues.waiting), (vec![1], 2));
        queues.leave(NOW, 2, 0);
        room.finish(&mut queues, Duration::from_millis(5), 1);
        assert_eq!((room.ids(), queues.waiting), (vec![3], 0));
        room.finish(&mut queues, Duration::from_millis(6), 3);
        assert!(queues.is_idle() && queues.states().is_empty());
    }

    #[test]
    fn a_level_without_seats_seats_nobody() {
        let (mut queues, mut room) = (queues(Some([1, 1, 1]), 0), Room::default());
        assert_eq!(room.begin(&mut queues, 1, 0, 1), Ok(Some(0)));
        assert_eq!(room.begin(&mut queues, 2, 0, 1), Err(Reason::QueueFull));
        assert_eq!(room.ids(), [0; 0]);
        queues.configure(NOW, (queues.queuing, 1), &mut |id, seated| room.0.push((id, seated)));
        assert_eq!(room.ids(), [1]);
    }

    /// Of two flows one sends ten requests at once, and the other one later: it does not wait for all of these.
    #[test]
    fn flows_take_turns() {
        let (mut queues, mut room) = (queues(Some([2, 1, 50]), 1), Room::default());
        for id in 1..=10 {
            assert_eq!(room.begin(&mut queues, id, 0, 1), Ok(Some(0)));
        }
        assert_eq!(room.begin(&mut queues, 11, 1, 1), Ok(Some(1)));
        room.finish(&mut queues, Duration::from_millis(3), 1);
        assert_eq!(room.ids(), [11]);
    }

    #[test]
    fn wide_requests_wait_until_there_is_room_and_hold_up_others() {
        let (mut queues, mut room) = (queues(Some([1, 1, 50]), 3), Room::default());
        for (id, seats) in [(1, 2), (2, 2), (3, 1)] {
            room.begin(&mut queues, id, 0, seats).expect("it waits");
        }
        assert_eq!((room.ids(), queues.waiting_seats), (vec![1], 3));
        room.finish(&mut queues, NOW, 1);
        assert_eq!((room.ids(), queues.seats), (vec![2, 3], 3));
    }

    #[test]
    fn work_is_printed_as_by_go() {
        assert_eq!(
            ["0.00000000ss", "0.00300000ss", "12.00000001ss"].map(str::to_owned),
            [printed(0), printed(work(1, 0.003)), printed(1_200_000_001)]
        );
    }
}
