//! A scheduler: a pod gets the first node that fits, by name.
//!
//! Which nodes fit, the filters of `k8s.io/kubernetes/pkg/scheduler/framework/plugins` (v1.37.1) decide, without those for volumes and
//! resource claims. Nodes are not scored, and no pod is preempted.

mod filters;
mod neighbours;
mod refusal;
mod spread;
mod usage;

use super::kubelet::NODES;
use crate::act::Act;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::pods::{self, PODS};
use crate::workloads::facts::read::{self, stamp};
use crate::workloads::facts::{conditions, owners, status, template};
use filters::{Candidate, Verdict};
use machinery::object::meta;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tree::{Value, json};
use usage::Usage;

const NAMESPACES: Resource = Resource::new("", "v1", "namespaces");
const FOLLOWED: &[Resource] = &[PODS, NODES, NAMESPACES];

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
    }

    fn schedule(&self, pod: &Arc<Value>, view: &View<'_>) -> Plan {
        let nodes: Vec<&Arc<Value>> = view.objects.all(&NODES).map(|(_, node)| node).collect();
        if nodes.is_empty() {
            return refuse(pod, "no nodes available to schedule pods", view);
        }
        let nothing = Usage::default();
        let near = neighbours::Neighbours::of(pod, view.objects, &self.unsociable);
        let spread = spread::Spread::of(pod, &nodes, view.objects);
        let mut verdicts = Vec::new();
        for node in &nodes {
            let used = self.used.get(meta::name(node)).unwrap_or(&nothing);
            match filters::filter(pod, &Candidate { node, used }, &near, &spread) {
                Verdict::Fits => return bind(pod, meta::name(node)),
                verdict => verdicts.push(verdict),
            }
        }
        refuse(pod, &refusal::message(pod, &verdicts), view)
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
        template::event(pod, false, "Scheduled", message),
    ])
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
        template::event(pod, true, "FailedScheduling", message.to_owned()),
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
        if *change.resource == NAMESPACES {
            return;
        }
        if *change.resource == PODS {
            self.note_pod(change);
            if self.waiting.contains(change.key) {
                keys.add(change.key.clone());
            }
        }
        let is_settled = change.resource == &NODES || change.object().is_some_and(|pod| !is_waiting(pod));
        if is_settled && makes_room(change) {
            self.waiting.iter().for_each(|key| keys.add(key.clone()));
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let pod = view.objects.get(&PODS, key).filter(|pod| is_waiting(pod));
        pod.map(|pod| self.schedule(pod, view)).unwrap_or_default()
    }
}
