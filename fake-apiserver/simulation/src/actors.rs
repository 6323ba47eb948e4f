//! The actors that share the store, each a thread, and the record of their results.

use crate::index::{Current, Index, Live, Place};
use crate::store::{
    Change, CreateError, Delivery, Draft, Entry, Expired, Filter, Key, Meta, ResourceId, Scope, Store, Subscription,
    Updated,
};
use crate::truth::{Commit, State, state_entry, state_of};
use crate::watching::{End, Watch};
use crate::world::Bounds;
use imbl::OrdMap;
use shuttle::future::block_on;
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread::yield_now;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The role of an actor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Actor {
    /// Creates, updates and deletes, each based on a read.
    Writer,
    /// Watches, at its own pace, and begins anew when the watch ends or is cancelled.
    Watcher,
    /// Reads the present and the past.
    Reader,
    /// Compacts the history.
    Compactor,
    /// Reads an index.
    Follower,
}

/// All results of the actors.
#[derive(Default)]
pub(crate) struct Observations {
    pub(crate) commits: Vec<Commit>,
    pub(crate) watches: Vec<Watch>,
    /// Snapshots by their revision.
    pub(crate) snapshots: Vec<(u64, State)>,
    /// The revisions that were compacted.
    pub(crate) compacted: Vec<u64>,
    /// The oldest available revisions that refusals named to readers.
    pub(crate) oldest: Vec<u64>,
    /// States of an index, each with the range of its possible revisions.
    pub(crate) indexes: Vec<(u64, u64, State)>,
}

/// The store, and the record of its results.
pub(crate) struct Observer {
    pub(crate) store: Store,
    bounds: Bounds,
    /// A mutex of std, at which no thread is scheduled.
    observations: Mutex<Observations>,
}

const NAMES: [(u32, &str, &str); 4] = [(0, "a", "x"), (0, "a", "y"), (0, "b", "x"), (1, "", "z")];
const LABELS: [&str; 2] = ["yes", "no"];

fn any<T: Copy>(all: &[T]) -> T {
    all[thread_rng().gen_range(0..all.len())]
}

/// True once in `times` calls, at random.
fn once_in(times: usize) -> bool {
    thread_rng().gen_range(0..times) == 0
}

