//! A scheduler: a pod gets the first node that fits, by name.
//!
//! Which nodes fit, the filters of `k8s.io/kubernetes/pkg/scheduler/framework/plugins` (v1.37.1) decide, without
//! that for resource claims, and of those for volumes only `volumebinding`. Nodes are not scored, and no pod is preempted.

mod filters;
mod neighbours;
mod refusal;
mod spread;
mod usage;
mod volumes;

use super::kubelet::NODES;
use crate::act::Act;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::volumes::needs;
use crate::volumes::{CLAIMS, CLASSES, VOLUMES};
use crate::workloads::facts::pods::{self, PODS};
use crate::workloads::facts::read::{self, stamp};
use crate::workloads::facts::{conditions, owners, status};
use filters::{Candidate, Surroundings, Verdict};
use machinery::object::meta;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use tree::{Value, json};
use usage::Usage;
use volumes::{Binding, Claims};

const NAMESPACES: Resource = Resource::new("", "v1", "namespaces");
const FOLLOWED: &[Resource] = &[PODS, NODES, NAMESPACES, CLAIMS, VOLUMES, CLASSES];

static PROFILE: Profile = Profile {
    name: "kube-scheduler",
    alias: "",
    user: "system:kube-scheduler",
    program: "kube-scheduler",
    component: "default-scheduler",
};

/// The scheduler.
#[derive(Default)]
pub(super) struct Scheduler {
    /// The use of each node.
    used: HashMap<String, Usage>,
    /// Pods without a node.
    waiting: BTreeSet<Key>,
    /// Those of them that no node fitted.
    refused: BTreeSet<Key>,
    /// Those of them with claims, by claim.
    claimed: BTreeMap<Key, BTreeSet<Key>>,
    /// Pods on nodes that do not want others near them.
    unsociable: BTreeSet<Key>,
}

/// Whether it is this scheduler's task to find a node for a pod.
fn is_waiting(pod: &Value) -> bool {
    read::text(pod, "/spec/nodeName").is_empty()
        && !pods::is_terminal(pod)
        && !pods::is_going(pod)
        && matches!(read::text(pod, "/spec/schedulerName"), "" | "default-scheduler")
        && read::list(pod, "/spec/schedulingGates").is_empty()
}

/// The node whose resources a pod uses.
fn node_of(pod: &Value) -> Option<&str> {
    Some(read::text(pod, "/spec/nodeName")).filter(|node| !node.is_empty() && !pods::is_terminal(pod))
}

impl Scheduler {
    fn note_pod(&mut self, change: &Change<'_>) {
        if let Some((node, pod)) = change.old.and_then(|pod| Some((node_of(pod)?, pod))) {
            self.used.entry(node.to_owned()).or_default().remove(pod);
        }
        if let Some((node, pod)) = change.new.and_then(|pod| Some((node_of(pod)?, pod))) {
            self.used.entry(node.to_owned()).or_default().add(pod);
        }
        let is_unsociable =
            |pod: &&Value| node_of(pod).is_some() && !neighbours::terms(pod, neighbours::ANTI_AFFINITY).is_empty();
        let mark = |set: &mut BTreeSet<Key>, is_in: bool| match is_in {
            true => set.insert(change.key.clone()),
            false => set.remove(change.key),
        };
        mark(&mut self.unsociable, change.new.filter(is_unsociable).is_some());
        mark(&mut self.waiting, change.new.is_some_and(is_waiting));
        if !self.waiting.contains(change.key) {
            self.refused.remove(change.key);
        }
        let keys = |pod: &Value| -> Vec<Key> {
            let key = |(name, _)| Key { namespace: change.key.namespace.clone(), name };
            needs::claims(pod).map(key).collect()
        };
        for key in change.old.iter().flat_map(|pod| keys(pod)) {
            self.claimed.entry(key.clone()).or_default().remove(change.key);
            if self.claimed[&key].is_empty() {
                self.claimed.remove(&key);
            }
        }
        for key in change.new.filter(|pod| is_waiting(pod)).iter().flat_map(|pod| keys(pod)) {
            self.claimed.entry(key).or_default().insert(change.key.clone());
        }
    }

