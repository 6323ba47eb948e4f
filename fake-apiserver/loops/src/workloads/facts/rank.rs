//! The order in which pods are deleted.
//!
//! Ports `ActivePodsWithRanks` of `k8s.io/kubernetes/pkg/controller/controller_utils.go` (v1.37.1).

use super::{pods, read};
use jiff::Timestamp;
use machinery::object::meta;
use std::cmp::Ordering;
use tree::Value;

/// Compares two pods, each with the number of related pods on its node: the lesser one goes first.
pub(crate) fn compare(one: (&Value, usize), other: (&Value, usize), now: Timestamp) -> Ordering {
    let ((one, rank), (other, other_rank)) = (one, other);
    let both = |fact: fn(&Value) -> i64| fact(one).cmp(&fact(other));
    both(|pod| i64::from(!read::text(pod, "/spec/nodeName").is_empty()))
        .then_with(|| both(ordinal))
        .then_with(|| both(|pod| i64::from(pods::is_ready(pod))))
        .then_with(|| both(cost))
        .then_with(|| other_rank.cmp(&rank))
        .then_with(|| younger(pods::ready_since(one), pods::ready_since(other), (one, other), now))
        .then_with(|| restarts(other).cmp(&restarts(one)))
        .then_with(|| younger(created(one), created(other), (one, other), now))
}

fn ordinal(pod: &Value) -> i64 {
    match pods::phase(pod) {
        "Unknown" => 1,
        "Running" => 2,
        _ => 0,
    }
}

fn cost(pod: &Value) -> i64 {
    let cost = meta::annotations(pod).get("controller.kubernetes.io/pod-deletion-cost");
    cost.and_then(|cost| cost.parse::<i32>().ok()).map_or(0, i64::from)
}

fn created(pod: &Value) -> Option<Timestamp> {
    meta::creation_timestamp(pod).parse().ok()
}

/// Those of about the same age, in powers of two, are compared by uid.
fn younger(one: Option<Timestamp>, other: Option<Timestamp>, pods: (&Value, &Value), now: Timestamp) -> Ordering {
    let (Some(first), Some(second)) = (one, other) else { return one.is_some().cmp(&other.is_some()) };
    if first == second {
        return Ordering::Equal;
    }
    let age = |time: Timestamp| now.duration_since(time).as_nanos().checked_ilog2().map_or(-1, i64::from);
    age(first).cmp(&age(second)).then_with(|| meta::uid(pods.0).cmp(meta::uid(pods.1)))
}

fn restarts(pod: &Value) -> (i64, i64) {
    let most = |statuses: &str, counts: &dyn Fn(&str) -> bool| {
        let statuses = read::list(pod, statuses).iter().filter(|status| counts(read::text(status, "/name")));
        statuses.map(|status| read::int(status, "/restartCount")).max().unwrap_or_default()
    };
    let sidecar = |name: &str| {
        let containers = read::list(pod, "/spec/initContainers").iter();
        containers.filter(|c| read::text(c, "/restartPolicy") == "Always").any(|c| read::text(c, "/name") == name)
    };
    (most("/status/containerStatuses", &|_| true), most("/status/initContainerStatuses", &sidecar))
}
