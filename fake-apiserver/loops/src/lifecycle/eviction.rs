//! Pods leave nodes whose taints they do not tolerate, or not for longer.
//!
//! Follows `pkg/controller/tainteviction/taint_eviction.go` (v1.37.1).

use super::NODES;
use crate::act::{Act, Deletion, PatchType};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::{pods, read};
use jiff::Timestamp;
use machinery::object::meta;
use std::collections::HashMap;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "taint-eviction-controller",
    alias: "",
    user: "system:serviceaccount:kube-system:node-controller",
    program: "kube-controller-manager",
    component: "taint-eviction-controller",
};

/// The loop that deletes pods.
#[derive(Default)]
pub(crate) struct Eviction {
    /// Since when pods have been tolerating, by uid.
    since: HashMap<String, Timestamp>,
}

impl Loop for Eviction {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[NODES, pods::PODS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        if &*change.resource.plural == "pods" {
            match (change.old, change.new) {
                (Some(old), None) => drop(self.since.remove(meta::uid(old))),
                _ => keys.add(change.key.clone()),
            }
            return;
        }
        let taints =
            |node: Option<&Value>| node.map(|node| read::list(node, "/spec/taints").to_vec()).unwrap_or_default();
        if taints(change.old) != taints(change.new) {
            let of_node =
                objects.all(&pods::PODS).filter(|(_, pod)| read::text(pod, "/spec/nodeName") == change.key.name);
            of_node.for_each(|(key, _)| keys.add(key.clone()));
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(pod) = view.objects.get(&pods::PODS, key).filter(|pod| !pods::is_going(pod)) else {
            return Plan::default();
        };
        let name = read::text(pod, "/spec/nodeName").to_owned();
        let node = view.objects.get(&NODES, &Key { namespace: String::new(), name });
        let taints = node.map(|node| read::list(node, "/spec/taints")).unwrap_or_default();
        let taints: Vec<&Value> = taints.iter().filter(|taint| read::text(taint, "/effect") == "NoExecute").collect();
        if taints.is_empty() {
            self.since.remove(meta::uid(pod));
            return Plan::default();
        }
        let seconds = match tolerates(pod, &taints) {
            None => 0,
            Some(None) => {
                self.since.remove(meta::uid(pod));
                return Plan::default();
            }
            Some(Some(seconds)) => seconds,
        };
        let since = *self.since.entry(meta::uid(pod).to_owned()).or_insert(view.now);
        match read::until(read::after(since, seconds), view.now) {
            Some(left) => Plan { again: Some(left), ..Plan::default() },
            None => Plan::of(evicted(key, pod, view.now)),
        }
    }
}

/// For how many seconds a pod tolerates the taints: for ever, for `Some(None)`; not at all, for `None`.
fn tolerates(pod: &Value, taints: &[&Value]) -> Option<Option<i64>> {
    let mut shortest: Option<i64> = None;
    for taint in taints {
        let mut tolerations = read::list(pod, "/spec/tolerations").iter();
        let toleration = tolerations.find(|toleration| is_tolerated(taint, toleration))?;
        if let Some(seconds) = read::number(toleration, "/tolerationSeconds") {
            shortest = Some(shortest.map_or(seconds, |least| least.min(seconds)).max(0));
        }
    }
    Some(shortest)
}

/// Whether a toleration is about a taint (`ToleratesTaint`).
fn is_tolerated(taint: &Value, toleration: &Value) -> bool {
    let of = |value, at| read::text(value, at);
    let is_about = |at| of(toleration, at).is_empty() || of(toleration, at) == of(taint, at);
    is_about("/effect")
        && is_about("/key")
        && match of(toleration, "/operator") {
            "" | "Equal" => of(toleration, "/value") == of(taint, "/value"),
            operator => operator == "Exists",
        }
}

fn evicted(key: &Key, pod: &Value, now: Timestamp) -> Vec<Act> {
    let message = format!("Marking for deletion Pod {key}");
    let told =
        Act::Event { about: pod.clone(), warning: false, reason: "TaintManagerEviction".into(), action: "", message };
    let condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": read::stamp(now),
    });
    let marked = Act::Patch {
        resource: pods::PODS,
        key: key.clone(),
        subresource: "status",
        patch_type: PatchType::Strategic,
        patch: json!({"metadata": {"uid": meta::uid(pod)}, "status": {"conditions": [condition]}}),
    };
    vec![told, marked, Act::Delete { resource: pods::PODS, key: key.clone(), options: Deletion::default() }]
}
