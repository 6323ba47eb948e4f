//! The columns of `kubectl get pods`.
//!
//! A port of `printPod` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::object::meta;
use crate::registry::columns::{or, since};
use crate::registry::rules::{Cell, RowCondition};
use crate::registry::{items, text};
use jiff::Timestamp;
use std::collections::HashSet;
use tree::Value;

const NONE: &str = "<none>";

pub(super) const CELLS: &[(&str, Cell)] = &[
    ("Ready", |pod, _| {
        let summary = summary(pod);
        format!("{}/{}", summary.ready, summary.total).into()
    }),
    ("Status", |pod, _| summary(pod).reason.into()),
    ("Restarts", |pod, now| summary(pod).restarts.print(now).into()),
    ("IP", |pod, _| or(text(pod, "/status/podIPs/0/ip"), NONE).into()),
    ("Node", |pod, _| or(text(pod, "/spec/nodeName"), NONE).into()),
    ("Nominated Node", |pod, _| or(text(pod, "/status/nominatedNodeName"), NONE).into()),
    ("Readiness Gates", |pod, _| readiness_gates(pod).into()),
];

/// The condition of the row of a finished pod (`podSuccessConditions`, `podFailedConditions`).
pub(super) fn row_condition(pod: &Value) -> Option<RowCondition> {
    let (reason, message) = match text(pod, "/status/phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(RowCondition { type_: "Completed", status: "True", reason, message })
}

/// The values of the first columns.
struct Summary {
    ready: usize,
    total: usize,
    reason: String,
    restarts: Restarts,
}

/// The number of restarts of containers, and the time of the last termination before one ("" if never).
#[derive(Default)]
struct Restarts {
    count: i64,
    last: String,
}

impl Restarts {
    fn add(&mut self, container: &Value) {
        self.count += container.get("restartCount").and_then(Value::as_i64).unwrap_or_default();
        // Timestamps of whole seconds in UTC compare as texts.
        let finished = text(container, "/lastState/terminated/finishedAt");
        if finished > self.last.as_str() {
            self.last = finished.into();
        }
    }

    fn print(&self, now: Timestamp) -> String {
        match (self.count, self.last.as_str()) {
            (0, _) | (_, "") => self.count.to_string(),
            (count, last) => format!("{count} ({} ago)", since(last, now)),
        }
    }
}

fn condition<'a>(pod: &'a Value, type_: &str) -> Option<&'a Value> {
    items(pod, "/status/conditions").iter().find(|condition| text(condition, "/type") == type_)
}

fn is_true(pod: &Value, type_: &str) -> bool {
    condition(pod, type_).is_some_and(|condition| text(condition, "/status") == "True")
}

