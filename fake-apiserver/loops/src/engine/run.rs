//! Runs: a decision, as it is carried out.

use super::queue::{Item, after};
use super::recorder::{Occurrence, Recording};
use super::request::{Request, key_of};
use super::{Engine, Keys, Plan, Profile, View, enqueue};
use crate::act::{Act, Refusal};
use jiff::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;
use tree::Value;

/// A decision about a key, as it is carried out.
pub struct Run {
    item: Item,
    /// The loop.
    pub profile: &'static Profile,
    /// The words for the key.
    pub key: String,
    acts: VecDeque<Act>,
    /// When the key is looked at again, from the time of the decision on: the clock may be moved before the run ends.
    again: Option<Timestamp>,
    failed: Option<String>,
    /// Whether it failed as the object had changed.
    has_changed: bool,
    sent: Option<Sent>,
    /// The requests so far, with the answers.
    pub done: Vec<Done>,
}

/// The request that was sent last.
enum Sent {
    Act(Act, Request),
    Event(Recording),
}

/// A request that was sent, with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The request.
    pub request: Request,
    /// The refusal, if it was refused.
    pub refused: Option<Refusal>,
}

impl Run {
    pub(super) fn of(item: Item, profile: &'static Profile, key: String, plan: Plan, now: Timestamp) -> Run {
        let Plan { acts, again, failed } = plan;
        let again = again.map(|delay| due(delay, now));
        Run { item, profile, key, acts: acts.into(), again, failed, has_changed: false, sent: None, done: Vec::new() }
    }
}

impl Engine {
    /// The next request of a run; `None` if there is no other one. It is to be answered, and observed, before the one after it.
    pub fn next(&mut self, run: &mut Run, now: Timestamp) -> Option<Request> {
        loop {
            let act = run.acts.pop_front()?;
            if let Act::Event { about, warning, reason, action, message } = &act {
                let event = Occurrence { about, warning: *warning, reason, action, message };
                let Some(recording) = self.loops[run.item.of].recorder.record(&event, now, &mut self.last_event) else {
                    continue;
                };
                let request = recording.request.clone();
                run.sent = Some(Sent::Event(recording));
                return Some(request);
            }
            if self.changes_nothing(&act) {
                continue;
            }
            let request = Request::of(&act)?;
            run.sent = Some(Sent::Act(act, request.clone()));
            return Some(request);
        }
    }

    /// Whether an update would leave the object as it is.
    fn changes_nothing(&self, act: &Act) -> bool {
        let Act::Update { resource, object, .. } = act else { return false };
        self.objects.get(resource, &key_of(object)).is_some_and(|present| **present == *object)
    }

    /// Takes note of the answer to the last request of a run: what was asked for, or nothing. There may be another request, that has to come
    /// first.
    pub fn answered(&mut self, run: &mut Run, answer: Result<Value, Refusal>, now: Timestamp) -> Option<Request> {
        let sent = run.sent.take()?;
        let (told, refused) = match answer {
            Ok(told) => (told, None),
            Err(refusal) => (Value::Null, Some(refusal)),
        };
        match sent {
            Sent::Event(recording) => {
                run.done.push(Done { request: recording.request.clone(), refused: refused.clone() });
                let is_gone = recording.request.method == "PATCH" && refused.is_some_and(|why| why.code == 404);
                // Other refusals of an event matter to nobody.
                let anew = is_gone.then_some(recording.anew)?;
                run.sent = Some(Sent::Event(Recording { request: anew.clone(), anew: anew.clone() }));
                Some(anew)
            }
            Sent::Act(act, request) => {
                run.done.push(Done { request, refused: refused.clone() });
                match refused {
                    Some(refusal) => self.refused(run, &act, refusal, now),
                    None if matches!(act, Act::Ask { .. }) => {
                        let view = View { objects: &self.objects, now };
                        let plan = self.loops[run.item.of].it.told(&run.item.key, &act, &told, &view);
                        self.go_on_with(run, plan, now);
                    }
                    None => {}
                }
                None
            }
        }
    }

    fn refused(&mut self, run: &mut Run, act: &Act, refusal: Refusal, now: Timestamp) {
        let view = View { objects: &self.objects, now };
        if let Some(plan) = self.loops[run.item.of].it.refused(&run.item.key, act, &refusal, &view) {
            return self.go_on_with(run, plan, now);
        }
        if matches!(act, Act::Delete { .. }) && refusal.code == 404 {
            return;
        }
        run.acts.clear();
        run.has_changed = refusal.reason == "Conflict" || refusal.code == 404;
        run.failed = Some(refusal.message);
    }

    /// Puts another plan in the place of the rest of a run.
    fn go_on_with(&mut self, run: &mut Run, plan: Plan, now: Timestamp) {
        (run.acts, run.failed) = (plan.acts.into(), plan.failed);
        run.again = plan.again.map(|delay| due(delay, now));
        let mut keys = Keys::default();
        self.loops[run.item.of].it.follow_up(&mut keys);
        enqueue(&mut self.queue, run.item.of, &mut keys, now);
    }

    /// Ends a run: its key is looked at again when it wants that, or as it failed.
    pub fn end(&mut self, run: Run, now: Timestamp) {
        let Run { item, again, failed, has_changed, .. } = run;
        if let Some(why) = failed {
            self.queue.failed(item, why, has_changed, now);
            return;
        }
        self.queue.succeeded(&item);
        if let Some(due) = again {
            self.queue.add(item, due);
        }
    }
}

/// The time at which a key is due that is looked at again after a delay; without one it is due at once.
fn due(delay: Duration, now: Timestamp) -> Timestamp {
    if delay.is_zero() { Timestamp::MIN } else { after(now, delay) }
}
