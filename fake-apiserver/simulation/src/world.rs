//! The world of one schedule: its actors, and the checks at the end.

use crate::actors::{Actor, Observations, Observer};
use crate::store::{Delivery, ResourceId, Scope, Store};
use crate::truth::Truth;
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::sync::Arc;

/// The bounds of a store.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The most events of the history.
    pub events: usize,
    /// The most bytes of the history.
    pub bytes: usize,
    /// The most events of a watcher's queue.
    pub queue: usize,
}

/// More events than a schedule writes.
const MANY: usize = 1000;
/// The bytes of a history that cannot hold all events of a schedule.
const FEW_BYTES: usize = 2000;

/// Runs a world of random size.
///
/// # Panics
/// If a guarantee is broken.
pub fn run() {
    let mut random = thread_rng();
    let one_of = |random: &mut shuttle::rand::rngs::ThreadRng, small: usize| match random.gen_range(0..3) {
        0 => MANY,
        _ => random.gen_range(1..=small),
    };
    let bounds = Bounds {
        events: one_of(&mut random, 6),
        bytes: if random.gen_range(0..4) == 0 { FEW_BYTES } else { usize::MAX },
        queue: one_of(&mut random, 3),
    };
    let store = Store::with_limits(bounds.events, bounds.bytes, bounds.queue);
    let observer = Arc::new(Observer::new(store.clone(), bounds));
    let mut writers = vec![Actor::Writer, Actor::Writer];
    let mut others = vec![Actor::Watcher, Actor::Watcher];
    for (actor, chance) in [(Actor::Compactor, 3), (Actor::Reader, 2), (Actor::Follower, 2), (Actor::Watcher, 2)] {
        if random.gen_range(0..chance) == 0 {
            others.push(actor);
        }
    }
    if random.gen_range(0..3) == 0 {
        writers.push(Actor::Writer);
    }
    let begin = |actor: Actor| {
        let observer = observer.clone();
        thread::spawn(move || actor.act(&observer))
    };
    let others: Vec<_> = others.into_iter().map(begin).collect();
    let writers: Vec<_> = writers.into_iter().map(begin).collect();
    for writer in writers {
        writer.join().expect("a writer ends");
    }
    for resource in [ResourceId(0), ResourceId(1)] {
        close(&observer, resource);
    }
    for other in others {
        other.join().expect("each reader ends");
    }
    verdict(&observer, bounds);
}

/// Empties a resource and closes it, which ends its watches.
fn close(observer: &Observer, resource: ResourceId) {
    while let Err(left) = observer.store.close(resource) {
        for entry in left.range(&Scope::all(resource), "") {
            observer.delete(&entry.key, entry.revision);
        }
    }
    let mut late = observer.store.subscribe(Scope::all(resource), None).1;
    assert!(matches!(late.try_next(), Some(Delivery::Ended)), "a closed resource has nothing more to tell");
}

fn verdict(observer: &Observer, bounds: Bounds) {
    let Observations { commits, watches, snapshots, compacted, oldest, indexes } = observer.observations();
    let truth = Truth::new(commits);
    let store = &observer.store;
    assert_eq!((store.revision(), store.committed_revision()), (truth.revision(), truth.revision()), "monotonic");
    for (revision, state) in snapshots {
        assert_eq!(state, truth.at(revision), "linear: a snapshot at {revision} is not what was there");
    }
    for (from, to, state) in indexes {
        assert!(
            (from..=to).any(|revision| truth.at(revision) == state),
            "linear: {state:?} was never, in {from}..={to}"
        );
    }
    for watch in watches {
        watch.judge(&truth);
    }
    for revision in (1..=truth.revision()).rev() {
        let Ok(then) = store.snapshot_at(revision) else { break };
        assert_eq!(crate::truth::state_of(&then), truth.at(revision), "linear: the past at {revision}");
    }
    // With a limit of bytes, it depends on the frames that were made which events are forgotten.
    if bounds.bytes == usize::MAX {
        let beyond_window = truth.revision().saturating_sub(bounds.events as u64);
        let forgotten = compacted.into_iter().fold(beyond_window, u64::max);
        let too_much = oldest.into_iter().find(|oldest| *oldest > forgotten);
        assert_eq!(too_much, None, "resumable: more is forgotten than {forgotten}");
    }
    bounded(observer, bounds);
}

/// Checks that the history is within its bounds after the next write, which counts the frames made since the last one.
fn bounded(observer: &Observer, bounds: Bounds) {
    let store = &observer.store;
    observer.create_elsewhere();
    let remembered = (1..store.revision()).rev().take_while(|revision| store.snapshot_at(*revision).is_ok()).count();
    assert!(remembered <= bounds.events, "bounded: {remembered} events are remembered, not {}", bounds.events);
    let bytes = store.history_bytes();
    assert!(remembered <= 1 || bytes <= bounds.bytes, "bounded: {bytes} bytes in {remembered} events");
}
