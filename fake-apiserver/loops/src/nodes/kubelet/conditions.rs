//! The conditions that a kubelet writes, as `pkg/kubelet/status/generate.go` (v1.37.1) makes them, in its order.

use super::containers::is_sidecar;
use super::life::{Life, Stage};
use crate::workloads::facts::read::{self, stamp};
use crate::workloads::facts::status;
use jiff::Timestamp;
use machinery::object::meta;
use tree::{Value, json};

const OWN: [&str; 5] = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

struct Condition {
    kind: &'static str,
    holds: bool,
    reason: &'static str,
    message: String,
}

fn plain(kind: &'static str, holds: bool, reason: &'static str) -> Condition {
    Condition { kind, holds, reason, message: String::new() }
}

/// Writes the conditions into a status. Others stay in front of them, and one whose status stays keeps its time.
pub(super) fn write(pod: &Value, new: &mut Value, life: &Life, now: Timestamp) {
    let old = read::list(new, "/conditions").to_vec();
    let others = old.iter().filter(|condition| !OWN.contains(&read::text(condition, "/type"))).cloned();
    let mut all: Vec<Value> = others.collect();
    let containers = containers_ready(pod, new, life);
    let ready = ready(pod, &containers, &old);
    let has_sandbox = !matches!(life.stage, Stage::Created | Stage::Ended);
    let made = [
        plain("PodReadyToStartContainers", has_sandbox, ""),
        initialized(pod, new, life),
        ready,
        containers,
        plain("PodScheduled", true, ""),
    ];
    for condition in made {
        let value = if condition.holds { "True" } else { "False" };
        let before = old.iter().find(|old| read::text(old, "/type") == condition.kind);
        let since = before.filter(|before| read::text(before, "/status") == value);
        let since = since.and_then(|before| before.get("lastTransitionTime")).filter(|time| time.is_string());
        let mut object = json!({
            "type": condition.kind,
            "status": value,
            "lastTransitionTime": since.cloned().unwrap_or_else(|| stamp(now).into()),
        });
        status::count(&mut object, "observedGeneration", meta::generation(pod));
        status::text(&mut object, "reason", condition.reason);
        status::text(&mut object, "message", &condition.message);
        all.push(object);
    }
    new["conditions"] = all.into();
}

/// The reason why a pod that has ended is not ready.
fn end(life: &Life, new: &Value) -> Option<&'static str> {
    let reason = if read::text(new, "/phase") == "Succeeded" { "PodCompleted" } else { "PodFailed" };
    (life.stage == Stage::Ended).then_some(reason)
}

/// Names as Go prints a slice of them.
fn named(containers: &[&str]) -> String {
    format!("[{}]", containers.join(" "))
}

fn initialized(pod: &Value, new: &Value, life: &Life) -> Condition {
    let init: Vec<&str> = read::list(pod, "/spec/initContainers").iter().map(|c| read::text(c, "/name")).collect();
    match life.stage {
        Stage::Created if !init.is_empty() => Condition {
            message: format!("containers with incomplete status: {}", named(&init)),
            ..plain("Initialized", false, "ContainersNotInitialized")
        },
        Stage::Ended if read::text(new, "/phase") == "Succeeded" => plain("Initialized", true, "PodCompleted"),
        _ => plain("Initialized", true, ""),
    }
}

fn containers_ready(pod: &Value, new: &Value, life: &Life) -> Condition {
    if let Some(reason) = end(life, new) {
        return plain("ContainersReady", false, reason);
    }
    let sidecars = read::list(pod, "/spec/initContainers").iter().filter(|container| is_sidecar(container));
    let counted = sidecars.chain(read::list(pod, "/spec/containers")).map(|container| read::text(container, "/name"));
    let statuses = || read::list(new, "/initContainerStatuses").iter().chain(read::list(new, "/containerStatuses"));
    let is_ready =
        |name: &str| statuses().any(|status| read::text(status, "/name") == name && read::flag(status, "/ready"));
    let unready: Vec<&str> = counted.filter(|name| !is_ready(name)).collect();
    match unready.is_empty() {
        true => plain("ContainersReady", true, ""),
        false => Condition {
            message: format!("containers with unready status: {}", named(&unready)),
            ..plain("ContainersReady", false, "ContainersNotReady")
        },
    }
}

fn ready(pod: &Value, containers: &Condition, old: &[Value]) -> Condition {
    if !containers.holds {
        return Condition { message: containers.message.clone(), ..plain("Ready", false, containers.reason) };
    }
    let gates = read::list(pod, "/spec/readinessGates").iter().map(|gate| read::text(gate, "/conditionType"));
    let missing = gates.filter_map(|gate| {
        match old.iter().find(|condition| read::text(condition, "/type") == gate).map(|c| read::text(c, "/status")) {
            Some("True") => None,
            Some(status) => Some(format!("the status of pod readiness gate \"{gate}\" is not \"True\", but {status}")),
            None => Some(format!("corresponding condition of pod readiness gate \"{gate}\" does not exist.")),
        }
    });
    let missing: Vec<String> = missing.collect();
    match missing.is_empty() {
        true => plain("Ready", true, ""),
        false => Condition { message: missing.join(", "), ..plain("Ready", false, "ReadinessGatesNotReady") },
    }
}
