//! Tests with an index of revisions, compared with the store.

use super::*;
use crate::store::{Delivery, Draft, Meta};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

const PAIRED: ResourceId = ResourceId(1);
const PAIRS: ResourceId = ResourceId(2);
const OTHERS: ResourceId = ResourceId(3);

/// Keys and revisions of all objects.
#[derive(Debug, Clone, Default, PartialEq)]
struct Revisions {
    by_key: imbl::OrdMap<Key, u64>,
}

impl Index for Revisions {
    const PLACE: Place = Place::AccessRules;
    const RESOURCES: &'static [ResourceId] = &[PAIRED, PAIRS];

    fn apply(&mut self, entry: &Entry) {
        self.by_key.insert(entry.key.clone(), entry.revision);
    }

    fn delete(&mut self, key: &Key) {
        self.by_key.remove(key);
    }
}

impl Revisions {
    fn of(&self, resource: ResourceId) -> usize {
        self.by_key.keys().filter(|key| key.resource == resource).count()
    }
}

fn live(store: &Store) -> &Live<Revisions> {
    store.kept()
}

fn key(resource: ResourceId, number: u64) -> Key {
    Key::new(resource, "namespace", &number.to_string())
}

fn draft(key: Key, value: u64) -> Draft {
    let json = format!(r#"{{"metadata":{{"uid":"u"}},"value":{value}}}"#);
    let slot = json.find('}').expect("metadata has an end");
    Draft { key, json: json.into(), slot, body: 1, meta: Meta::default() }
}

fn create(store: &Store, resource: ResourceId, number: u64) -> Arc<Entry> {
    store.create(draft(key(resource, number), 0), None).expect("the name is free")
}

fn update(store: &Store, resource: ResourceId, number: u64) {
    let current = store.get(&key(resource, number)).expect("it is there");
    store.update(draft(current.key.clone(), current.revision), current.revision).expect("it is current");
}

fn delete(store: &Store, resource: ResourceId, number: u64) {
    let current = store.get(&key(resource, number)).expect("it is there");
    store.delete(&current.key, current.revision).expect("it is current");
}

/// Compares the index with the store.
fn check(store: &Store) {
    let snapshot = store.snapshot();
    let scopes = [PAIRED, PAIRS].map(Scope::all);
    let entries = scopes.iter().flat_map(|scope| snapshot.range(scope, ""));
    let expected: BTreeMap<_, _> = entries.map(|entry| (entry.key.clone(), entry.revision)).collect();
    let indexed: BTreeMap<_, _> = Revisions::current(store).by_key.clone().into_iter().collect();
    assert_eq!(indexed, expected, "at {}", snapshot.revision);
}

#[test]
fn every_write_is_seen_at_once() {
    let store = Store::new(100);
    create(&store, PAIRED, 0);
    check(&store);
    for number in 1..5 {
        create(&store, PAIRED, number);
        check(&store);
        create(&store, OTHERS, number);
        create(&store, PAIRS, number);
        update(&store, PAIRED, number);
        check(&store);
        delete(&store, PAIRED, number - 1);
        check(&store);
    }
}

/// The state as it is now, caught up in steps.
fn stepwise(store: &Store) -> Current<Revisions> {
    let live = live(store);
    let change = store.last_change(Revisions::RESOURCES);
    loop {
        match live.since(change) {
            Some(current) => return current,
            None => assert!(live.step(store), "nobody else is at it"),
        }
    }
}

#[test]
fn every_write_is_seen_in_steps() {
    let store = Store::new(100);
    let live = live(&store);
    for number in 0..10 {
        create(&store, PAIRED, number);
        update(&store, PAIRED, number);
        create(&store, PAIRS, number);
    }
    for number in 0..5 {
        delete(&store, PAIRED, number);
    }
    create(&store, PAIRED, 2);
    // While they are under way, more changes.
    assert!(live.step(&store) && live.step(&store));
    delete(&store, PAIRED, 9);
    let state = stepwise(&store);
    assert_eq!((state.of(PAIRED), state.of(PAIRS)), (5, 10));
    check(&store);
}

#[test]
fn who_steps_waits_for_nobody() {
    let store = Store::new(100);
    let live = live(&store);
    create(&store, PAIRED, 0);
    let next = live.next.lock().unwrap();
    assert!(!live.step(&store) && live.since(store.last_change(Revisions::RESOURCES)).is_none());
    drop(next);
    assert_eq!(stepwise(&store).of(PAIRED), 1);
}

#[test]
fn only_the_last_of_several_changes_is_applied() {
    let store = Store::new(100);
    let live = live(&store);
    for number in 0..2 {
        create(&store, PAIRED, number);
        (0..5).for_each(|_| update(&store, PAIRED, number));
    }
    delete(&store, PAIRED, 0);
    let (change, mut steps) = (store.last_change(Revisions::RESOURCES), 0);
    while live.since(change).is_none() {
        assert!(live.step(&store));
        steps += 1;
    }
    assert_eq!(steps, 3, "a deletion, an object, and the end");
    check(&store);
}

#[test]
fn a_forgotten_history_does_no_harm() {
    for forget in [
        |store: &Store| store.compact(store.revision()),
        |store: &Store| {
            (0..10).for_each(|number| drop(create(store, OTHERS, number)));
        },
    ] {
        let store = Store::new(5);
        create(&store, PAIRED, 0);
        delete(&store, PAIRED, 0);
        create(&store, PAIRS, 1);
        forget(&store);
        check(&store);
        create(&store, PAIRED, 2);
        check(&store);
    }
}

#[test]
fn a_state_does_not_change_under_its_reader() {
    let store = Store::new(100);
    let live = live(&store);
    create(&store, PAIRED, 0);
    let held = live.current(&store);
    delete(&store, PAIRED, 0);
    check(&store);
    assert_eq!(held.of(PAIRED), 1);
}

#[test]
fn readers_take_the_lock_only_when_one_of_the_resources_changed() {
    let store = Store::new(100);
    let live = live(&store);
    create(&store, PAIRED, 0);
    check(&store);
    // From now on every attempt to take the lock panics.
    let poison = catch_unwind(AssertUnwindSafe(|| {
        let _next = live.next.lock();
        panic!("with the lock held");
    }));
    assert!(poison.is_err());
    create(&store, OTHERS, 0);
    check(&store);
    create(&store, PAIRED, 1);
    assert!(catch_unwind(AssertUnwindSafe(|| live.current(&store).of(PAIRED))).is_err());
}

/// A pair is made of one object and then of another, so that there is never more than one half.
fn write_pairs(store: &Store, pairs: u64) {
    for number in 0..pairs {
        create(store, PAIRED, number);
        create(store, PAIRS, number);
        create(store, OTHERS, number);
    }
}

#[test]
fn readers_see_one_revision_and_all_that_anybody_knows_of() {
    const COUNT: u64 = 500;
    for history in [10, 100_000] {
        let store = Store::new(history);
        // Subscribed first, so it hears first.
        let watched = Scope::all(PAIRS);
        let (_, mut watch) = store.subscribe(watched, None);
        let live = live(&store);
        thread::scope(|scope| {
            scope.spawn(|| write_pairs(&store, COUNT));
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut last = 0;
                    while last < COUNT as usize {
                        let state = live.current(&store);
                        let (halves, pairs) = (state.of(PAIRED), state.of(PAIRS));
                        assert!(pairs >= last && halves.checked_sub(pairs).is_some_and(|half| half <= 1));
                        last = pairs;
                    }
                });
            }
            let mut seen = 0;
            while seen < COUNT {
                match watch.try_next() {
                    Some(Delivery::Event(event, _)) => {
                        assert!(live.current(&store).by_key.contains_key(event.key()));
                        seen += 1;
                    }
                    // Too slow for the window: the index has the missed events all the same.
                    Some(Delivery::Expired(_) | Delivery::Ended) => break,
                    None => thread::yield_now(),
                }
            }
        });
        check(&store);
    }
}

