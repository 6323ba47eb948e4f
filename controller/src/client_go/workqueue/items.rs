//! The synchronous core of the queue: the states of its items. It has no clock; the time is an argument.

use super::metrics::Measured;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use tokio::time::Instant;

/// The result of taking an item.
pub(super) enum Taken<T> {
    /// The item, which is now processing.
    Item(T),
    /// No item is ready before that time, or without one before the next change.
    NothingBefore(Option<Instant>),
    /// No item will ever be ready again.
    ShutDown,
}

#[derive(Debug)]
pub(super) struct Items<T> {
    /// The items to hand out, in order. Each is dirty and not processing.
    ready: VecDeque<T>,
    /// The items that need work.
    dirty: HashSet<T>,
    /// The items that were handed out and are not done.
    processing: HashSet<T>,
    /// The delayed items, by the time each is due; those of equal times in the order they were added.
    delayed: BTreeMap<(Instant, u64), T>,
    /// The key of each delayed item in `delayed`.
    due: HashMap<T, (Instant, u64)>,
    delays: u64,
    handed_out: u64,
    paused: bool,
    shutting_down: bool,
    /// The metrics, if there are any.
    measured: Option<Measured<T>>,
}

impl<T: Clone + Eq + Hash> Items<T> {
    pub(super) fn new() -> Self {
        Items {
            ready: VecDeque::new(),
            dirty: HashSet::new(),
            processing: HashSet::new(),
            delayed: BTreeMap::new(),
            due: HashMap::new(),
            delays: 0,
            handed_out: 0,
            paused: false,
            shutting_down: false,
            measured: None,
        }
    }

    pub(super) fn measure(&mut self, measured: Measured<T>) {
        measured.found(self.dirty.len());
        self.measured = Some(measured);
    }

    pub(super) fn add(&mut self, item: T, now: Instant) {
        if self.shutting_down || !self.dirty.insert(item.clone()) {
            return;
        }
        if let Some(measured) = &mut self.measured {
            measured.add(&item, now);
        }
        if !self.processing.contains(&item) {
            self.ready.push_back(item);
        }
    }

    pub(super) fn add_at(&mut self, item: T, ready_at: Instant, now: Instant) {
        if let Some(measured) = &self.measured
            && !self.shutting_down
        {
            measured.retry();
        }
        if ready_at <= now {
            return self.add(item, now);
        }
        if self.shutting_down || self.due.get(&item).is_some_and(|(earlier, _)| *earlier <= ready_at) {
            return;
        }
        let due = (ready_at, self.delays);
        self.delays += 1;
        if let Some(later) = self.due.insert(item.clone(), due) {
            self.delayed.remove(&later);
        }
        self.delayed.insert(due, item);
    }

    /// Adds the delayed items whose time has come.
    pub(super) fn release_due(&mut self, now: Instant) {
        while let Some(first) = self.delayed.first_entry().filter(|first| first.key().0 <= now) {
            let item = first.remove();
            self.due.remove(&item);
            self.add(item, now);
        }
    }

    pub(super) fn take(&mut self, now: Instant) -> Taken<T> {
        let item = if self.paused { None } else { self.hand_out(now) };
        match item {
            Some(item) => Taken::Item(item),
            None if self.shutting_down => Taken::ShutDown,
            None if self.paused => Taken::NothingBefore(None),
            None => Taken::NothingBefore(self.delayed.keys().next().map(|(ready_at, _)| *ready_at)),
        }
    }

    /// The next item, paused or not; if none is ready, the one that would be next.
    pub(super) fn take_at_once(&mut self, now: Instant) -> Option<T> {
        while self.ready.is_empty()
            && let Some((_, item)) = self.delayed.pop_first()
        {
            self.due.remove(&item);
            self.add(item, now);
        }
        self.hand_out(now)
    }

    fn hand_out(&mut self, now: Instant) -> Option<T> {
        let item = self.ready.pop_front()?;
        self.dirty.remove(&item);
        self.processing.insert(item.clone());
        self.handed_out += 1;
        if let Some(measured) = &mut self.measured {
            measured.get(&item, now);
        }
        Some(item)
    }

    pub(super) fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
    }

    pub(super) fn done(&mut self, item: &T, now: Instant) {
        if let Some(measured) = &mut self.measured {
            measured.done(item, now);
        }
        self.processing.remove(item);
        if self.dirty.contains(item) {
            self.ready.push_back(item.clone());
        }
    }

    pub(super) fn shut_down(&mut self) {
        self.shutting_down = true;
        self.delayed.clear();
        self.due.clear();
    }

    pub(super) fn is_processing(&self) -> bool {
        !self.processing.is_empty()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.dirty.is_empty() && self.processing.is_empty() && self.delayed.is_empty()
    }

    pub(super) fn handed_out(&self) -> u64 {
        self.handed_out
    }
}
