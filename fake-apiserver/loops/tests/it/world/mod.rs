//! A small world for loops: objects in memory, a clock that a test turns, and acts done as a server does them, without its rules.

mod acts;
pub(crate) mod look;

use jiff::{SignedDuration, Timestamp};
use loops::{Act, Change, Key, Keys, Loop, Objects, Plan, Refusal, Resource, View};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

/// A world.
pub(crate) struct World {
    pub(crate) objects: Objects,
    pub(crate) now: Timestamp,
    loops: Vec<Runner>,
    /// The messages of events, with their reasons, in order.
    pub(crate) events: Vec<String>,
    /// Refuses an act, if it says so.
    pub(crate) refuses: Option<fn(&Act) -> Option<Refusal>>,
    count: u64,
}

struct Runner {
    decides: Box<dyn Loop>,
    ready: BTreeSet<Key>,
    later: BTreeSet<(Timestamp, Key)>,
}

/// No test needs more passes; a loop that does is hot.
const MOST_PASSES: usize = 20_000;

impl World {
    pub(crate) fn new(loops: Vec<Box<dyn Loop>>) -> World {
        let runner = |decides| Runner { decides, ready: BTreeSet::new(), later: BTreeSet::new() };
        World {
            objects: Objects::default(),
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            loops: loops.into_iter().map(runner).collect(),
            events: Vec::new(),
            refuses: None,
            count: 0,
        }
    }

    /// A world of all workloads, without a kubelet.
    pub(crate) fn of_workloads() -> World {
        World::new(loops::workloads::all())
    }

    /// Works until no key is due.
    pub(crate) fn settle(&mut self) {
        for _ in 0..MOST_PASSES {
            if !self.step() {
                return;
            }
        }
        panic!("the loops do not come to rest: {:?}", self.events.iter().rev().take(9).collect::<Vec<_>>());
    }

    /// Turns the clock, and works at each time that a key is due at.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now.checked_add(SignedDuration::try_from(time).unwrap()).unwrap();
        self.settle();
        while let Some(due) = self.loops.iter().filter_map(|runner| Some(runner.later.first()?.0)).min() {
            if due > end {
                break;
            }
            self.now = self.now.max(due);
            for runner in &mut self.loops {
                while runner.later.first().is_some_and(|(due, _)| *due <= self.now) {
                    let (_, key) = runner.later.pop_first().unwrap();
                    runner.ready.insert(key);
                }
            }
            self.settle();
        }
        self.now = end;
    }

    /// One pass of the first loop that has a key.
    fn step(&mut self) -> bool {
        let Some(index) = self.loops.iter().position(|runner| !runner.ready.is_empty()) else { return false };
        let key = self.loops[index].ready.pop_first().unwrap();
        self.loops[index].later.retain(|(_, later)| *later != key);
        let plan = self.decide(index, &key);
        self.follow(index, &key, plan, true);
        true
    }

    fn decide(&mut self, index: usize, key: &Key) -> Plan {
        let view = View { objects: &self.objects, now: self.now };
        self.loops[index].decides.sync(key, &view)
    }

    fn follow(&mut self, index: usize, key: &Key, plan: Plan, may_be_refused: bool) {
        if plan.failed.is_some() {
            self.loops[index].later.insert((self.now.checked_add(SignedDuration::from_secs(1)).unwrap(), key.clone()));
        }
        if let Some(again) = plan.again {
            let due = self.now.checked_add(SignedDuration::try_from(again).unwrap()).unwrap();
            self.loops[index].later.insert((due, key.clone()));
        }
        for act in plan.acts {
            let Err(refusal) = self.act(&act) else { continue };
            if matches!(act, Act::Delete { .. }) && refusal.code == 404 {
                continue;
            }
            assert!(may_be_refused, "{act:?}: {refusal}");
            let view = View { objects: &self.objects, now: self.now };
            match self.loops[index].decides.refused(key, &act, &refusal, &view) {
                Some(plan) => self.follow(index, key, plan, false),
                None if refusal.code == 409 => drop(self.loops[index].ready.insert(key.clone())),
                None => panic!("{act:?}: {refusal}"),
            }
            return;
        }
    }

    /// Writes an object, or with `None` removes it, and tells the loops.
    pub(crate) fn set(&mut self, resource: &Resource, key: &Key, new: Option<Value>) {
        self.count += 1;
        let new = new.map(|mut object| {
            object["metadata"]["resourceVersion"] = self.count.to_string().into();
            Arc::new(object)
        });
        let old = self.objects.set(resource, key, new.clone());
        let change = Change { resource, key, old: old.as_deref(), new: new.as_deref() };
        for runner in &mut self.loops {
            let follows = runner.decides.follows();
            if !follows.is_empty() && !follows.contains(resource) {
                continue;
            }
            let mut keys = Keys::default();
            runner.decides.wants(&change, &self.objects, &mut keys);
            for (key, delay) in keys.take() {
                match delay.is_zero() {
                    true => drop(runner.ready.insert(key)),
                    false => {
                        let due = self.now.checked_add(SignedDuration::try_from(delay).unwrap()).unwrap();
                        runner.later.insert((due, key));
                    }
                }
            }
        }
    }
}