/// The reason why a container ended.
fn ended(terminated: &Value) -> String {
    let number = |field: &str| terminated.get(field).and_then(Value::as_i64).unwrap_or_default();
    match (text(terminated, "/reason"), number("signal")) {
        ("", 0) => format!("ExitCode:{}", number("exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.into(),
    }
}

fn failed(terminated: &Value) -> bool {
    terminated.get("exitCode").and_then(Value::as_i64).unwrap_or_default() != 0
}

fn flag(container: &Value, field: &str) -> bool {
    container.get(field).and_then(Value::as_bool).unwrap_or_default()
}

fn summary(pod: &Value) -> Summary {
    let sidecars: HashSet<&str> = items(pod, "/spec/initContainers")
        .iter()
        .filter(|container| text(container, "/restartPolicy") == "Always")
        .map(|container| text(container, "/name"))
        .collect();
    let phase = text(pod, "/status/phase");
    let mut reason = or(text(pod, "/status/reason"), phase).to_string();
    if condition(pod, "PodScheduled").is_some_and(|condition| text(condition, "/reason") == "SchedulingGated") {
        reason = "SchedulingGated".into();
    }
    let mut ready = 0;
    let mut restarts = Restarts::default();
    let mut sidecar_restarts = Restarts::default();
    let mut initializing = false;
    for (index, container) in items(pod, "/status/initContainerStatuses").iter().enumerate() {
        let sidecar = sidecars.contains(text(container, "/name"));
        restarts.add(container);
        if sidecar {
            sidecar_restarts.add(container);
        }
        let terminated = container.pointer("/state/terminated");
        let waiting = text(container, "/state/waiting/reason");
        match terminated {
            Some(terminated) if !failed(terminated) => continue,
            _ if sidecar && flag(container, "started") => {
                ready += usize::from(flag(container, "ready"));
                continue;
            }
            Some(terminated) => reason = format!("Init:{}", ended(terminated)),
            None if !["", "PodInitializing"].contains(&waiting) => reason = format!("Init:{waiting}"),
            None => reason = format!("Init:{index}/{}", items(pod, "/spec/initContainers").len()),
        }
        initializing = true;
        break;
    }
    if !initializing || is_true(pod, "Initialized") {
        restarts = sidecar_restarts;
        let mut running = false;
        let mut error = None;
        for container in items(pod, "/status/containerStatuses").iter().rev() {
            restarts.add(container);
            let waiting = text(container, "/state/waiting/reason");
            match container.pointer("/state/terminated") {
                _ if !waiting.is_empty() => reason = waiting.into(),
                Some(terminated) => {
                    reason = ended(terminated);
                    error = failed(terminated).then(|| reason.clone()).or(error);
                }
                None if flag(container, "ready") && container.pointer("/state/running").is_some() => {
                    running = true;
                    ready += 1;
                }
                None => {}
            }
        }
        if reason == "Completed" {
            reason = match (running, error) {
                (true, _) if is_true(pod, "Ready") => "Running".into(),
                (_, Some(error)) => error,
                (true, None) => "NotReady".into(),
                (false, None) => reason,
            };
        }
    }
    if meta::deletion_timestamp(pod).is_some() {
        if text(pod, "/status/reason") == "NodeLost" {
            reason = "Unknown".into();
        } else if !["Succeeded", "Failed"].contains(&phase) {
            reason = "Terminating".into();
        }
    }
    Summary { ready, total: items(pod, "/spec/containers").len() + sidecars.len(), reason, restarts }
}

fn readiness_gates(pod: &Value) -> String {
    let gates = items(pod, "/spec/readinessGates");
    match gates.len() {
        0 => NONE.into(),
        total => {
            let open = gates.iter().filter(|gate| is_true(pod, text(gate, "/conditionType"))).count();
            format!("{open}/{total}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn pods_are_summed_up() {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        let two = json!([{"name": "a"}, {"name": "b"}]);
        let running = json!({"ready": true, "state": {"running": {}}});
        let table = [
            (json!({"spec": {"containers": two}, "status": {"phase": "Pending"}}), "0/2 Pending 0"),
            (
                json!({"spec": {"containers": two}, "status": {"phase": "Running", "containerStatuses": [running, {
                    "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"finishedAt": "2026-01-01T00:09:00Z"}}}]}}),
                "1/2 CrashLoopBackOff 3 (60s ago)",
            ),
            (
                json!({"spec": {"containers": two}, "status": {"phase": "Running", "containerStatuses": [
                    {"state": {"terminated": {"reason": "Completed"}}}, running]}}),
                "1/2 NotReady 0",
            ),
            (
                json!({"spec": {"containers": two}, "status": {"phase": "Failed", "containerStatuses": [
                    {"state": {"terminated": {"reason": "Completed"}}},
                    {"state": {"terminated": {"exitCode": 1, "signal": 9}}}]}}),
                "0/2 Signal:9 0",
            ),
            (
                json!({"spec": {"containers": two, "initContainers": [{"name": "i"}, {"name": "j"}]}, "status": {
                    "phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {}}}, {"state": {}}]}}),
                "0/2 Init:1/2 0",
            ),
            (
                json!({"spec": {"containers": two, "initContainers": [{"name": "i", "restartPolicy": "Always"}]}, "status": {
                    "phase": "Running", "initContainerStatuses": [{"name": "i", "started": true, "ready": true}],
                    "containerStatuses": [running, running]}}),
                "3/3 Running 0",
            ),
            (
                json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Running"}}),
                "0/0 Terminating 0",
            ),
        ];
        for (pod, cells) in table {
            let first: Vec<String> =
                CELLS[..3].iter().map(|(_, cell)| cell(&pod, now).as_str().unwrap().to_string()).collect();
            assert_eq!(first.join(" "), cells, "{pod}");
        }
    }
}
