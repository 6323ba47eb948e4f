//! The store: objects under one revision counter, with a bounded history and subscriptions.
//!
//! It knows neither HTTP nor any Kubernetes kind; it keeps keys, serialised objects and the metadata that routing and
//! selecting need. It is synchronous, with two locks, and one for the queue of each watcher:
//! ```text
//!   write:  state: commit, event into the outbox ──▶ watchers: outbox to queues, through selectors ──▶ wake
//!   read:   state: take a snapshot
//! ```
//! The state's lock is held for the time of a tree operation. The watchers' lock keeps deliveries in the order of commits; a
//! write returns once its event is delivered. If both are needed, the watchers' is taken first.
//!
//! Invariants:
//! - Every change takes the next revision; a write that changes nothing takes none and makes no event.
//! - Every update and delete names the revision that it was computed from, and fails if that is not the current one.
//! - The past is readable as far back as the window of events reaches.
//! - Revisions only grow, until a test lets the store [go back](Store::rewind): then all that follows it begins anew.
//! - A subscription yields every matching event exactly once, in order; if it is too slow for the window, it expires.

mod cost;
mod digest;
mod entry;
mod event;
mod follower;
mod frozen;
mod history;
mod kept;
mod key;
mod last_change;
mod memo;
mod room;
mod saved;
mod snapshot;
mod state;
mod subscription;
mod taken;
#[cfg(test)]
mod tests;
mod tree;
mod watcher;
mod watchers;

pub use digest::Digest;
pub use entry::{Draft, Entry, FormId, Meta};
pub use event::{Change, Event, Filter};
pub use follower::Follower;
pub use frozen::Frozen;
pub use history::Expired;
pub use kept::Kept;
pub use key::{Key, ResourceId, Scope};
pub use saved::{Past, Saved, Takeover};
pub use snapshot::Snapshot;
pub use state::{Conflict, CreateError, Parent, Updated};
pub use subscription::Subscription;
pub use tree::{Run, Slice};
pub use watcher::Delivery;

use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use bytes::Bytes;
use history::History;
use imbl::Vector;
use kept::Shelf;
use last_change::LastChanges;
use room::Room;
use state::State;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use taken::{AllTaken, Taken};
use watchers::Watchers;

/// The default limit of the events in a watcher's queue.
const QUEUE: usize = 1000;
/// The memory for renderings of single objects, in bytes.
const ROOM: usize = 32 * 1024 * 1024;

/// A handle on the store; clones share it.
#[derive(Clone)]
pub struct Store(Arc<Shared>);

struct Shared {
    /// A std mutex: never held across an await, and for microseconds at most.
    state: Mutex<State>,
    watchers: Mutex<Watchers>,
    /// The revision up to which all events were delivered, readable without a lock.
    delivered: AtomicU64,
    /// The most events that a watcher's queue holds.
    queue: usize,
    /// The budget for renderings of single objects.
    room: Room,
    changes: Arc<LastChanges>,
    shelf: Shelf,
}

impl Store {
    /// An empty store at revision 1 that remembers the last `history` events, however large they are.
    pub fn new(history: usize) -> Self {
        Self::with_history(history, usize::MAX)
    }

    /// An empty store at revision 1 that remembers the last `events` events, or as many as keep at most `bytes` bytes in
    /// memory: the objects that only they hold, and the frames for watchers. The last one is always remembered.
    pub fn with_history(events: usize, bytes: usize) -> Self {
        Self::with_limits(events, bytes, QUEUE)
    }

    /// [`with_history`](Self::with_history), with queues of watchers that hold `queue` events at most.
    pub fn with_limits(events: usize, bytes: usize, queue: usize) -> Self {
        Self::of(State::new(History::new(events, bytes)), queue, Room::new(ROOM), Shelf::default())
    }

    fn of(state: State, queue: usize, room: Room, shelf: Shelf) -> Self {
        let (delivered, changes) = (AtomicU64::new(state.revision()), state.changes().clone());
        let (state, watchers) = (Mutex::new(state), Mutex::default());
        Store(Arc::new(Shared { state, watchers, delivered, queue, room, changes, shelf }))
    }

