//! The keys that are to be looked at: one queue for all loops, first come, first served.
//!
//! Follows `util/workqueue` of `k8s.io/client-go` (v0.37.1): a key waits once at most, one that is due earlier stays so, and one that failed
//! comes back after a time that doubles.

use crate::resource::Key;
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// The time after which a key that failed once is tried again.
const FIRST_DELAY: Duration = Duration::from_millis(5);
/// The longest such time.
const LONGEST_DELAY: Duration = Duration::from_secs(1000);
/// The number of times that a key is tried again at once, as its object had changed.
const AT_ONCE: u32 = 5;

/// A key of a loop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Item {
    /// The loop's place.
    pub(super) of: usize,
    pub(super) key: Key,
}

/// The keys that wait, and those that failed.
#[derive(Default)]
pub(super) struct Queue {
    /// The items in order: by the time when they are due, and by the time when they came.
    order: BTreeMap<(Timestamp, u64), Item>,
    places: HashMap<Item, (Timestamp, u64)>,
    failed: BTreeMap<Item, Failure>,
    count: u64,
}

/// The failures of a key in a row.
pub(super) struct Failure {
    pub(super) times: u32,
    pub(super) why: String,
}

impl Queue {
    /// Adds an item that is due then; at once, for [`Timestamp::MIN`].
    pub(super) fn add(&mut self, item: Item, due: Timestamp) {
        if let Some(place) = self.places.get(&item).copied() {
            if place.0 <= due {
                return;
            }
            self.order.remove(&place);
        }
        self.count += 1;
        self.order.insert((due, self.count), item.clone());
        self.places.insert(item, (due, self.count));
    }

    /// Takes the first item that is due now, of the loops that may work.
    pub(super) fn take(&mut self, now: Timestamp, may: impl Fn(usize) -> bool) -> Option<Item> {
        let found = self.waiting(now).find(|(_, item)| may(item.of)).map(|(place, _)| *place)?;
        self.remove(found)
    }

    /// Takes the first item of a loop that failed, whenever it is due.
    pub(super) fn take_failed(&mut self, of: usize) -> Option<Item> {
        let is_one = |item: &Item| item.of == of && self.failed.contains_key(item);
        let found = self.order.iter().find(|(_, item)| is_one(item)).map(|(place, _)| *place)?;
        self.remove(found)
    }

    fn remove(&mut self, place: (Timestamp, u64)) -> Option<Item> {
        let item = self.order.remove(&place)?;
        self.places.remove(&item);
        Some(item)
    }

    /// The items that are due now.
    fn waiting(&self, now: Timestamp) -> impl Iterator<Item = (&(Timestamp, u64), &Item)> {
        self.order.range(..=(now, u64::MAX))
    }

    /// The loops with items that are due now.
    pub(super) fn busy(&self, now: Timestamp) -> impl Iterator<Item = usize> {
        self.waiting(now).map(|(_, item)| item.of)
    }

    /// The next item that will be due, and when.
    pub(super) fn next(&self, may: impl Fn(usize) -> bool) -> Option<(Timestamp, &Item)> {
        self.order.iter().find(|(_, item)| may(item.of)).map(|(place, item)| (place.0, item))
    }

    /// The time at which an item is due.
    pub(super) fn due(&self, item: &Item) -> Option<Timestamp> {
        self.places.get(item).map(|place| place.0)
    }

    /// Takes note of a success: earlier failures are forgotten.
    pub(super) fn succeeded(&mut self, item: &Item) {
        self.failed.remove(item);
    }

    /// Takes note of a failure, and adds the item again: at once, if the object had only changed meanwhile.
    pub(super) fn failed(&mut self, item: Item, why: String, has_changed: bool, now: Timestamp) {
        let failure = self.failed.entry(item.clone()).or_insert(Failure { times: 0, why: String::new() });
        failure.times += 1;
        failure.why = why;
        let delay = match failure.times {
            times if has_changed && times <= AT_ONCE => Duration::ZERO,
            times => FIRST_DELAY.saturating_mul(1 << (times - 1).min(20)).min(LONGEST_DELAY),
        };
        self.add(item, after(now, delay));
    }

    /// The items that failed.
    pub(super) fn failing(&self) -> impl Iterator<Item = (&Item, &Failure)> {
        self.failed.iter()
    }
}

/// A time after another one.
pub(super) fn after(now: Timestamp, delay: Duration) -> Timestamp {
    let delay = SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX);
    now.checked_add(delay).unwrap_or(Timestamp::MAX)
}
