//! The engine: it tells the loops what has changed, lets one of them decide at a time, and turns its plan into requests, which others send.
//!
//! ```text
//!   observe ─▶ Objects, Loop::wants ─▶ queue ─▶ begin ─▶ Loop::sync ─▶ Run ─▶ next: a request ─▶ answered ─┐
//!                                                                      ▲                                 │
//!                                                                      └─────── end: again, or later ◀───┘
//! ```
//! Decisions are made one after the other, in the order in which their objects changed: the same changes lead to the same requests. Every
//! request is observed before the next decision is made, so that no decision is about what has been done already.

mod queue;
mod recorder;
mod request;
mod run;

pub use request::Request;
pub(crate) use request::path;
pub use run::{Done, Run};

use crate::kinds::Kinds;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::question::{Answer, Question};
use crate::resource::{Key, Resource};
use jiff::Timestamp;
use queue::{Item, Queue, after};
use recorder::Recorder;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tree::Value;

/// Some loops, with what they know and what they have to do.
pub struct Engine {
    loops: Vec<Member>,
    objects: Objects,
    queue: Queue,
    /// The time in the name of the last event, in nanoseconds.
    last_event: i128,
}

struct Member {
    it: Box<dyn Loop>,
    recorder: Recorder,
    paused: bool,
}

/// The state of rest of the loops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rest {
    /// The loops with something to do now, but for paused ones.
    pub busy: Vec<&'static str>,
    /// When something will be to do, if nothing changes before: the time, the loop, and the key.
    pub next: Option<(Timestamp, &'static str, String)>,
    /// The keys that could not be dealt with, and are tried again later.
    pub failing: Vec<Failing>,
}

/// A key that could not be dealt with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// The loop.
    pub controller: &'static str,
    /// The key.
    pub key: String,
    /// The times in a row.
    pub times: u32,
    /// The last error.
    pub why: String,
    /// When it is tried again.
    pub due: Option<Timestamp>,
}

impl Engine {
    /// Those loops, which know nothing yet.
    pub fn new(loops: Vec<Box<dyn Loop>>) -> Engine {
        let members =
            loops.into_iter().map(|it| Member { recorder: Recorder::new(it.profile().component), it, paused: false });
        Engine { loops: members.collect(), objects: Objects::default(), queue: Queue::default(), last_event: 0 }
    }