    /// The memory that the remembered events keep, in bytes.
    pub fn history_bytes(&self) -> usize {
        self.state().history().bytes().bytes()
    }

    /// The newest revision up to which all events were delivered. It is never behind a write that has returned.
    pub fn revision(&self) -> u64 {
        self.0.delivered.load(Ordering::Acquire)
    }

    /// The revision of the last commit, whose event may not be delivered yet.
    pub fn committed_revision(&self) -> u64 {
        self.state().revision()
    }

    /// The object with that key.
    pub fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        self.state().get(key)
    }

    /// A stored object in `form`, made by `render` the first time, and kept as long as the object stays as it is and there is room.
    ///
    /// # Errors
    /// The errors of `render`.
    pub fn rendered<E>(
        &self,
        entry: &Entry,
        form: FormId,
        render: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        entry.rendered(form, &self.0.room, render)
    }

    /// The present content.
    pub fn snapshot(&self) -> Snapshot {
        self.state().snapshot()
    }

    /// The content at `revision`: the present one with later events undone.
    ///
    /// # Errors
    /// [`Expired`] if the window of events does not reach back that far.
    pub fn snapshot_at(&self, revision: u64) -> Result<Snapshot, Expired> {
        let (later, now) = self.events_after(revision)?;
        Ok(now.rewound(revision, &later))
    }

    /// The events after `revision`, oldest first, and the content after them.
    ///
    /// # Errors
    /// [`Expired`] if the window of events does not reach back that far.
    pub fn events_after(&self, revision: u64) -> Result<(Vector<Arc<Event>>, Snapshot), Expired> {
        let (now, history) = {
            let state = self.state();
            (state.snapshot(), state.history())
        };
        Ok((history.after(revision)?, now))
    }

    /// The events after `revision`, oldest first, among which are all that are about the resources, and the content after them.
    ///
    /// # Errors
    /// [`Expired`] if the window of events has forgotten one of those.
    pub fn events_about(
        &self,
        resources: &[ResourceId],
        revision: u64,
    ) -> Result<(Vector<Arc<Event>>, Snapshot), Expired> {
        let (now, history) = {
            let state = self.state();
            (state.snapshot(), state.history())
        };
        Ok((history.about(resources, revision)?, now))
    }

    /// The revision of the last change to any of the resources; 0 if there was none.
    pub fn last_change(&self, resources: &[ResourceId]) -> u64 {
        self.0.changes.of(resources)
    }

    /// The thing of that type that is derived from this store and kept with it. It begins as the default.
    pub fn kept<T: Kept>(&self) -> &T {
        self.0.shelf.get()
    }

    /// The content with its past.
    pub fn saved(&self) -> Saved {
        let (now, history) = {
            let state = self.state();
            (state.snapshot(), state.history())
        };
        let (compacted, revision) = (history.compacted(), now.revision);
        let events =
            history.after(compacted).unwrap_or_else(|Expired { .. }| unreachable!("it is the oldest revision"));
        Saved { base: now.rewound(compacted, &events), events, revision }
    }

    /// Takes over a content. Nothing else may have been stored.
    pub fn take_over(&self, content: Takeover) {
        let mut state = self.state();
        state.take_over(content);
        // Nobody watches yet.
        let news = state.news();
        drop(state);
        self.0.delivered.store(news.revision, Ordering::Release);
    }

    /// Goes back to a content with its revision, which may be an earlier one, as an etcd that was restored: what it had since is forgotten,
    /// later writes take the same revisions again, and all subscriptions end at once. What is kept with the store is derived anew.
    pub fn rewind(&self, content: Takeover) {
        let watchers = self.watchers();
        // Before the events are forgotten that they owe.
        let mut wakers = Vec::new();
        watchers.end_all(&mut wakers);
        let mut state = self.state();
        state.rewind(content);
        let news = state.news();
        drop(state);
        self.0.delivered.store(news.revision, Ordering::Release);
        wakers.extend(watchers.followers());
        drop(watchers);
        // What is derived from now on is derived of the content.
        self.0.shelf.renew();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Stores a new object.
    ///
    /// # Errors
    /// [`CreateError`], and then nothing is stored.
    pub fn create(&self, draft: Draft, parent: Option<&Parent>) -> Result<Arc<Entry>, CreateError> {
        self.write(|state| state.create(draft, parent))
    }

    /// Replaces the object that is at revision `expected`.
    ///
    /// # Errors
    /// [`Conflict`], and then nothing changes.
    pub fn update(&self, draft: Draft, expected: u64) -> Result<Updated, Conflict> {
        self.write(|state| state.update(draft, expected))
    }

    /// Removes the object that is at revision `expected`; returns it under the revision of its removal.
    ///
    /// # Errors
    /// [`Conflict`], and then nothing changes.
    pub fn delete(&self, key: &Key, expected: u64) -> Result<Arc<Entry>, Conflict> {
        let event = self.write(|state| state.delete(key, expected))?;
        Ok(event.object(Change::Deleted).clone())
    }

    /// The wait until the streams that owe the last event of an object have passed it on. Streams for which another writer waited in vain
    /// are not waited for, until they have caught up.
    pub fn taken(&self, entry: &Entry) -> AllTaken {
        let (taken, mut all) = Taken::new();
        for watcher in self.watchers().about(&entry.key) {
            if watcher.lock().hold(&taken) {
                all.note();
            }
        }
        all
    }

    /// Closes an empty resource: it takes no objects any more, and its subscriptions end after their last events.
    ///
    /// # Errors
    /// The present content, if the resource is not empty; then nothing changes.
    pub fn close(&self, resource: ResourceId) -> Result<(), Snapshot> {
        let watchers = self.watchers();
        let mut state = self.state();
        state.close(resource)?;
        let revision = state.revision();
        drop(state);
        self.end(resource, revision, watchers);
        Ok(())
    }

    /// Begins a resource anew: its subscriptions end after their last events, and none begins before this instant any more.
    pub fn begin(&self, resource: ResourceId) {
        let watchers = self.watchers();
        let revision = self.state().begin(resource);
        self.end(resource, revision, watchers);
    }

    /// Ends the subscriptions of a resource after the events up to `revision`, which is in the past.
    fn end(&self, resource: ResourceId, revision: u64, watchers: MutexGuard<'_, Watchers>) {
        let mut wakers = Vec::new();
        // By now all these events are in the outbox, or delivered.
        self.hand_out(&watchers, &mut wakers);
        watchers.end(resource, revision, &mut wakers);
        drop(watchers);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Forgets all events up to and including `revision`.
    pub fn compact(&self, revision: u64) {
        self.write(|state| state.compact(revision));
        let mut wakers = Vec::new();
        let watchers = self.watchers();
        let compacted = self.state().compacted();
        watchers.expire(compacted, &mut wakers);
        drop(watchers);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Takes revisions without a change; returns the newest. `None` if there are not as many.
    pub fn advance(&self, by: u64) -> Option<u64> {
        self.write(|state| state.advance(by))
    }

    /// Runs a write under the state's lock, and delivers its event after it.
    fn write<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state());
        self.deliver();
        result
    }

    /// Delivers all outstanding events to the watchers that they concern. If another thread does so, waits for it.
    fn deliver(&self) {
        let mut wakers = Vec::new();
        let watchers = self.watchers();
        self.hand_out(&watchers, &mut wakers);
        drop(watchers);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn hand_out(&self, watchers: &Watchers, wakers: &mut Vec<Waker>) {
        let news = self.state().news();
        for event in &news.events {
            watchers.offer(event, news.compacted, wakers);
        }
        if !news.events.is_empty() {
            wakers.extend(watchers.followers());
        }
        self.0.delivered.store(news.revision, Ordering::Release);
    }

    /// The current revision, and the events up to it.
    fn past(&self) -> (u64, History) {
        let state = self.state();
        (state.revision(), state.history())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().expect("no code that runs under this lock panics")
    }

    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.0.watchers.lock().expect("no code that runs under this lock panics")
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("revision", &self.revision()).finish_non_exhaustive()
    }
}
