//! The replica sets of a deployment, as a pass changes them.

use super::super::facts::owners::Claim;
use super::super::facts::{read, scaled};
use machinery::object::{generation, meta};
use std::cmp::Ordering;
use std::sync::Arc;
use tree::Value;

/// The label with the hash of a template.
pub(super) const HASH: &str = "pod-template-hash";
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
pub(super) const HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAX: &str = "deployment.kubernetes.io/max-replicas";

/// A replica set.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) object: Value,
    /// As the server has it, unless it is new.
    pub(super) before: Option<Arc<Value>>,
}

impl Set {
    pub(super) fn replicas(&self) -> i64 {
        read::int(&self.object, "/spec/replicas")
    }

    pub(super) fn status(&self, count: &str) -> i64 {
        self.object.get("status").and_then(|status| status.get(count)).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn annotation(&self, name: &str) -> &str {
        meta::annotations(&self.object).get(name).unwrap_or_default()
    }

    /// Sets an annotation, and returns whether it was another.
    pub(super) fn annotate(&mut self, name: &str, value: &str) -> bool {
        annotate(&mut self.object, name, value)
    }

    pub(super) fn name(&self) -> &str {
        meta::name(&self.object)
    }

    /// The revision, unless the annotation is something else than a number.
    pub(super) fn revision(&self) -> Option<i64> {
        match self.annotation(REVISION) {
            "" => Some(0),
            text => text.parse().ok(),
        }
    }

    pub(super) fn is_changed(&self) -> bool {
        self.before.as_ref().is_none_or(|before| **before != self.object)
    }
}

/// Sets an annotation, and returns whether it was another.
pub(super) fn annotate(object: &mut Value, name: &str, value: &str) -> bool {
    if meta::annotations(object).get(name) == Some(value) {
        return false;
    }
    object["metadata"]["annotations"][name] = value.into();
    true
}

/// The sets of a claim, oldest first.
pub(super) fn of(claim: &Claim<'_>) -> Vec<Set> {
    let sets = claim.mine.iter().map(|set| Set { object: (***set).clone(), before: Some(Arc::clone(set)) });
    let mut sets: Vec<Set> = sets.collect();
    sets.sort_by(by_creation);
    sets
}

/// By time of creation, then by name.
pub(super) fn by_creation(one: &Set, other: &Set) -> Ordering {
    let created = |set: &Set| meta::creation_timestamp(&set.object).to_owned();
    created(one).cmp(&created(other)).then_with(|| one.name().cmp(other.name()))
}

/// Whether two templates are the same but for the hash.
pub(super) fn same_template(one: Option<&Value>, other: Option<&Value>) -> bool {
    generation::equal(without_hash(one).as_ref(), without_hash(other).as_ref())
}

/// A template without the label that has its hash.
pub(super) fn without_hash(template: Option<&Value>) -> Option<Value> {
    let mut template = template?.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    Some(template)
}

pub(super) fn is_rolling(deployment: &Value) -> bool {
    read::text(deployment, "/spec/strategy/type") == "RollingUpdate"
}

/// How many pods there may be more, and how many fewer, than wanted.
fn fenceposts(deployment: &Value) -> (i64, i64) {
    let replicas = read::int(deployment, "/spec/replicas");
    let part = |name: &str, up| {
        scaled::scaled(deployment.pointer(&format!("/spec/strategy/rollingUpdate/{name}")), replicas, up)
    };
    match (part("maxSurge", true), part("maxUnavailable", false)) {
        (0, 0) => (0, 1),
        posts => posts,
    }
}

pub(super) fn max_surge(deployment: &Value) -> i64 {
    if is_rolling(deployment) { fenceposts(deployment).0 } else { 0 }
}

pub(super) fn max_unavailable(deployment: &Value) -> i64 {
    let replicas = read::int(deployment, "/spec/replicas");
    if is_rolling(deployment) && replicas != 0 { fenceposts(deployment).1.min(replicas) } else { 0 }
}
