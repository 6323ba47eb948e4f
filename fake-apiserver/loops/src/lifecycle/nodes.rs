//! Nodes that say nothing any more are lost: their state is unknown, their pods are not ready, and others keep away.
//!
//! Follows `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (v1.37.1), which looks every five seconds; here a node is looked at
//! when it changes, and when its time is up. If no node is ready, the fault is not theirs, and no pod is driven out.

use super::health::{Health, lost};
use super::{LEASES, LEASES_OF_NODES, NODES, taints};
use crate::act::{Act, PatchType};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::{conditions, pods, read};
use machinery::object::meta;
use std::collections::HashMap;
use std::time::Duration;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "node-lifecycle-controller",
    alias: "nodelifecycle",
    user: "system:serviceaccount:kube-system:node-controller",
    program: "kube-controller-manager",
    component: "node-controller",
};

/// Labels that nodes have by an older name, too.
const OLDER: [(&str, &str); 2] =
    [("kubernetes.io/os", "beta.kubernetes.io/os"), ("kubernetes.io/arch", "beta.kubernetes.io/arch")];

/// The loop that looks after nodes.
#[derive(Default)]
pub(crate) struct Nodes {
    /// The facts known of each node: its uid, its signs of life, and whether it was ready.
    known: HashMap<String, Known>,
}

#[derive(Default)]
struct Known {
    uid: String,
    health: Health,
    was_ready: bool,
}

impl Loop for Nodes {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[NODES, LEASES, pods::PODS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        let node = |name: &str| Key { namespace: String::new(), name: name.to_owned() };
        match &*change.resource.plural {
            "nodes" => {
                let ready = |node: Option<&Value>| node.map(|node| conditions::holds(node, "Ready"));
                keys.add(change.key.clone());
                if ready(change.old) != ready(change.new) {
                    // Whether pods are driven out depends on the other nodes.
                    objects.all(&NODES).for_each(|(key, _)| keys.add(key.clone()));
                }
            }
            "leases" if change.key.namespace == LEASES_OF_NODES && change.new.is_some() => {
                keys.add(node(&change.key.name))
            }
            _ => {}
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(node) = view.objects.get(&NODES, key) else {
            let gone = self.known.remove(&key.name).map(|known| known.uid);
            let told = gone.map(|uid| {
                event(&key.name, &uid, "RemovingNode", format!("Removing Node {} from Controller", key.name))
            });
            return Plan::of(told.into_iter().collect());
        };
        let mut acts = Vec::new();
        let known = self.known.entry(key.name.clone()).or_default();
        if known.uid != meta::uid(node) {
            *known = Known { uid: meta::uid(node).to_owned(), ..Known::default() };
            acts.push(event(
                &key.name,
                &known.uid,
                "RegisteredNode",
                format!("Registered Node {} in Controller", key.name),
            ));
        }
        let lease = view.objects.get(&LEASES, &Key { namespace: LEASES_OF_NODES.to_owned(), name: key.name.clone() });
        known.health.observe(node, lease.map(|lease| &**lease), view.now);
        let ends = known.health.ends(view.now);
        let left = read::until(ends, view.now);
        let mut now = (**node).clone();
        // It is lost once the time is over, not when it is up.
        if ends < view.now
            && let Some(status) = lost(node, view.now)
        {
            now["status"] = status;
            acts.push(Act::Update { resource: NODES, subresource: "status", object: now.clone() });
        }
        let is_ready = conditions::holds(&now, "Ready");
        let was_ready = std::mem::replace(&mut known.was_ready, is_ready);
        let evicts = view.objects.all(&NODES).any(|(other, one)| other != key && conditions::holds(one, "Ready"));
        acts.extend(taints::of(&now, evicts, view.now).map(|taints| patch(key, json!({"spec": {"taints": taints}}))));
        acts.extend(older_labels(&now).map(|labels| patch(key, json!({"metadata": {"labels": labels}}))));
        if was_ready && !is_ready && conditions::get(&now, "Ready").is_some() {
            let message = format!("Node {} status is now: NodeNotReady", key.name);
            acts.push(event(&key.name, meta::uid(node), "NodeNotReady", message));
            acts.extend(not_ready(&key.name, view));
        }
        let again = left.map(|left| left.saturating_add(Duration::from_millis(1)));
        Plan { acts, again, failed: None }
    }
}

/// An event about a node.
fn event(name: &str, uid: &str, reason: &'static str, message: String) -> Act {
    let about = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": uid}});
    let message = if reason == "NodeNotReady" { message } else { format!("Node {name} event: {message}") };
    Act::Event { about, warning: false, reason: reason.into(), action: "", message }
}

fn patch(key: &Key, patch: Value) -> Act {
    Act::Patch { resource: NODES, key: key.clone(), subresource: "", patch_type: PatchType::Strategic, patch }
}

/// The labels that a node lacks by their older names.
fn older_labels(node: &Value) -> Option<Value> {
    let labels = meta::labels(node);
    let mut missing = json!({});
    for (name, older) in OLDER {
        if let Some(value) = labels.get(name).filter(|value| labels.get(older) != Some(value)) {
            missing[older] = value.into();
        }
    }
    missing.as_object().is_some_and(|missing| !missing.is_empty()).then_some(missing)
}

/// The pods of a node are not ready, either.
fn not_ready(node: &str, view: &View<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    let on_node = view.objects.all(&pods::PODS).filter(|(_, pod)| read::text(pod, "/spec/nodeName") == node);
    for (_, pod) in on_node.filter(|(_, pod)| pods::is_ready(pod)) {
        let mut object = (**pod).clone();
        let all = object["status"].get_mut("conditions").and_then(Value::as_array_mut);
        if let Some(ready) = all.and_then(|all| all.iter_mut().find(|one| read::text(one, "/type") == "Ready")) {
            ready["status"] = "False".into();
            ready["lastTransitionTime"] = read::stamp(view.now).into();
        }
        acts.push(Act::Update { resource: pods::PODS, subresource: "status", object });
        let (about, message) = ((**pod).clone(), "Node is not ready".to_owned());
        acts.push(Act::Event { about, warning: true, reason: "NodeNotReady".into(), action: "", message });
    }
    acts
}
