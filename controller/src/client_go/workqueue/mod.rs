//! A work queue that never hands out an item twice at once, can delay an item, and rate limits items that fail.
//!
//! An item is in one of these states:
//!
//! ```text
//!            add              get               done
//!   absent ───────▶ ready ─────────▶ processing ──────▶ absent
//!      │              ▲                  │ add            ▲
//!      │ add_after    │ its time comes   ▼                │
//!      └──▶ delayed ──┘               processing+dirty ───┘ (done: back to ready)
//! ```
//!
//! An item can be delayed and in another state at the same time; adding one that is ready or dirty changes nothing.
//!
//! A [paused](RateLimitingQueue::pause) queue takes items, but hands them out only by
//! [`RateLimitingQueue::take_at_once`]. Upstream has no pauses.
//!
//! Follows client-go v0.37.1: `util/workqueue/queue.go`, `delaying_queue.go`, `rate_limiting_queue.go`. There a
//! goroutine moves delayed items when they are due; here each operation first moves the items that are due,
//! and [`RateLimitingQueue::get`] also waits for the next one, so the order is the same and nothing
//! runs in the background. Time is tokio's, so a test that pauses it decides when delays end.

mod items;
pub mod metrics;
pub mod rate_limit;

use items::Items;
use metrics::QueueMetrics;
use rate_limit::ControllerRateLimiter;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

/// The activity of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Whether no item is ready, delayed or being processed.
    pub idle: bool,
    /// Whether an item is being processed.
    pub processing: bool,
    /// The number of items ever handed out. Equal counts of an idle queue mean that nothing happened in between.
    pub handed_out: u64,
}

/// A queue of items `T`, such as keys of objects; they are cloned freely, so keep them small.
#[derive(Debug)]
pub struct RateLimitingQueue<T> {
    items: Mutex<Items<T>>,
    limiter: Mutex<ControllerRateLimiter<T>>,
    changed: Notify,
    activity: watch::Sender<Activity>,
}

impl<T: Clone + Debug + Eq + Hash> RateLimitingQueue<T> {
    /// An empty queue with client-go's default controller rate limiter.
    pub fn new() -> Self {
        RateLimitingQueue {
            items: Mutex::new(Items::new()),
            limiter: Mutex::new(ControllerRateLimiter::new(Instant::now())),
            changed: Notify::new(),
            activity: watch::Sender::new(Activity { idle: true, processing: false, handed_out: 0 }),
        }
    }

    /// Records metrics from now on, under `name`. Queues of one name share them.
    pub fn measure(&self, metrics: &QueueMetrics, name: &'static str) {
        self.change(|items, _| items.measure(metrics.of(name)));
    }

    /// Marks `item` as needing work. Ignored after [`shut_down`](Self::shut_down).
    pub fn add(&self, item: T) {
        self.change(|items, now| items.add(item, now));
    }

    /// [`add`](Self::add)s `item` once `delay` has passed; of several delays of one item the earliest end counts. A delay
    /// that no instant can end is none.
    pub fn add_after(&self, item: T, delay: Duration) {
        self.change(|items, now| items.add_at(item, now.checked_add(delay).unwrap_or(now), now));
    }

    /// Adds `item` after the delay that the rate limiter asks for; this counts as a failure of `item`.
    pub fn add_rate_limited(&self, item: T) {
        let delay = self.limiter().when(&item, Instant::now());
        self.add_after(item, delay);
    }

    /// Waits for an item and hands it out; call [`done`](Self::done) with it afterwards.
    /// `None` once the queue was shut down and is empty.
    pub async fn get(&self) -> Option<T> {
        loop {
            // Created before the check, so that no change between check and wait is missed.
            let changed = self.changed.notified();
            let next_ready = match self.update(|items, now| items.take(now)) {
                items::Taken::Item(item) => return Some(item),
                items::Taken::ShutDown => return None,
                items::Taken::NothingBefore(next_ready) => next_ready,
            };
            match next_ready {
                Some(ready_at) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(ready_at) => {}
                },
                None => changed.await,
            }
        }
    }

    /// Ends the processing of `item`; if it was added meanwhile it is ready again.
    pub fn done(&self, item: &T) {
        self.change(|items, now| items.done(item, now));
    }

    /// Forgets the failures of `item`: the next [`add_rate_limited`](Self::add_rate_limited) starts from the shortest delay.
    pub fn forget(&self, item: &T) {
        self.limiter().forget(item);
    }

    /// The number of times that `item` was rate limited since it was last forgotten.
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.limiter().num_requeues(item)
    }

    /// Pauses the queue: [`get`](Self::get) waits even if items are ready, until [`resume`](Self::resume).
    pub fn pause(&self) {
        self.change(|items, _| items.set_paused(true));
    }

    /// Ends a pause.
    pub fn resume(&self) {
        self.change(|items, _| items.set_paused(false));
    }

    /// The next item, even in a pause, and even if it is still delayed; call [`done`](Self::done) with it afterwards.
    pub fn take_at_once(&self) -> Option<T> {
        self.update(|items, now| items.take_at_once(now))
    }

    /// Refuses new items and drops delayed ones. Ready items are still handed out, unless the queue is paused; then every
    /// [`get`](Self::get) returns `None`.
    pub fn shut_down(&self) {
        self.change(|items, _| items.shut_down());
    }

    /// The current activity.
    pub fn activity(&self) -> Activity {
        *self.activity.borrow()
    }

    /// Waits until the queue is idle.
    pub async fn idle(&self) -> Activity {
        let mut activity = self.activity.subscribe();
        *activity.wait_for(|activity| activity.idle).await.expect("self holds the sender")
    }

    /// Waits until nothing is being processed.
    pub async fn resting(&self) {
        let mut activity = self.activity.subscribe();
        activity.wait_for(|activity| !activity.processing).await.expect("self holds the sender");
    }

    /// Changes the items and wakes all waiting [`get`](Self::get)s.
    fn change(&self, act: impl FnOnce(&mut Items<T>, Instant)) {
        self.update(act);
        self.changed.notify_waiters();
    }

    fn update<R>(&self, act: impl FnOnce(&mut Items<T>, Instant) -> R) -> R {
        let mut items = self.items.lock().expect("no holder of this lock can panic");
        let now = Instant::now();
        items.release_due(now);
        let result = act(&mut items, now);
        let activity =
            Activity { idle: items.is_idle(), processing: items.is_processing(), handed_out: items.handed_out() };
        self.activity.send_if_modified(|previous| std::mem::replace(previous, activity) != activity);
        result
    }

    fn limiter(&self) -> MutexGuard<'_, ControllerRateLimiter<T>> {
        self.limiter.lock().expect("no holder of this lock can panic")
    }
}

