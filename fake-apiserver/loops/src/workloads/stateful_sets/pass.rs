//! One pass over a stateful set (`updateStatefulSet`).

use super::super::facts::owners::{self, Claim};
use super::super::facts::pods::{self, PODS};
use super::super::facts::{read, template};
use super::revision::Revisions;
use super::status::{self, Counts};
use super::{SETS, claims, identity};
use crate::act::{Act, Deletion};
use crate::plan::{Plan, View};
use machinery::object::meta;
use std::borrow::Cow;
use std::sync::Arc;
use tree::Value;

/// A pass.
pub(super) struct Pass<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) set: &'v Arc<Value>,
    pub(super) revisions: Revisions<'v>,
    pub(super) mine: Vec<&'v Arc<Value>>,
    /// The pods that there should be, by their numbers; those without a phase are still to be created.
    pub(super) replicas: Vec<Cow<'v, Value>>,
    /// Pods with other numbers, the last one first.
    pub(super) condemned: Vec<&'v Value>,
    pub(super) acts: Vec<Act>,
    failed: Option<String>,
}

impl<'v> Pass<'v> {
    pub(super) fn new(set: &'v Arc<Value>, claim: Claim<'v>, view: &'v View<'v>) -> Pass<'v> {
        let mut revisions = Revisions::of(set, view);
        let mut acts = std::mem::take(&mut revisions.acts);
        acts.extend(claim.acts);
        let (start, count) = (identity::start(set), read::int(set, "/spec/replicas"));
        let number = |pod: &Value| identity::ordinal(pod).unwrap_or(-1);
        let within = |pod: &Value| (start..start + count).contains(&number(pod));
        let mut condemned: Vec<&Value> =
            claim.mine.iter().map(|pod| &***pod).filter(|pod| !within(pod) && number(pod) >= 0).collect();
        condemned.sort_by_key(|pod| -number(pod));
        let replicas = (start..start + count).map(|ordinal| {
            let there = claim.mine.iter().find(|pod| number(pod) == ordinal);
            match there {
                Some(pod) => Cow::Borrowed(&***pod),
                None => Cow::Owned(new_pod(set, &revisions, ordinal)),
            }
        });
        let replicas = replicas.collect();
        Pass { view, set, revisions, mine: claim.mine, replicas, condemned, acts, failed: None }
    }

    pub(super) fn plan(mut self) -> Plan {
        let now = self.view.now;
        let mut counts = self.counts();
        if meta::deletion_timestamp(self.set).is_none() && self.establish() {
            counts.current -= self.update();
        }
        let object = status::changed(self.set, counts, &self.revisions);
        self.acts.extend(object.map(|object| Act::Update { resource: SETS, subresource: "status", object }));
        let truncated = self.revisions.truncate(self.set, &self.mine);
        self.acts.extend(truncated);
        let seconds = read::int(self.set, "/spec/minReadySeconds");
        let again = pods::next_available(self.mine.iter().map(|pod| &***pod), seconds, now);
        Plan { again, failed: self.failed, ..Plan::of(self.acts) }
    }

    fn counts(&self) -> Counts {
        let all = self.replicas.iter().map(|pod| &**pod).chain(self.condemned.iter().copied());
        Counts::of(all, self.set, &self.revisions, self.view.now)
    }

    /// One pod after the other, each as soon as those before it are available.
    pub(super) fn is_ordered(&self) -> bool {
        read::text(self.set, "/spec/podManagementPolicy") != "Parallel"
    }

    /// Creates and deletes pods until there are those that there should be. Whether there are already.
    fn establish(&mut self) -> bool {
        let ordered = self.is_ordered();
        let now = self.view.now;
        let unavailable = |pod: &Value| identity::is_unavailable(pod, self.set, now);
        let first = self.replicas.iter().map(|pod| &**pod).find(|pod| unavailable(pod));
        let first = first.or_else(|| self.condemned.iter().rev().copied().find(|pod| unavailable(pod)));
        let first = first.map(meta::name).unwrap_or_default().to_owned();
        for index in 0..self.replicas.len() {
            if self.process(index) && ordered {
                return false;
            }
        }
        for index in 0..self.condemned.len() {
            let acts = claims::own(self.set, self.condemned[index], false, self.view);
            self.acts.extend(acts);
        }
        for index in 0..self.condemned.len() {
            if self.condemn(index, &first) && ordered {
                return false;
            }
        }
        true
    }

    /// Whether later pods have to wait for this one.
    fn process(&mut self, index: usize) -> bool {
        let pod = self.replicas[index].clone();
        if pods::is_terminal(&pod) {
            if !pods::is_going(&pod) {
                self.delete(&pod);
            }
            return true;
        }
        if !identity::is_created(&pod) {
            if !claims::is_stale(self.set, &pod, self.view) {
                self.create(&pod);
            }
            return true;
        }
        if pods::phase(&pod) == "Pending" {
            match claims::create(self.set, &pod, self.view) {
                Ok(acts) => self.acts.extend(acts),
                Err(error) => self.failed = Some(error),
            }
        }
        let waits = pods::is_going(&pod)
            || !identity::runs_and_is_ready(&pod)
            || identity::is_unavailable(&pod, self.set, self.view.now);
        if waits && self.is_ordered() {
            return true;
        }
        let acts = claims::own(self.set, &pod, true, self.view);
        self.acts.extend(acts);
        if !identity::has_identity(&pod) {
            let mut object = pod.into_owned();
            let ordinal = identity::ordinal(&object).unwrap_or_default();
            identity::give_identity(&mut object, ordinal);
            let message = self.says("Update", &object);
            self.acts.push(Act::Update { resource: PODS, subresource: "", object });
            self.acts.push(template::event(self.set, false, "SuccessfulUpdate", message));
        }
        false
    }

    fn condemn(&mut self, index: usize, first_unavailable: &str) -> bool {
        let pod = self.condemned[index];
        if pods::is_going(pod) {
            return true;
        }
        let waits = !identity::runs_and_is_ready(pod) || identity::is_unavailable(pod, self.set, self.view.now);
        if !(waits && self.is_ordered() && meta::name(pod) != first_unavailable) {
            self.delete(pod);
        }
        true
    }

    fn says(&self, verb: &str, pod: &Value) -> String {
        format!("{verb} Pod {} in StatefulSet {} successful", meta::name(pod), meta::name(self.set))
    }

    fn create(&mut self, pod: &Value) {
        match claims::create(self.set, pod, self.view) {
            Ok(acts) => self.acts.extend(acts),
            Err(error) => {
                let (name, set) = (meta::name(pod), meta::name(self.set));
                let message = format!("Create Pod {name} in StatefulSet {set} failed error: {error}");
                self.acts.push(template::event(self.set, true, "FailedCreate", message));
                self.failed = Some(error);
                return;
            }
        }
        let event = template::event(self.set, false, "SuccessfulCreate", self.says("Create", pod));
        let key = owners::key(pod);
        self.acts.push(Act::Create { resource: PODS, key, subresource: "", object: pod.clone() });
        self.acts.push(event);
    }

    pub(super) fn delete(&mut self, pod: &Value) {
        self.acts.push(Act::Delete { resource: PODS, key: owners::key(pod), options: Deletion::default() });
        let message = self.says("Delete", pod);
        self.acts.push(template::event(self.set, false, "SuccessfulDelete", message));
    }
}

/// A new pod: of the present revision below the partition, of the next one otherwise (`newVersionedStatefulSetPod`).
fn new_pod(set: &Value, revisions: &Revisions<'_>, ordinal: i64) -> Value {
    let is_rolling = read::text(set, "/spec/updateStrategy/type") == "RollingUpdate";
    let below = match set.pointer("/spec/updateStrategy/rollingUpdate").filter(|rolling| rolling.is_object()) {
        None => read::int(set, "/status/currentReplicas"),
        Some(rolling) => read::int(rolling, "/partition"),
    };
    let keeps = is_rolling && ordinal < identity::start(set) + below;
    let made = if keeps { &revisions.current } else { &revisions.update };
    identity::pod(set, &made.template, &made.name, ordinal)
}