fn draft(key: &Key, label: &str) -> Draft {
    let json = format!(r#"{{"metadata":{{"name":"{}"}},"label":"{label}"}}"#, key.name());
    let slot = json.find('}').expect("metadata has an end");
    let meta = Meta { labels: vec![("label".into(), label.into())], ..Meta::default() };
    Draft { key: key.clone(), json: json.into(), slot, body: 1, meta }
}

impl Actor {
    pub(crate) fn act(self, observer: &Observer) {
        match self {
            Actor::Writer => (0..thread_rng().gen_range(2..=5)).for_each(|_| observer.write()),
            Actor::Watcher => observer.watch(),
            Actor::Reader => (0..3).for_each(|_| observer.read()),
            Actor::Compactor => (0..2).for_each(|_| observer.compact()),
            Actor::Follower => observer.follow(),
        }
    }
}

impl Observer {
    pub(crate) fn new(store: Store, bounds: Bounds) -> Observer {
        Observer { store, bounds, observations: Mutex::default() }
    }

    /// Takes the record.
    pub(crate) fn observations(&self) -> Observations {
        std::mem::take(&mut *self.log())
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Observations> {
        self.observations.lock().expect("no thread panics here")
    }

    fn write(&self) {
        let (resource, namespace, name) = any(&NAMES);
        let key = Key::new(ResourceId(resource), namespace, name);
        let label = any(&LABELS);
        match self.store.get(&key) {
            None => match self.store.create(draft(&key, label), None) {
                Ok(entry) => self.committed(entry.revision, &key, None, Some(label)),
                Err(CreateError::Exists(_)) => {}
                Err(error) => panic!("{error:?}"),
            },
            Some(seen) if once_in(3) => self.delete(&key, seen.revision),
            Some(seen) => match self.store.update(draft(&key, label), seen.revision) {
                Ok(Updated::Changed(entry)) => self.committed(entry.revision, &key, Some(seen.revision), Some(label)),
                Ok(Updated::Unchanged(entry)) => assert_eq!(state_entry(&entry), state_entry(&seen)),
                Err(_) => {}
            },
        }
    }

    pub(crate) fn delete(&self, key: &Key, expected: u64) {
        if let Ok(entry) = self.store.delete(key, expected) {
            self.committed(entry.revision, key, Some(expected), None);
        }
    }

    /// Writes an object of a resource that no actor uses.
    pub(crate) fn create_elsewhere(&self) {
        let key = Key::new(ResourceId(2), "", "x");
        self.store.create(draft(&key, ""), None).expect("it is the first");
    }

    fn committed(&self, revision: u64, key: &Key, expected: Option<u64>, label: Option<&'static str>) {
        self.log().commits.push(Commit { revision, key: key.clone(), expected, label });
        assert!(self.store.revision() >= revision, "linear: the store is behind a write that was answered");
    }

    fn compact(&self) {
        let revision = self.store.revision();
        let revision = revision - thread_rng().gen_range(0..3).min(revision);
        self.log().compacted.push(revision);
        self.store.compact(revision);
    }

    fn read(&self) {
        let changed = || self.store.last_change(&[ResourceId(0)]);
        let snapshot = self.store.snapshot();
        let state = state_of(&snapshot);
        let newest =
            state.iter().filter(|(key, _)| key.resource == ResourceId(0)).map(|(_, (revision, _))| *revision).max();
        let begun = changed();
        let again = self.store.snapshot();
        let later = state_of(&again).into_iter().filter(|(key, _)| key.resource == ResourceId(0));
        let later =
            later.map(|(_, (revision, _))| revision).filter(|revision| newest.is_none_or(|it| *revision > it)).max();
        assert!(later.is_none_or(|it| it <= changed()), "linear: {later:?} is seen, and only {begun} has changed");
        self.log().snapshots.extend([(snapshot.revision, state), (again.revision, state_of(&again))]);
        let committed = self.store.committed_revision();
        let past = committed - thread_rng().gen_range(0..8).min(committed - 1);
        match self.store.snapshot_at(past) {
            Ok(then) => {
                assert!(committed - past <= self.bounds.events as u64, "bounded: {past} is remembered at {committed}");
                self.log().snapshots.push((then.revision, state_of(&then)));
            }
            Err(Expired { oldest }) => {
                assert!(past < oldest, "resumable: {past} is forgotten, the oldest is {oldest}");
                self.log().oldest.push(oldest);
            }
        }
    }

    fn follow(&self) {
        for _ in 0..3 {
            let known = self.store.revision();
            let current = if once_in(2) { Followed::current(&self.store) } else { stepwise(&self.store) };
            let state = current.0.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            let latest = self.store.committed_revision();
            self.log().indexes.push((known, latest, state));
        }
    }

    fn watch(&self) {
        let scope = match thread_rng().gen_range(0..5) {
            0 => Scope { namespace: Some("a".into()), ..Scope::all(ResourceId(0)) },
            1 => Scope { name: Some("x".into()), ..Scope::all(ResourceId(0)) },
            2 => Scope { namespace: Some("a".into()), name: Some("x".into()), resource: ResourceId(0) },
            3 => Scope::all(ResourceId(1)),
            _ => Scope::all(ResourceId(0)),
        };
        let filter = if once_in(2) { Some(any(&LABELS)) } else { None };
        let mut resume = None;
        for _ in 0..4 {
            let Some(last) = self.watch_once(&scope, filter, resume) else { return };
            resume = last;
        }
    }

    /// Watches until the end, or for a while. Returns where to go on: after a revision, or from the present state.
    fn watch_once(&self, scope: &Scope, filter: Option<&'static str>, resume: Option<u64>) -> Option<Option<u64>> {
        let over = Arc::new(AtomicBool::new(false));
        let selector = || -> Option<Filter> {
            let (over, label) = (over.clone(), filter?);
            Some(Box::new(move |entry: &Entry| {
                assert!(!over.load(Ordering::Relaxed), "a cancelled watch is not offered anything");
                crate::truth::label(&entry.meta) == label
            }))
        };
        let mut watch =
            Watch { scope: scope.clone(), filter, after: 0, delivered: vec![], bookmarks: vec![], end: End::Cancelled };
        let begun = match resume {
            None if once_in(2) => {
                let (snapshot, subscription) = self.store.subscribe(scope.clone(), selector());
                watch.after = snapshot.revision;
                self.log().snapshots.push((snapshot.revision, state_of(&snapshot)));
                Ok(subscription)
            }
            None => {
                let listed = self.store.snapshot();
                // Sometimes a future revision.
                watch.after = listed.revision + if once_in(4) { 2 } else { 0 };
                self.store.subscribe_after(watch.after, scope.clone(), selector())
            }
            Some(revision) => {
                watch.after = revision;
                self.store.subscribe_after(revision, scope.clone(), selector())
            }
        };
        let next = match begun {
            Ok(mut subscription) => {
                self.take_part(&mut watch, &mut subscription);
                drop(subscription);
                over.store(true, Ordering::Relaxed);
                let bookmark = watch.bookmarks.last().map(|(_, revision)| *revision);
                let seen = watch.delivered.last().map(|(revision, _)| *revision).max(bookmark).unwrap_or(watch.after);
                match watch.end {
                    End::Cancelled => Some(Some(seen)),
                    End::Closed => None,
                    _ => Some(None),
                }
            }
            Err(Expired { oldest }) => {
                self.log().oldest.push(oldest);
                watch.end = End::Refused(oldest);
                Some(None)
            }
        };
        self.log().watches.push(watch);
        next
    }

    fn take_part(&self, watch: &mut Watch, subscription: &mut Subscription) {
        loop {
            if once_in(3) {
                yield_now();
            }
            if once_in(3)
                && let Some(level) = subscription.level()
            {
                watch.bookmarks.push((watch.delivered.len(), level));
            }
            let delivery = match once_in(4) {
                true => subscription.try_next(),
                false => Some(block_on(poll_fn(|context| subscription.poll_next(context)))),
            };
            match delivery {
                None => {}
                Some(Delivery::Event(event, change)) => {
                    watch.delivered.push((event.revision, change));
                    let shown = event.object(change);
                    let expected = if change == Change::Deleted { event.revision } else { shown.revision };
                    assert_eq!(shown.revision, expected, "selectors: a deletion shows its own revision");
                    if let Some(label) = watch.filter {
                        assert_eq!(
                            crate::truth::label(&shown.meta),
                            label,
                            "selectors: it is shown as it last matched"
                        );
                    }
                    if once_in(6) {
                        return;
                    }
                }
                Some(Delivery::Expired(expired)) => {
                    self.log().oldest.push(expired.oldest);
                    watch.end = End::Expired(expired.oldest);
                    return;
                }
                Some(Delivery::Ended) => {
                    watch.end = End::Closed;
                    return;
                }
            }
        }
    }
}

/// The state of an index as it is now, caught up in steps.
fn stepwise(store: &Store) -> Current<Followed> {
    let (index, change) = (store.kept::<Live<Followed>>(), store.last_change(Followed::RESOURCES));
    loop {
        match index.since(change) {
            Some(current) => return current,
            None => assert!(index.step(store), "nobody else is at it"),
        }
    }
}

/// An index of all objects.
#[derive(Clone, Default)]
struct Followed(OrdMap<Key, (u64, String)>);

impl Index for Followed {
    const PLACE: Place = Place::AccessRules;
    const RESOURCES: &'static [ResourceId] = &[ResourceId(0), ResourceId(1)];

    fn apply(&mut self, entry: &Entry) {
        let (key, value) = state_entry(entry);
        self.0.insert(key, value);
    }

    fn delete(&mut self, key: &Key) {
        self.0.remove(key);
    }
}
