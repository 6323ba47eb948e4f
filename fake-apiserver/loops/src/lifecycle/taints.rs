//! The taints of a node by its conditions.
//!
//! Follows `doNoScheduleTaintingPass` and `processTaintBaseEviction` of `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (v1.37.1),
//! except that nodes are not tainted one after the other, some seconds apart.

use crate::workloads::facts::{conditions, read};
use jiff::Timestamp;
use tree::{Value, json};

/// The taint of a node that is not ready.
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// The taint of a node that nobody knows about.
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// The taint of a node that may not get pods.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// The taints against new pods, by condition and its status.
const BY_CONDITION: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];

/// The taints that a node should have; `None` if it has them. Its pods are driven out only if `evicts`.
pub(super) fn of(node: &Value, evicts: bool, now: Timestamp) -> Option<Vec<Value>> {
    let state = |kind: &str| conditions::get(node, kind).map(|condition| read::text(condition, "/status"));
    let mut wanted: Vec<(&str, &str)> = Vec::new();
    for (kind, status, key) in BY_CONDITION {
        if state(kind) == Some(status) {
            wanted.push((key, "NoSchedule"));
        }
    }
    if read::flag(node, "/spec/unschedulable") {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    let against_all = match state("Ready").filter(|_| evicts) {
        Some("False") => Some(NOT_READY),
        Some("Unknown") => Some(UNREACHABLE),
        _ => None,
    };
    wanted.extend(against_all.map(|key| (key, "NoExecute")));
    let own = read::list(node, "/spec/taints");
    let pair = |taint: &Value| (read::text(taint, "/key").to_owned(), read::text(taint, "/effect").to_owned());
    let is_wanted =
        |taint: &Value| wanted.iter().any(|(key, effect)| pair(taint) == (str::to_owned(key), str::to_owned(effect)));
    let mut taints: Vec<Value> = own.iter().filter(|taint| !is_ours(taint) || is_wanted(taint)).cloned().collect();
    for (key, effect) in wanted {
        if !taints.iter().any(|taint| pair(taint) == (key.to_owned(), effect.to_owned())) {
            taints.push(json!({"key": key, "effect": effect, "timeAdded": read::stamp(now)}));
        }
    }
    (taints != own).then_some(taints)
}

/// Whether a taint is one that conditions make.
fn is_ours(taint: &Value) -> bool {
    let key = read::text(taint, "/key");
    match read::text(taint, "/effect") {
        "NoSchedule" => key == UNSCHEDULABLE || BY_CONDITION.iter().any(|(_, _, own)| *own == key),
        "NoExecute" => [NOT_READY, UNREACHABLE].contains(&key),
        _ => false,
    }
}
