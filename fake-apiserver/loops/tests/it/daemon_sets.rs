//! `daemonset-controller`, with a scheduler and a kubelet by rule.

use crate::world::World;
use crate::world::look::{PODS, template};
use loops::{Key, Resource};
use std::time::Duration;
use tree::{Value, json};

const SETS: Resource = Resource::new("apps", "v1", "daemonsets");
const NODES: Resource = Resource::new("", "v1", "nodes");

fn world(rules: &str, nodes: usize) -> World {
    let mut loops = loops::workloads::all();
    loops.push(loops::nodes::scheduler());
    let nodes = (1..=nodes).map(|index| format!("node-{index}")).collect();
    loops.push(loops::nodes::kubelet(nodes, String::new(), rules.parse().unwrap(), Default::default()));
    let mut world = World::new(loops);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}});
    world.add_to("", &Resource::new("", "v1", "namespaces"), namespace);
    world.settle();
    world
}

fn set() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "agent", "annotations": {"deprecated.daemonset.template.generation": "1"}},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}}, "template": template("agent", "v1"), "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        },
    })
}

fn edit_node(world: &mut World, name: &str, change: impl FnOnce(&mut Value)) {
    let key = Key { namespace: String::new(), name: name.into() };
    let mut node = (**world.objects.get(&NODES, &key).unwrap()).clone();
    change(&mut node);
    world.set(&NODES, &key, Some(node));
    world.settle();
}

/// The pods by node: image and phase.
fn pods(world: &World) -> Vec<String> {
    let mut all: Vec<String> = world
        .names(&PODS)
        .iter()
        .map(|name| {
            let pod = world.get(&PODS, name);
            let text = |at: &str| pod.pointer(at).and_then(Value::as_str).unwrap_or("-").to_owned();
            format!("{} {} {}", text("/spec/nodeName"), text("/spec/containers/0/image"), text("/status/phase"))
        })
        .collect();
    all.sort();
    all
}

fn rollout(image: &'static str) -> impl FnOnce(&mut Value) {
    move |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
        set["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = "2".into();
    }
}

#[test]
fn every_node_gets_a_pod() {
    let mut world = world("", 2);
    world.add(&SETS, set());
    world.settle();
    assert_eq!(pods(&world), ["node-1 v1 Running", "node-2 v1 Running"]);
    let expected = json!({
        "currentNumberScheduled": 2, "desiredNumberScheduled": 2, "numberMisscheduled": 0, "numberReady": 2,
        "updatedNumberScheduled": 2, "numberAvailable": 2, "observedGeneration": 1,
    });
    assert_eq!(world.get(&SETS, "agent")["status"], expected);
    let pod = world.get(&PODS, &world.names(&PODS)[0]);
    assert_eq!(pod["spec"]["tolerations"].as_array().unwrap().len(), 6);
    assert_eq!(pod["metadata"]["labels"]["pod-template-generation"], "1");
    edit_node(&mut world, "node-2", |node| {
        node["spec"]["taints"] = json!([{"key": "own", "effect": "NoExecute"}]);
    });
    assert_eq!(pods(&world), ["node-1 v1 Running"]);
    assert_eq!(world.get(&SETS, "agent")["status"]["desiredNumberScheduled"], 1);
    edit_node(&mut world, "node-2", |node| node["spec"]["taints"] = json!([]));
    assert_eq!(pods(&world).len(), 2);
}

#[test]
fn only_the_nodes_that_are_selected_get_a_pod() {
    let mut world = world("", 2);
    let mut object = set();
    object["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "fast"});
    world.add(&SETS, object);
    world.settle();
    assert_eq!(pods(&world), [""; 0]);
    edit_node(&mut world, "node-2", |node| node["metadata"]["labels"]["disk"] = "fast".into());
    assert_eq!(pods(&world), ["node-2 v1 Running"]);
}

#[test]
fn an_update_replaces_one_pod_after_the_other() {
    let mut world = world("app=agent: ready after 10s", 2);
    world.add(&SETS, set());
    world.pass(Duration::from_secs(10));
    world.edit(&SETS, "agent", rollout("v2"));
    world.settle();
    assert_eq!(pods(&world), ["node-1 v2 Running", "node-2 v1 Running"]);
    world.pass(Duration::from_secs(10));
    assert_eq!(pods(&world), ["node-1 v2 Running", "node-2 v2 Running"]);
    assert_eq!(world.names(&Resource::new("apps", "v1", "controllerrevisions")).len(), 2);
}

#[test]
fn an_update_may_run_new_pods_beside_old_ones() {
    let mut world = world("app=agent: ready after 10s", 1);
    let mut object = set();
    object["spec"]["updateStrategy"]["rollingUpdate"] = json!({"maxSurge": 1, "maxUnavailable": 0});
    world.add(&SETS, object);
    world.pass(Duration::from_secs(10));
    world.edit(&SETS, "agent", rollout("v2"));
    world.settle();
    assert_eq!(pods(&world), ["node-1 v1 Running", "node-1 v2 Running"]);
    world.pass(Duration::from_secs(10));
    assert_eq!(pods(&world), ["node-1 v2 Running"]);
}

#[test]
fn failed_pods_are_replaced_later_and_later() {
    let mut world = world("", 1);
    world.add(&SETS, set());
    world.settle();
    let fail = |world: &mut World| {
        let name = world.names(&PODS)[0].clone();
        world.edit_status(&PODS, &name, |status| status["phase"] = "Failed".into());
        world.settle();
        name
    };
    let first = fail(&mut world);
    let event =
        format!("Warning FailedDaemonPod: Found failed daemon pod ns/{first} on node node-1, will try to kill it");
    assert!(world.events.contains(&event), "{:?}", world.events);
    assert_eq!(pods(&world), ["node-1 v1 Running"]);
    fail(&mut world);
    assert_eq!(pods(&world), ["node-1 v1 Failed"]);
    world.pass(Duration::from_secs(1));
    assert_eq!(pods(&world), ["node-1 v1 Running"]);
}
