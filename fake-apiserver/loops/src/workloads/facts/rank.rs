//! The order in which pods are deleted.
//!
//! Ports `ActivePodsWithRanks` of `k8s.io/kubernetes/pkg/controller/controller_utils.go` (v1.37.1).

use super::{pods, read};
use jiff::Timestamp;
use machinery::object::meta;
use std::cmp::Ordering;
use tree::Value;

/// Compares two pods, each with the number of related pods on its node: the lesser one goes first. With a time, ages are about the same if their
/// logarithms are; then the uids decide, and nothing after them. Upstream's comparison goes on where two pods became ready at once, and is not
/// transitive.
pub(crate) fn compare(one: (&Value, usize), other: (&Value, usize), now: Option<Timestamp>) -> Ordering {
    let ((one, rank), (other, other_rank)) = (one, other);
    let younger = |since: fn(&Value) -> Option<Timestamp>| {
        let (Some(first), Some(second)) = (since(one), since(other)) else {
            return since(one).is_some().cmp(&since(other).is_some());
        };
        match now {
            None => second.cmp(&first),
            Some(now) => age(first, now).cmp(&age(second, now)).then_with(|| meta::uid(one).cmp(meta::uid(other))),
        }
    };
    let both = |fact: fn(&Value) -> i64| fact(one).cmp(&fact(other));
    both(|pod| i64::from(!read::text(pod, "/spec/nodeName").is_empty()))
        .then_with(|| both(ordinal))
        .then_with(|| both(|pod| i64::from(pods::is_ready(pod))))
        .then_with(|| both(cost))
        .then_with(|| other_rank.cmp(&rank))
        .then_with(|| younger(pods::ready_since))
        .then_with(|| restarts(other).cmp(&restarts(one)))
        .then_with(|| younger(created))
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

/// The logarithm of an age, by powers of two.
fn age(time: Timestamp, now: Timestamp) -> i64 {
    now.duration_since(time).as_nanos().checked_ilog2().map_or(-1, i64::from)
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

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn pod(uid: usize, ready: Option<i64>, created: i64, restarts: i64) -> Value {
        let time = |second: i64| Timestamp::from_second(second).unwrap().to_string();
        let conditions: Vec<Value> = ready
            .map(|ready| json!({"type": "Ready", "status": "True", "lastTransitionTime": time(ready)}))
            .into_iter()
            .collect();
        json!({
            "metadata": {"uid": format!("{:02}", uid * 7 % 16), "creationTimestamp": time(created)},
            "status": {"conditions": conditions, "containerStatuses": [{"name": "c", "restartCount": restarts}]},
        })
    }

    #[test]
    fn it_is_an_order_of_all() {
        let facts = [(None, 1, 0), (None, 2, 3), (Some(3), 1, 0), (Some(3), 2, 1), (Some(4), 3, 0), (Some(4), 1, 2)];
        let pods: Vec<Value> = (0..16)
            .map(|number| {
                let (ready, created, restarts) = facts[number % facts.len()];
                pod(number, ready, created, restarts)
            })
            .collect();
        for now in [None, Timestamp::from_second(8).ok(), Timestamp::from_second(3).ok()] {
            let compare = |one, other| compare((one, 0), (other, 0), now);
            for (a, b) in pods.iter().flat_map(|a| pods.iter().map(move |b| (a, b))) {
                assert_eq!(compare(a, b), compare(b, a).reverse(), "{a} {b}");
                for c in pods.iter().filter(|c| compare(a, b).is_le() && compare(b, c).is_le()) {
                    assert!(compare(a, c).is_le(), "{now:?}: {a} {b} {c}");
                }
            }
        }
    }

    #[test]
    fn the_youngest_goes_first() {
        let pods = [pod(0, Some(5), 1, 0), pod(1, Some(6), 2, 0), pod(2, None, 1, 0)];
        let sorted = |now| {
            let mut sorted: Vec<&Value> = pods.iter().collect();
            sorted.sort_by(|one, other| compare((one, 0), (other, 0), now));
            sorted.into_iter().map(|pod| pods.iter().position(|known| known == pod).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(sorted(None), [2, 1, 0]);
        assert_eq!(sorted(Timestamp::from_second(7).ok()), [2, 1, 0]);
        assert_eq!(sorted(Timestamp::from_second(1_000).ok()), [2, 0, 1], "by uid");
    }
}
