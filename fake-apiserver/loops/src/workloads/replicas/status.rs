//! The status of a set of replicas.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/replicaset/replica_set_utils.go` (v1.37.1).

use super::super::facts::{conditions, pods, read, status};
use jiff::Timestamp;
use machinery::object::meta;
use std::sync::Arc;
use tree::Value;

const FAILURE: &str = "ReplicaFailure";

/// The status that a set with these pods has.
pub(super) fn of(
    owner: &Value,
    mine: &[&Arc<Value>],
    terminating: Option<usize>,
    failure: Option<(&'static str, String)>,
    now: Timestamp,
) -> Value {
    let labels = owner.pointer("/spec/template").map(meta::labels);
    let is_labelled = |pod: &Value| {
        let mut wanted = labels.into_iter().flat_map(meta::Labels::iter);
        wanted.all(|(key, value)| meta::labels(pod).get(key) == Some(value))
    };
    let seconds = read::int(owner, "/spec/minReadySeconds");
    let count = |counts: &dyn Fn(&Value) -> bool| {
        i64::try_from(mine.iter().filter(|pod| counts(pod)).count()).unwrap_or(i64::MAX)
    };
    let mut status = status::of(owner);
    match failure {
        Some((reason, error)) if conditions::in_status(&status, FAILURE).is_none() => {
            conditions::set(&mut status, conditions::new(FAILURE, "True", reason, &error, now));
        }
        Some(_) => {}
        None => conditions::remove(&mut status, FAILURE),
    }
    status["replicas"] = mine.len().into();
    status::count(&mut status, "fullyLabeledReplicas", count(&is_labelled));
    status::count(&mut status, "readyReplicas", count(&pods::is_ready));
    status::count(&mut status, "availableReplicas", count(&|pod| pods::is_available(pod, seconds, now)));
    match terminating {
        Some(terminating) => status["terminatingReplicas"] = terminating.into(),
        None => status::unset(&mut status, "terminatingReplicas"),
    }
    status
}

/// The object with that status, if it is new, or about a new generation.
pub(super) fn changed(owner: &Value, mut status: Value) -> Option<Value> {
    status::count(&mut status, "observedGeneration", meta::generation(owner));
    status::changed(owner, status)
}