    /// The acts for a pod.
    ///
    /// # Errors
    /// Why no node fits it.
    fn schedule(&self, pod: &Arc<Value>, view: &View<'_>) -> Result<Plan, String> {
        let nodes: Vec<&Arc<Value>> = view.objects.all(&NODES).map(|(_, node)| node).collect();
        if nodes.is_empty() {
            return Err("no nodes available to schedule pods".to_owned());
        }
        let nothing = Usage::default();
        let claims = Claims::of(pod, view.objects).map_err(|why| refusal::of_all(pod, &why, nodes.len()))?;
        let surroundings = Surroundings {
            objects: view.objects,
            claims,
            near: neighbours::Neighbours::of(pod, view.objects, &self.unsociable),
            spread: spread::Spread::of(pod, &nodes, view.objects),
        };
        let mut verdicts = Vec::new();
        for node in &nodes {
            let used = self.used.get(meta::name(node)).unwrap_or(&nothing);
            match filters::filter(pod, &Candidate { node, used }, &surroundings) {
                Verdict::Fits => {
                    return match surroundings.claims.bind(node, view.objects) {
                        Binding::Done => Ok(bind(pod, meta::name(node))),
                        Binding::Begun(acts) => Ok(Plan::of(acts)),
                    };
                }
                verdict => verdicts.push(verdict),
            }
        }
        Err(refusal::message(pod, &verdicts))
    }
}

fn bind(pod: &Value, node: &str) -> Plan {
    let (namespace, name) = (meta::namespace(pod), meta::name(pod));
    let object = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "namespace": namespace, "uid": meta::uid(pod)},
        "target": {"kind": "Node", "name": node},
    });
    let message = format!("Successfully assigned {namespace}/{name} to {node}");
    Plan::of(vec![
        Act::Create { resource: PODS, key: owners::key(pod), subresource: "binding", object },
        told(pod, false, "Scheduled", "Binding", message),
    ])
}

fn told(pod: &Value, warning: bool, reason: &'static str, action: &'static str, message: String) -> Act {
    Act::Event { about: pod.clone(), warning, reason: reason.into(), action, message }
}

/// Says why a pod gets no node, unless it says so already.
fn refuse(pod: &Value, message: &str, view: &View<'_>) -> Plan {
    let old = conditions::get(pod, "PodScheduled");
    let is_said = |old: &Value| read::text(old, "/message") == message && read::text(old, "/status") == "False";
    if old.is_some_and(is_said) {
        return Plan::default();
    }
    let since =
        old.filter(|old| read::text(old, "/status") == "False").map(|old| read::text(old, "/lastTransitionTime"));
    let mut condition = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastTransitionTime": since.map_or_else(|| stamp(view.now), str::to_owned),
    });
    status::count(&mut condition, "observedGeneration", meta::generation(pod));
    let mut new = status::of(pod);
    conditions::remove(&mut new, "PodScheduled");
    conditions::push(&mut new, condition);
    let mut object = pod.clone();
    object["status"] = new;
    Plan::of(vec![
        told(pod, true, "FailedScheduling", "Scheduling", message.to_owned()),
        Act::Update { resource: PODS, subresource: "status", object },
    ])
}

/// Whether a change may let pods onto nodes that got none before.
fn makes_room(change: &Change<'_>) -> bool {
    let (Some(old), Some(new)) = (change.old, change.new) else {
        return change.new.is_some() || *change.resource == PODS;
    };
    let differs = |at: &str| old.pointer(at) != new.pointer(at);
    match *change.resource == NODES {
        true => ["/metadata/labels", "/spec", "/status/allocatable"].into_iter().any(differs),
        false => differs("/metadata/labels") || node_of(old) != node_of(new),
    }
}

impl Loop for Scheduler {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _objects: &Objects, keys: &mut Keys) {
        match &*change.resource.plural {
            "namespaces" => return,
            "persistentvolumeclaims" => {
                return self.claimed.get(change.key).into_iter().flatten().for_each(|key| keys.add(key.clone()));
            }
            "persistentvolumes" | "storageclasses" => {
                return self.claimed.values().flatten().for_each(|key| keys.add(key.clone()));
            }
            _ => {}
        }
        if *change.resource == PODS {
            self.note_pod(change);
            if self.waiting.contains(change.key) {
                keys.add(change.key.clone());
            }
        }
        let is_settled = change.resource == &NODES || change.object().is_some_and(|pod| !is_waiting(pod));
        if is_settled && makes_room(change) {
            std::mem::take(&mut self.refused).into_iter().for_each(|key| keys.add(key));
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(pod) = view.objects.get(&PODS, key).filter(|pod| is_waiting(pod)) else { return Plan::default() };
        self.schedule(pod, view).unwrap_or_else(|why| {
            self.refused.insert(key.clone());
            refuse(pod, &why, view)
        })
    }
}
