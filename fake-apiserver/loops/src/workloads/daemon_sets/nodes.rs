//! The nodes on which a daemon set runs.
//!
//! Ports `nodeShouldRunDaemonPod` of `k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go`, and `util/daemonset_util.go` (v1.37.1).

use super::super::facts::{affinity, read, taints};

use crate::objects::Change;
use machinery::object::meta;
use tree::{Value, json};

/// Whether a set should run on a node, and whether a pod that runs there may go on.
pub(super) fn runs(set: &Value, node: &Value) -> (bool, bool) {
    let nothing = Value::Null;
    let spec = set.pointer("/spec/template/spec").unwrap_or(&nothing);
    let name = read::text(spec, "/nodeName");
    if !(name.is_empty() || name == meta::name(node)) || !affinity::matches(spec, node) {
        return (false, false);
    }
    let (tolerations, taints) = (tolerations(spec), read::list(node, "/spec/taints"));
    let bears = |effects: &[&str]| taints::tolerates(&tolerations, taints, effects);
    match bears(&["NoExecute", "NoSchedule"]) {
        true => (true, true),
        false => (false, bears(&["NoExecute"])),
    }
}

/// Whether a change of a node may matter to daemon sets.
pub(super) fn matters(change: &Change<'_>) -> bool {
    let (Some(old), Some(new)) = (change.old, change.new) else { return true };
    ["/metadata/labels", "/spec/taints"].into_iter().any(|at| old.pointer(at) != new.pointer(at))
}

/// The tolerations of a set's pods: those of its template, and those that all daemons have.
pub(super) fn tolerations(spec: &Value) -> Vec<Value> {
    let mut all = read::list(spec, "/tolerations").to_vec();
    let mut of_daemons = vec![
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ];
    if read::flag(spec, "/hostNetwork") {
        of_daemons.push(("network-unavailable", "NoSchedule"));
    }
    for (name, effect) in of_daemons {
        let key = format!("node.kubernetes.io/{name}");
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        let is_same = |other: &Value| {
            ["/key", "/effect", "/operator", "/value"]
                .iter()
                .all(|field| read::text(other, field) == read::text(&toleration, field))
        };
        match all.iter_mut().find(|other| is_same(other)) {
            Some(same) => *same = toleration,
            None => all.push(toleration),
        }
    }
    all
}

/// Binds a pod to a node by its affinity.
pub(super) fn aim(pod: &mut Value, node: &str) {
    let term = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]});
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    pod["spec"]["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"] = json!([term]);
}

/// The node of a pod: that which it is on, or that which it is bound to.
pub(super) fn target(pod: &Value) -> Option<&str> {
    let node = read::text(pod, "/spec/nodeName");
    if !node.is_empty() {
        return Some(node);
    }
    let required = pod.pointer("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution")?;
    let terms = read::list(required, "/nodeSelectorTerms").iter();
    let mut fields = terms.flat_map(|term| read::list(term, "/matchFields"));
    let field = fields.find(|field| read::text(field, "/key") == "metadata.name")?;
    read::list(field, "/values").first()?.as_str()
}
