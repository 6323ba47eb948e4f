//! Whether a node still says that it lives.
//!
//! Follows `tryUpdateNodeHealth` of `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (v1.37.1).

use crate::workloads::facts::{conditions, read};
use jiff::Timestamp;
use tree::{Value, json};

/// The seconds for which a node need not say anything after it was made.
const STARTUP: i64 = 60;
/// The seconds for which one that has said something need not say anything.
const GRACE: i64 = 50;
/// The conditions that nobody knows of a lost node.
const CONDITIONS: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// The last signs of life of a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Health {
    heartbeat: Option<String>,
    renewed: Option<String>,
    /// When something of that was new.
    probed: Option<Timestamp>,
}

impl Health {
    /// Takes note of what a node and its lease say.
    pub(super) fn observe(&mut self, node: &Value, lease: Option<&Value>, now: Timestamp) {
        let heartbeat = conditions::get(node, "Ready").map(|ready| read::text(ready, "/lastHeartbeatTime").to_owned());
        let is_first = self.probed.is_none();
        if is_first && heartbeat.is_none() {
            self.probed = read::time(node, "/metadata/creationTimestamp").or(Some(now));
        } else if is_first || heartbeat != self.heartbeat {
            self.probed = Some(now);
        }
        self.heartbeat = heartbeat;
        let renewed = lease.map(|lease| read::text(lease, "/spec/renewTime").to_owned());
        if renewed > self.renewed {
            self.renewed = renewed;
            self.probed = Some(now);
        }
    }

    /// When the node is lost, if it says nothing until then.
    pub(super) fn ends(&self, now: Timestamp) -> Timestamp {
        let grace = if self.heartbeat.is_some() { GRACE } else { STARTUP };
        read::after(self.probed.unwrap_or(now), grace)
    }
}

/// The status of a node that is lost; `None` if it says that already.
pub(super) fn lost(node: &Value, now: Timestamp) -> Option<Value> {
    let mut status = node.get("status").cloned().unwrap_or_else(|| json!({}));
    let mut all = read::list(&status, "/conditions").to_vec();
    for kind in CONDITIONS {
        match all.iter_mut().find(|condition| read::text(condition, "/type") == kind) {
            Some(known) if read::text(known, "/status") != "Unknown" => {
                known["status"] = "Unknown".into();
                known["reason"] = "NodeStatusUnknown".into();
                known["message"] = "Kubelet stopped posting node status.".into();
                known["lastTransitionTime"] = read::stamp(now).into();
            }
            Some(_) => {}
            None => all.push(json!({
                "type": kind, "status": "Unknown",
                "lastHeartbeatTime": read::text(node, "/metadata/creationTimestamp"),
                "lastTransitionTime": read::stamp(now),
                "reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status.",
            })),
        }
    }
    status["conditions"] = all.into();
    (node.get("status") != Some(&status)).then_some(status)
}
