//! The statuses of containers.

use super::life::{LastRun, Life, Stage};
use crate::workloads::facts::hash;
use crate::workloads::facts::read::{self, stamp};
use jiff::Timestamp;
use machinery::object::meta;
use tree::{Map, Value, json};

/// Whether an init container goes on beside the others.
pub(super) fn is_sidecar(container: &Value) -> bool {
    read::text(container, "/restartPolicy") == "Always"
}

/// The status of a container.
pub(super) fn status(pod: &Value, container: &Value, life: &Life) -> Value {
    let (name, image) = (read::text(container, "/name"), read::text(container, "/image"));
    let id = |run: i64| {
        let text = format!("{}/{name}/{run}", meta::uid(pod));
        format!("rules://{:016x}", hash::fnv64(text.into_bytes()))
    };
    let run = |last: LastRun, number: i64| {
        json!({"terminated": {
            "exitCode": last.code,
            "reason": if last.code == 0 { "Completed" } else { "Error" },
            "startedAt": stamp(last.started),
            "finishedAt": stamp(last.finished),
            "containerID": id(number),
        }})
    };
    let waiting = |reason: &str, message: String| match message.is_empty() {
        true => json!({"waiting": {"reason": reason}}),
        false => json!({"waiting": {"reason": reason, "message": message}}),
    };
    let running = |since: Timestamp| json!({"running": {"startedAt": stamp(since)}});
    let nothing = Value::Object(Map::new());
    let last_of = |restarts: i64| match life.last.filter(|_| restarts > 0) {
        Some(last) => run(last, restarts - 1),
        None => nothing.clone(),
    };
    let (state, last, ready, started) = match &life.stage {
        Stage::Created => (waiting("ContainerCreating", String::new()), nothing.clone(), false, false),
        Stage::NoImage if life.misses(image) => {
            let message = format!("Back-off pulling image \"{image}\"");
            (waiting("ImagePullBackOff", message), nothing.clone(), false, false)
        }
        Stage::NoImage => (running(life.since), nothing.clone(), true, true),
        Stage::Running { ready } => (running(life.since), last_of(life.restarts), *ready, true),
        Stage::BackingOff { delay } => {
            let pod_name = format!("{}_{}({})", meta::name(pod), meta::namespace(pod), meta::uid(pod));
            let message = format!("back-off {} restarting failed container={name} pod={pod_name}", go(delay.as_secs()));
            let last = life.last.map_or(nothing.clone(), |last| run(last, life.restarts));
            (waiting("CrashLoopBackOff", message), last, false, false)
        }
        Stage::Ended => {
            let state = life.last.map_or(nothing.clone(), |last| run(last, life.restarts));
            (state, nothing.clone(), false, false)
        }
    };
    let has_run = !matches!(life.stage, Stage::Created) && !life.misses(image);
    json!({
        "name": name,
        "image": image,
        "imageID": if has_run { format!("rules://{:016x}", hash::fnv64(image.bytes())) } else { String::new() },
        "containerID": if has_run { Value::from(id(life.restarts)) } else { Value::Null },
        "state": state,
        "lastState": last,
        "ready": ready,
        "started": started,
        "restartCount": life.restarts,
    })
}

/// The status of an init container: they have all done their work as soon as the pod was started, and sidecars go on.
pub(super) fn init_status(pod: &Value, container: &Value, life: &Life) -> Value {
    let since = life.began;
    let is_waiting = matches!(life.stage, Stage::Created);
    let stage = match (is_sidecar(container), &life.stage) {
        (_, Stage::Created) => Stage::Created,
        (true, Stage::Ended) | (false, _) => Stage::Ended,
        (true, _) => Stage::Running { ready: true },
    };
    let mut once = life.clone();
    (once.stage, once.since, once.restarts) = (stage, since, 0);
    once.last = Some(LastRun { started: since, finished: since, code: 0 });
    let mut status = status(pod, container, &once);
    if is_waiting {
        status["state"] = json!({"waiting": {"reason": "PodInitializing"}});
    } else if !is_sidecar(container) {
        status["ready"] = true.into();
    }
    status
}

/// A duration in whole seconds, as Go prints it.
fn go(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}
