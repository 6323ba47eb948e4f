//! Progress, its deadline, and pauses.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/deployment/progress.go` and `checkPausedConditions` of `sync.go` (v1.37.1).

use super::super::facts::{conditions, read};
use super::super::replicas;
use super::rollout::Rollout;
use super::status;
use machinery::object::meta;
use std::time::Duration;
use tree::{Value, json};

pub(super) const PROGRESSING: &str = "Progressing";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";
const AVAILABLE: &str = "NewReplicaSetAvailable";

fn deadline(deployment: &Value) -> Option<i64> {
    read::number(deployment, "/spec/progressDeadlineSeconds").filter(|seconds| *seconds != i64::from(i32::MAX))
}

pub(super) fn has_deadline(deployment: &Value) -> bool {
    deadline(deployment).is_some()
}

/// Whether a rollout is complete, as a status has it.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = read::int(deployment, "/spec/replicas");
    let counts = ["/updatedReplicas", "/replicas", "/availableReplicas"];
    counts.iter().all(|count| read::int(status, count) == wanted)
        && read::int(status, "/observedGeneration") >= meta::generation(deployment)
}

fn progresses(old: &Value, new: &Value) -> bool {
    let grows = |count: &str| read::int(new, count) > read::int(old, count);
    let of_old = |status: &Value| read::int(status, "/replicas") - read::int(status, "/updatedReplicas");
    grows("/updatedReplicas") || of_old(new) < of_old(old) || grows("/readyReplicas") || grows("/availableReplicas")
}

impl Rollout<'_> {
    pub(super) fn set_progress(&mut self, value: &str, reason: &str, message: &str) {
        status::set(&mut self.deployment, status::new(PROGRESSING, value, reason, message, self.view.now));
    }

    /// Says that a deployment is paused, or is not any more.
    pub(super) fn check_pause(&mut self) {
        let reason = status::condition(&self.deployment, PROGRESSING).map(|condition| read::text(condition, "/reason"));
        if !has_deadline(&self.deployment) || reason == Some(TIMED_OUT) {
            return;
        }
        match (read::flag(&self.deployment, "/spec/paused"), reason == Some("DeploymentPaused")) {
            (true, false) => self.set_progress("Unknown", "DeploymentPaused", "Deployment is paused"),
            (false, true) => self.set_progress("Unknown", "DeploymentResumed", "Deployment is resumed"),
            _ => {}
        }
    }

    /// Writes what has been counted, and what it means for the progress.
    pub(super) fn write_status(&mut self) {
        let old = self.deployment.get("status").cloned().unwrap_or_default();
        let mut object = self.counted();
        let current = status::condition(&self.deployment, PROGRESSING).cloned();
        if !has_deadline(&self.deployment) {
            conditions::remove(&mut object["status"], PROGRESSING);
        }
        let was_complete = object["status"].get("replicas") == object["status"].get("updatedReplicas")
            && current.as_ref().is_some_and(|current| read::text(current, "/reason") == AVAILABLE);
        if has_deadline(&self.deployment) && !was_complete {
            self.judge(&old, &mut object, current.as_ref());
        }
        match self.failure() {
            Some(failure) => status::set(&mut object, failure),
            None => conditions::remove(&mut object["status"], "ReplicaFailure"),
        }
        self.deployment = object;
        self.look_again();
    }

    fn judge(&self, old: &Value, object: &mut Value, current: Option<&Value>) {
        let subject = match self.new {
            Some(new) => format!("ReplicaSet \"{}\"", self.sets[new].name()),
            None => format!("Deployment \"{}\"", self.name()),
        };
        let new = |value: &str, reason: &str, message: &str| {
            status::new(PROGRESSING, value, reason, &format!("{subject} {message}"), self.view.now)
        };
        let counts = object["status"].clone();
        if is_complete(&self.deployment, &counts) {
            status::set(object, new("True", AVAILABLE, "has successfully progressed."));
        } else if progresses(old, &counts) {
            let mut condition = new("True", "ReplicaSetUpdated", "is progressing.");
            if let Some(current) = current {
                if read::text(current, "/status") == "True" {
                    condition["lastTransitionTime"] = current["lastTransitionTime"].clone();
                }
                conditions::remove(&mut object["status"], PROGRESSING);
            }
            status::set(object, condition);
        } else if self.has_timed_out(current) {
            status::set(object, new("False", TIMED_OUT, "has timed out progressing."));
        }
    }

    fn has_timed_out(&self, current: Option<&Value>) -> bool {
        let (Some(current), Some(deadline)) = (current, deadline(&self.deployment)) else { return false };
        match read::text(current, "/reason") {
            AVAILABLE => false,
            TIMED_OUT => true,
            _ => read::time(current, "/lastUpdateTime").is_some_and(|from| read::after(from, deadline) < self.view.now),
        }
    }

    fn failure(&self) -> Option<Value> {
        let new = self.new.and_then(|new| replicas::failure(&self.sets[new].object));
        let failure = new.or_else(|| self.sets.iter().find_map(|set| replicas::failure(&set.object)))?;
        Some(json!({
            "type": failure["type"].clone(),
            "status": failure["status"].clone(),
            "lastUpdateTime": failure["lastTransitionTime"].clone(),
            "lastTransitionTime": failure["lastTransitionTime"].clone(),
            "reason": failure["reason"].clone(),
            "message": failure["message"].clone(),
        }))
    }

    /// The pass at which a deployment that does not progress is late.
    fn look_again(&mut self) {
        let (Some(deadline), Some(current)) =
            (deadline(&self.deployment), status::condition(&self.deployment, PROGRESSING))
        else {
            return;
        };
        let status = self.deployment.get("status").cloned().unwrap_or_default();
        if is_complete(&self.deployment, &status) || read::text(current, "/reason") == TIMED_OUT {
            return;
        }
        let Some(from) = read::time(current, "/lastUpdateTime") else { return };
        let due = read::after(from, deadline.saturating_add(1));
        self.again = Some(read::until(due, self.view.now).unwrap_or(Duration::from_secs(1)));
    }
}
