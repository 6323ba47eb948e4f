//! Loops and their plans.

use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::profile::Profile;
use crate::question::{Answer, Question};
use crate::resource::{Key, Resource};
use jiff::Timestamp;
use std::time::Duration;
use tree::Value;

/// A control loop.
pub trait Loop: Send + Sync {
    /// Who it is.
    fn profile(&self) -> &'static Profile;

    /// The built-in resources whose objects it needs to know. Empty for all that the server serves, but for events.
    fn follows(&self) -> &'static [Resource];

    /// Adds the keys of the objects that a change makes it want to look at.
    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys);

    /// Decides about an object, which may be gone.
    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan;

    /// Adds the keys of other objects that its last decision makes it want to look at.
    fn follow_up(&mut self, _keys: &mut Keys) {}

    /// The words for a key, for people: those of the object, unless the loop looks at several things about one.
    fn says(&self, key: &Key, _objects: &Objects) -> String {
        key.to_string()
    }

    /// Answers a question about a pod; `None` if it is none of its pods.
    fn answer(&mut self, _question: &Question, _objects: &Objects) -> Option<Answer> {
        None
    }

    /// Decides what to do now that an [`Act::Ask`] was answered. Only loops that ask have to.
    fn told(&mut self, _key: &Key, _asked: &Act, _answer: &Value, _view: &View<'_>) -> Plan {
        Plan::default()
    }

    /// Decides what to do about an act that was refused, instead of those that follow it in its plan; `None` if the key is to be tried again
    /// later, as after any error.
    fn refused(&mut self, _key: &Key, _act: &Act, _refusal: &Refusal, _view: &View<'_>) -> Option<Plan> {
        None
    }
}

/// All that a loop may know as it decides.
pub struct View<'a> {
    /// The objects.
    pub objects: &'a Objects,
    /// The time, by the server's clock.
    pub now: Timestamp,
}

/// The decision of a loop.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// Acts to be done, in order. A refusal ends it, unless the act is a deletion of what is gone, or an event.
    pub acts: Vec<Act>,
    /// After how long the object is to be looked at again, if nothing changes before.
    pub again: Option<Duration>,
    /// Why the decision could not be made: the key is tried again later, as after any error.
    pub failed: Option<String>,
}

/// Keys to look at, in order, each once.
#[derive(Debug, Default)]
pub struct Keys(Vec<(Key, Duration)>);

impl Plan {
    /// A plan of these acts.
    pub fn of(acts: Vec<Act>) -> Plan {
        Plan { acts, ..Plan::default() }
    }

    /// No plan, for that reason.
    pub fn failed(why: impl Into<String>) -> Plan {
        Plan { failed: Some(why.into()), ..Plan::default() }
    }
}

impl Keys {
    /// Adds a key.
    pub fn add(&mut self, key: Key) {
        self.after(key, Duration::ZERO);
    }

    /// Adds a key that is due later.
    pub fn after(&mut self, key: Key, delay: Duration) {
        self.0.push((key, delay));
    }

    /// Takes them, with their delays.
    pub fn take(&mut self) -> Vec<(Key, Duration)> {
        std::mem::take(&mut self.0)
    }
}
