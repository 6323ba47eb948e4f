//! The status of a deployment.
//!
//! Ports `calculateStatus` of `k8s.io/kubernetes/pkg/controller/deployment/sync.go` (v1.37.1).

use super::super::facts::read::{self, stamp};
use super::super::facts::{conditions, status};
use super::rollout::Rollout;
use super::sets;
use jiff::Timestamp;
use machinery::object::meta;
use tree::{Map, Value, json};

/// The condition of a type.
pub(super) fn condition<'v>(deployment: &'v Value, kind: &str) -> Option<&'v Value> {
    conditions::get(deployment, kind)
}

/// A condition with the times of its last update and transition.
pub(super) fn new(kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastUpdateTime": stamp(now), "lastTransitionTime": stamp(now),
    })
}

/// Puts a condition behind the others of a deployment, unless there is one with the same status and reason. The time of the transition
/// stays if the status does.
pub(super) fn set(deployment: &mut Value, mut condition: Value) {
    let kind = read::text(&condition, "/type").to_owned();
    if let Some(old) = self::condition(deployment, &kind) {
        let same = |field: &str| read::text(old, field) == read::text(&condition, field);
        if same("/status") && same("/reason") {
            return;
        }
        if same("/status") {
            condition["lastTransitionTime"] = old["lastTransitionTime"].clone();
        }
    }
    if !deployment.get("status").is_some_and(Value::is_object) {
        deployment["status"] = Value::Object(Map::new());
    }
    conditions::remove(&mut deployment["status"], &kind);
    conditions::push(&mut deployment["status"], condition);
}

impl Rollout<'_> {
    /// Counts replicas, and says whether enough of them are available. Only what it says about progress is left for others.
    pub(super) fn counted(&self) -> Value {
        let mut object = self.deployment.clone();
        let available = self.total("availableReplicas");
        let enough = available >= self.replicas() - sets::max_unavailable(&self.deployment);
        let (value, reason, message) = match enough {
            true => ("True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            false => ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
        };
        set(&mut object, new("Available", value, reason, message, self.view.now));
        let updated = self.new.map_or(0, |new| self.sets[new].status("replicas"));
        let counts = [
            ("observedGeneration", meta::generation(&self.deployment)),
            ("replicas", self.total("replicas")),
            ("updatedReplicas", updated),
            ("readyReplicas", self.total("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (self.wanted() - available).max(0)),
        ];
        for (name, count) in counts {
            status::count(&mut object["status"], name, count);
        }
        match self.terminating() {
            Some(terminating) => object["status"]["terminatingReplicas"] = terminating.into(),
            None => status::unset(&mut object["status"], "terminatingReplicas"),
        }
        object
    }

    /// `None` if a set does not know.
    fn terminating(&self) -> Option<i64> {
        let known = |set: &sets::Set| match read::number(&set.object, "/status/terminatingReplicas") {
            None if set.status("observedGeneration") == 0 => Some(0),
            known => known,
        };
        self.sets.iter().map(known).sum()
    }

    /// Writes what has been counted.
    pub(super) fn write_plain_status(&mut self) {
        self.deployment = self.counted();
    }
}
