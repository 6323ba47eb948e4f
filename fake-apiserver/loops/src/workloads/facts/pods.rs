//! Facts that controllers read in pods.
//!
//! Ports `k8s.io/kubernetes/pkg/api/v1/pod/util.go` and parts of `pkg/controller/controller_utils.go` (v1.37.1).

use super::{conditions, read};
use crate::resource::Resource;
use jiff::Timestamp;
use machinery::object::meta;
use std::time::Duration;
use tree::Value;

/// Pods.
pub(crate) const PODS: Resource = Resource::new("", "v1", "pods");

/// A pod's phase.
pub(crate) fn phase(pod: &Value) -> &str {
    read::text(pod, "/status/phase")
}

/// Whether a pod has ended.
pub(crate) fn is_terminal(pod: &Value) -> bool {
    matches!(phase(pod), "Failed" | "Succeeded")
}

/// Whether a pod counts: it has not ended, and is not being deleted.
pub(crate) fn is_active(pod: &Value) -> bool {
    !is_terminal(pod) && !is_going(pod)
}

/// Whether a pod is being deleted.
pub(crate) fn is_going(pod: &Value) -> bool {
    meta::deletion_timestamp(pod).is_some()
}

/// Whether a pod is being deleted and has not ended.
pub(crate) fn is_terminating(pod: &Value) -> bool {
    !is_terminal(pod) && is_going(pod)
}

/// Whether a pod is ready.
pub(crate) fn is_ready(pod: &Value) -> bool {
    conditions::holds(pod, "Ready")
}

/// When a pod became ready, if it is.
pub(crate) fn ready_since(pod: &Value) -> Option<Timestamp> {
    conditions::get(pod, "Ready")
        .filter(|condition| read::text(condition, "/status") == "True")
        .and_then(|condition| read::time(condition, "/lastTransitionTime"))
}

/// Whether a pod has been ready for so many seconds.
pub(crate) fn is_available(pod: &Value, seconds: i64, now: Timestamp) -> bool {
    is_ready(pod)
        && (seconds == 0
            || ready_since(pod).is_some_and(|since| read::until(read::after(since, seconds), now).is_none()))
}

/// How long it is until the next of the pods is available.
pub(crate) fn next_available<'p>(
    pods: impl Iterator<Item = &'p Value>,
    seconds: i64,
    now: Timestamp,
) -> Option<Duration> {
    if seconds <= 0 {
        return None;
    }
    pods.filter_map(|pod| read::until(read::after(ready_since(pod)?, seconds), now)).min()
}
