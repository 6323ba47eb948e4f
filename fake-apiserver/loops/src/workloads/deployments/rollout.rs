//! One pass over a deployment: what it finds, what it changes, and the acts that follow.

use super::super::facts::owners::{self, Claim};
use super::super::facts::{read, template};
use super::super::replicas::SETS;
use super::DEPLOYMENTS;
use super::sets::{self, Set};
use crate::act::{Act, Deletion};
use crate::plan::{Plan, View};
use machinery::object::meta;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

/// A pass.
pub(super) struct Rollout<'v> {
    pub(super) view: &'v View<'v>,
    /// The deployment as the server has it.
    pub(super) before: &'v Arc<Value>,
    /// The deployment with its new status and annotations.
    pub(super) deployment: Value,
    /// The sets, oldest first; a new one is the last.
    pub(super) sets: Vec<Set>,
    /// The set with the deployment's template.
    pub(super) new: Option<usize>,
    pub(super) again: Option<Duration>,
    acts: Vec<Act>,
    /// Changes of sets, and the events about them, in order.
    steps: Vec<Step>,
    deletions: Vec<Act>,
}

enum Step {
    Set(usize),
    Event(Act),
}

impl<'v> Rollout<'v> {
    pub(super) fn new(before: &'v Arc<Value>, claim: Claim<'v>, view: &'v View<'v>) -> Rollout<'v> {
        let sets = sets::of(&claim);
        let template = before.pointer("/spec/template");
        let new = sets.iter().position(|set| sets::same_template(set.object.pointer("/spec/template"), template));
        Rollout {
            view,
            before,
            deployment: (**before).clone(),
            sets,
            new,
            again: None,
            acts: claim.acts,
            steps: Vec::new(),
            deletions: Vec::new(),
        }
    }

    /// The acts that the pass comes to.
    pub(super) fn plan(mut self) -> Plan {
        if meta::deletion_timestamp(&self.deployment).is_some() {
            self.find_new(false);
            self.write_plain_status();
            return self.finish();
        }
        self.check_pause();
        if read::flag(&self.deployment, "/spec/paused") {
            self.sync();
        } else if let Some(revision) = self.rollback_to() {
            return self.rollback(revision);
        } else if self.is_scaling() {
            self.sync();
        } else {
            match read::text(&self.deployment, "/spec/strategy/type") {
                "Recreate" => self.recreate(),
                _ => self.roll(),
            }
        }
        self.finish()
    }

    /// Scales without rolling out.
    fn sync(&mut self) {
        self.find_new(false);
        self.scale();
        if read::flag(&self.deployment, "/spec/paused") && self.rollback_to().is_none() {
            self.clean_up();
        }
        self.write_plain_status();
    }

    pub(super) fn replicas(&self) -> i64 {
        read::int(&self.deployment, "/spec/replicas")
    }

    pub(super) fn name(&self) -> &str {
        meta::name(&self.deployment)
    }

    /// The sets with other templates, oldest first.
    pub(super) fn old(&self) -> Vec<usize> {
        (0..self.sets.len()).filter(|index| Some(*index) != self.new).collect()
    }

    /// The wanted replicas of all sets.
    pub(super) fn wanted(&self) -> i64 {
        self.sets.iter().map(Set::replicas).sum()
    }

    /// A count in the status of all sets.
    pub(super) fn total(&self, count: &str) -> i64 {
        self.sets.iter().map(|set| set.status(count)).sum()
    }

    /// Notes that a set has changed.
    pub(super) fn changes(&mut self, set: usize) {
        self.steps.push(Step::Set(set));
    }

    pub(super) fn event(&mut self, warning: bool, reason: &'static str, message: String) {
        self.steps.push(Step::Event(template::event(self.before, warning, reason, message)));
    }

    pub(super) fn delete(&mut self, set: usize) {
        let key = owners::key(&self.sets[set].object);
        self.deletions.push(Act::Delete { resource: SETS, key, options: Deletion::default() });
    }

    /// Gives a set another number of replicas, and returns whether it had one.
    pub(super) fn scale_set(&mut self, index: usize, replicas: i64, force: bool) -> bool {
        let set = &self.sets[index];
        let old = set.replicas();
        if !force && old == replicas {
            return false;
        }
        let (desired, max) = (self.replicas(), self.replicas() + sets::max_surge(&self.deployment));
        let set = &mut self.sets[index];
        let mut annotated = set.annotate(sets::DESIRED, &desired.to_string());
        annotated |= set.annotate(sets::MAX, &max.to_string());
        if old == replicas && !annotated {
            return false;
        }
        set.object["spec"]["replicas"] = replicas.into();
        let name = set.name().to_owned();
        self.changes(index);
        if old != replicas {
            let direction = if old < replicas { "up" } else { "down" };
            let message = format!("Scaled {direction} replica set {name} from {old} to {replicas}");
            self.event(false, "ScalingReplicaSet", message);
        }
        old != replicas
    }

    /// The acts: each object is written once, before the first event about it.
    pub(super) fn finish(self) -> Plan {
        let Rollout { before, deployment, sets, mut acts, steps, deletions, again, .. } = self;
        let mut written = vec![false; sets.len()];
        for step in steps {
            match step {
                Step::Event(event) => acts.push(event),
                Step::Set(index) if written[index] || !sets[index].is_changed() => {}
                Step::Set(index) => {
                    written[index] = true;
                    let (object, resource) = (sets[index].object.clone(), SETS);
                    acts.push(match &sets[index].before {
                        None => Act::Create { resource, key: owners::key(&object), subresource: "", object },
                        Some(_) => Act::Update { resource, subresource: "", object },
                    });
                }
            }
        }
        acts.extend(deletions);
        if deployment != **before {
            acts.push(Act::Update { resource: DEPLOYMENTS, subresource: "status", object: deployment });
        }
        Plan { again, ..Plan::of(acts) }
    }
}
