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

/// The place of an item: by the time when it is due, and by the time when it came.
type Place = (Timestamp, u64);

/// The keys that wait, and those that failed.
#[derive(Default)]
pub(super) struct Queue {
    /// The keys of each loop in order, so that those of a paused one hold up no other.
    orders: Vec<BTreeMap<Place, Key>>,
    places: HashMap<Item, Place>,
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
            self.orders[item.of].remove(&place);
        }
        self.count += 1;
        if self.orders.len() <= item.of {
            self.orders.resize_with(item.of + 1, BTreeMap::new);
        }
        self.orders[item.of].insert((due, self.count), item.key.clone());
        self.places.insert(item, (due, self.count));
    }

    /// The first places of the loops that may work.
    fn firsts(&self, may: impl Fn(usize) -> bool) -> impl Iterator<Item = (Place, usize)> {
        let firsts = self.orders.iter().enumerate().filter(move |(of, _)| may(*of));
        firsts.filter_map(|(of, order)| Some((*order.first_key_value()?.0, of)))
    }

    /// Takes the first item that is due now, of the loops that may work.
    pub(super) fn take(&mut self, now: Timestamp, may: impl Fn(usize) -> bool) -> Option<Item> {
        let (place, of) = self.firsts(may).min().filter(|((due, _), _)| *due <= now)?;
        self.remove(of, place)
    }

    /// Takes the first item of a loop that failed, whenever it is due.
    pub(super) fn take_failed(&mut self, of: usize) -> Option<Item> {
        let is_one = |key: &&Key| self.failed.contains_key(&Item { of, key: (*key).clone() });
        let (place, _) = self.orders.get(of)?.iter().find(|(_, key)| is_one(key))?;
        self.remove(of, *place)
    }

    fn remove(&mut self, of: usize, place: Place) -> Option<Item> {
        let item = Item { of, key: self.orders[of].remove(&place)? };
        self.places.remove(&item);
        Some(item)
    }

    /// The loops with items that are due now.
    pub(super) fn busy(&self, now: Timestamp) -> impl Iterator<Item = usize> {
        self.firsts(|_| true).filter(move |((due, _), _)| *due <= now).map(|(_, of)| of)
    }

    /// The next item that will be due, and when.
    pub(super) fn next(&self, may: impl Fn(usize) -> bool) -> Option<(Timestamp, Item)> {
        let (place, of) = self.firsts(may).min()?;
        let key = self.orders[of].get(&place)?.clone();
        Some((place.0, Item { of, key }))
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