#[test]
fn a_change_is_applied_however_much_else_was_forgotten() {
    let store = Store::new(5);
    create(&store, PAIRED, 0);
    check(&store);
    (0..10).for_each(|number| drop(create(&store, OTHERS, number)));
    create(&store, PAIRED, 1);
    let (live, change, mut steps) = (live(&store), store.last_change(Revisions::RESOURCES), 0);
    while live.since(change).is_none() {
        assert!(live.step(&store));
        steps += 1;
    }
    assert_eq!(steps, 2, "one object, and the end");
    check(&store);
}

#[test]
fn forks_go_on_by_themselves() {
    let store = Store::new(100);
    create(&store, PAIRED, 0);
    check(&store);
    create(&store, OTHERS, 0);
    for is_known in [true, false] {
        if !is_known {
            create(&store, PAIRED, 1);
        }
        let frozen = store.freeze();
        let forks = [frozen.fork(), frozen.fork(), frozen.fork().freeze().fork()];
        for (number, fork) in (10..).zip(&forks) {
            let change = fork.last_change(Revisions::RESOURCES);
            assert_eq!(live(fork).since(change).is_some(), is_known, "what was derived before is not derived again");
            create(fork, PAIRED, number);
            delete(fork, PAIRED, 0);
        }
        create(&store, PAIRS, u64::from(is_known));
        for fork in forks.iter().chain([&store, &frozen.fork()]) {
            check(fork);
        }
        let of_paired = |store: &Store| Revisions::current(store).of(PAIRED);
        assert_eq!(forks.each_ref().map(of_paired), [of_paired(&store); 3]);
    }
}