impl<T: Clone + Debug + Eq + Hash> Default for RateLimitingQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue_of(items: &[&'static str]) -> RateLimitingQueue<&'static str> {
        let queue = RateLimitingQueue::new();
        items.iter().for_each(|item| queue.add(*item));
        queue
    }

    #[tokio::test(start_paused = true)]
    async fn hands_out_in_order_and_once() {
        let queue = queue_of(&["a", "b", "a"]);
        assert_eq!(queue.get().await, Some("a"));
        assert_eq!(queue.get().await, Some("b"));
        queue.shut_down();
        assert_eq!(queue.get().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_added_while_processing_comes_back_when_done() {
        let queue = queue_of(&["a"]);
        queue.get().await;
        queue.add("a");
        queue.add("b");
        assert_eq!(queue.get().await, Some("b"), "a is not handed out twice at once");
        queue.done(&"a");
        assert_eq!(queue.get().await, Some("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn delayed_items_come_by_their_time_and_the_earliest_delay_counts() {
        let queue = queue_of(&[]);
        let start = Instant::now();
        queue.add_after("late", Duration::from_secs(3));
        queue.add_after("early", Duration::from_secs(2));
        queue.add_after("late", Duration::from_secs(1));
        queue.add_after("late", Duration::from_secs(9));
        assert_eq!((queue.get().await, start.elapsed().as_secs()), (Some("late"), 1));
        assert_eq!((queue.get().await, start.elapsed().as_secs()), (Some("early"), 2));
        queue.add_after("now", Duration::ZERO);
        assert_eq!((queue.get().await, start.elapsed().as_secs()), (Some("now"), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_that_came_due_goes_before_one_added_later() {
        let queue = queue_of(&[]);
        queue.add_after("due", Duration::from_secs(1));
        tokio::time::advance(Duration::from_secs(2)).await;
        queue.add("added later");
        assert_eq!(queue.get().await, Some("due"));
        assert_eq!(queue.get().await, Some("added later"));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_slow_an_item_down_until_forgotten() {
        let queue = queue_of(&[]);
        let mut waits = Vec::new();
        for round in 0..4 {
            if round == 3 {
                queue.forget(&"a");
            }
            assert_eq!(queue.num_requeues(&"a"), round % 3);
            let start = Instant::now();
            queue.add_rate_limited("a");
            queue.get().await;
            waits.push(start.elapsed().as_millis());
            queue.done(&"a");
        }
        assert_eq!(waits, [5, 10, 20, 5]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shut_down_queue_drains_what_is_ready_and_takes_nothing_new() {
        let queue = queue_of(&["ready"]);
        queue.add_after("delayed", Duration::from_secs(1));
        queue.shut_down();
        queue.add("new");
        queue.add_after("new", Duration::from_secs(1));
        assert_eq!(queue.get().await, Some("ready"));
        assert_eq!(queue.get().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_means_nothing_ready_delayed_or_processing() {
        let queue = queue_of(&["a"]);
        assert!(!queue.activity().idle);
        queue.get().await;
        assert!(!queue.activity().idle);
        queue.add_rate_limited("a");
        queue.done(&"a");
        assert!(!queue.activity().idle);
        queue.get().await;
        queue.done(&"a");
        assert_eq!(queue.idle().await, Activity { idle: true, processing: false, handed_out: 2 });
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_keeps_items_until_it_ends_or_they_are_taken_at_once() {
        let queue = queue_of(&["a", "b"]);
        queue.add_after("late", Duration::from_secs(2));
        queue.add_after("early", Duration::from_secs(1));
        queue.pause();
        assert!(tokio::time::timeout(Duration::ZERO, queue.get()).await.is_err(), "nothing is handed out");
        assert_eq!(queue.take_at_once(), Some("a"));
        queue.resume();
        assert_eq!(queue.get().await, Some("b"));
        queue.pause();
        assert_eq!([(); 3].map(|()| queue.take_at_once()), [Some("early"), Some("late"), None]);
        queue.add("c");
        queue.shut_down();
        assert_eq!(queue.get().await, None, "a pause outlasts the shut down");
        ["a", "b", "early", "late"].iter().for_each(|item| queue.done(item));
        queue.resting().await;
    }

    #[tokio::test(start_paused = true)]
    async fn one_add_wakes_one_of_many_waiters_and_all_end_at_shut_down() {
        let queue = std::sync::Arc::new(queue_of(&[]));
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                tokio::spawn({
                    let queue = queue.clone();
                    async move { queue.get().await }
                })
            })
            .collect();
        tokio::task::yield_now().await;
        queue.add("a");
        queue.shut_down();
        let mut got = Vec::new();
        for waiter in waiters {
            got.extend(waiter.await.expect("waiters do not panic"));
        }
        assert_eq!(got, ["a"]);
    }
}