    /// The profiles of the loops.
    pub fn profiles(&self) -> impl Iterator<Item = &'static Profile> {
        self.loops.iter().map(|member| member.it.profile())
    }

    /// Whether a loop follows all resources that the server serves, but for events.
    pub fn follows_all(&self) -> bool {
        self.loops.iter().any(|member| member.it.follows().is_empty())
    }

    /// The resources that loops follow by name.
    pub fn follows(&self) -> impl Iterator<Item = &'static Resource> {
        self.loops.iter().flat_map(|member| member.it.follows())
    }

    /// Takes note of the kinds that the server serves from now on.
    pub fn set_kinds(&mut self, kinds: Kinds) {
        self.objects.set_kinds(kinds);
    }

    /// Takes note of an object as it is now, or that it is gone.
    pub fn observe(&mut self, resource: &Resource, key: &Key, new: Option<Arc<Value>>, now: Timestamp) {
        let old = self.objects.set(resource, key, new.clone());
        self.tell(resource, key, old.as_ref(), new.as_ref(), now);
    }

    /// Takes note of all objects as they are now.
    pub fn observe_all(&mut self, all: Vec<(Resource, Key, Arc<Value>)>, now: Timestamp) {
        let present: BTreeSet<(&Resource, &Key)> = all.iter().map(|(resource, key, _)| (resource, key)).collect();
        let gone = self.objects.places().filter(|place| !present.contains(place));
        let gone: Vec<(Resource, Key)> = gone.map(|(resource, key)| (resource.clone(), key.clone())).collect();
        for (resource, key) in gone {
            self.observe(&resource, &key, None, now);
        }
        // All are known before anything is decided about one.
        let mut changes = Vec::new();
        for (resource, key, new) in all {
            let old = self.objects.set(&resource, &key, Some(new.clone()));
            if old.as_ref().is_none_or(|old| **old != *new) {
                changes.push((resource, key, old, new));
            }
        }
        for (resource, key, old, new) in changes {
            self.tell(&resource, &key, old.as_ref(), Some(&new), now);
        }
    }

    fn tell(
        &mut self,
        resource: &Resource,
        key: &Key,
        old: Option<&Arc<Value>>,
        new: Option<&Arc<Value>>,
        now: Timestamp,
    ) {
        let change = Change { resource, key, old: old.map(|old| &**old), new: new.map(|new| &**new) };
        let mut keys = Keys::default();
        for (of, member) in self.loops.iter_mut().enumerate() {
            let follows = member.it.follows();
            if follows.is_empty() || follows.contains(resource) {
                member.it.wants(&change, &self.objects, &mut keys);
                enqueue(&mut self.queue, of, &mut keys, now);
            }
        }
    }

    /// The answer of the loop that answers for a pod; `None` if none does.
    pub fn answer(&mut self, question: &Question) -> Option<Answer> {
        let objects = &self.objects;
        self.loops.iter_mut().find_map(|member| member.it.answer(question, objects))
    }

    /// Pauses a loop, or lets it go on. False, if there is none of that name.
    pub fn pause(&mut self, name: &str, paused: bool) -> bool {
        let member = self.loops.iter_mut().find(|member| member.it.profile().name == name);
        member.map(|member| member.paused = paused).is_some()
    }

    /// Whether a loop is paused; `None` if there is none of that name.
    pub fn is_paused(&self, name: &str) -> Option<bool> {
        let member = self.loops.iter().find(|member| member.it.profile().name == name);
        member.map(|member| member.paused)
    }

    /// Lets the loop decide whose key is the first that is due, unless it is paused.
    pub fn begin(&mut self, now: Timestamp) -> Option<Run> {
        let loops = &self.loops;
        let item = self.queue.take(now, |of| !loops[of].paused)?;
        Some(self.decide(item, now))
    }

    /// Lets a loop decide about its next key, paused or not: the first that is due, and then those that failed.
    pub fn step(&mut self, name: &str, now: Timestamp) -> Option<Run> {
        let of = self.profiles().position(|profile| profile.name == name)?;
        let item = self.queue.take(now, |other| other == of).or_else(|| self.queue.take_failed(of))?;
        Some(self.decide(item, now))
    }

    fn decide(&mut self, item: Item, now: Timestamp) -> Run {
        let it = &mut self.loops[item.of].it;
        let says = it.says(&item.key, &self.objects);
        let view = View { objects: &self.objects, now };
        // The others go on, and those who wait for rest are told.
        let plan = catch_unwind(AssertUnwindSafe(|| it.sync(&item.key, &view)));
        let plan = plan.unwrap_or_else(|_| Plan::failed("it panicked"));
        let mut keys = Keys::default();
        it.follow_up(&mut keys);
        enqueue(&mut self.queue, item.of, &mut keys, now);
        Run::of(item, it.profile(), says, plan, now)
    }

    /// The state of rest at that time.
    pub fn rest(&self, now: Timestamp) -> Rest {
        let name = |of: usize| self.loops[of].it.profile().name;
        let busy: BTreeSet<usize> = self.queue.busy(now).filter(|of| !self.loops[*of].paused).collect();
        let says = |item: &Item| self.loops[item.of].it.says(&item.key, &self.objects);
        let next = self.queue.next(|of| !self.loops[of].paused);
        let failing = self.queue.failing().map(|(item, failure)| Failing {
            controller: name(item.of),
            key: says(item),
            times: failure.times,
            why: failure.why.clone(),
            due: self.queue.due(item),
        });
        Rest {
            busy: busy.into_iter().map(name).collect(),
            next: next.map(|(due, item)| (due, name(item.of), says(&item))),
            failing: failing.collect(),
        }
    }

    /// When the next key of a loop that is not paused is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.queue.next(|of| !self.loops[of].paused).map(|(due, _)| due)
    }
}

/// Adds the keys that a loop wants to look at.
fn enqueue(queue: &mut Queue, of: usize, keys: &mut Keys, now: Timestamp) {
    for (key, delay) in keys.take() {
        let due = if delay.is_zero() { Timestamp::MIN } else { after(now, delay) };
        queue.add(Item { of, key }, due);
    }
}

#[cfg(test)]
mod tests;
