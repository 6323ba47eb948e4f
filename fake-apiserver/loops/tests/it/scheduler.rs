//! The scheduler.

use crate::world::World;
use crate::world::look::{PODS, key};
use loops::{Key, Resource};
use tree::{Value, json};

const NODES: Resource = Resource::new("", "v1", "nodes");

fn world() -> World {
    World::new(vec![loops::nodes::scheduler()])
}

fn add_node(world: &mut World, name: &str, change: impl FnOnce(&mut Value)) {
    let room = json!({"cpu": "2", "memory": "4Gi", "pods": "3"});
    let mut node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": {},
    });
    change(&mut node);
    world.add_to("", &NODES, node.clone());
    let key = Key { namespace: String::new(), name: name.into() };
    let mut node = (**world.objects.get(&NODES, &key).unwrap()).clone();
    node["status"] = json!({"allocatable": room});
    world.set(&NODES, &key, Some(node));
}

fn add_pod(world: &mut World, name: &str, change: impl FnOnce(&mut Value)) {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    });
    change(&mut pod);
    world.add(&PODS, pod);
    world.settle();
}

fn node_of(world: &World, name: &str) -> String {
    world.get(&PODS, name)["spec"]["nodeName"].as_str().unwrap_or("-").to_owned()
}

fn why(world: &World, name: &str) -> String {
    let pod = world.get(&PODS, name);
    let condition = &pod["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("PodScheduled"), &json!("False")));
    assert_eq!(condition["reason"], "Unschedulable");
    condition["message"].as_str().unwrap().to_owned()
}

fn cpus(cpus: &'static str) -> impl FnOnce(&mut Value) {
    move |pod| pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": cpus}})
}

#[test]
fn a_pod_gets_the_first_node_that_fits() {
    let mut world = world();
    add_pod(&mut world, "early", |_| {});
    assert_eq!(why(&world, "early"), "no nodes available to schedule pods");
    add_node(&mut world, "b", |_| {});
    world.settle();
    add_node(&mut world, "a", |_| {});
    assert_eq!(node_of(&world, "early"), "b", "the node that was there first");
    add_pod(&mut world, "next", |_| {});
    assert_eq!(node_of(&world, "next"), "a");
    let events = [
        "Warning FailedScheduling: no nodes available to schedule pods",
        "Normal Scheduled: Successfully assigned ns/early to b",
        "Normal Scheduled: Successfully assigned ns/next to a",
    ];
    assert_eq!(world.events, events);
}

#[test]
fn pods_that_ask_for_too_much_wait_until_others_go() {
    let mut world = world();
    add_node(&mut world, "a", |_| {});
    add_pod(&mut world, "one", cpus("1500m"));
    add_pod(&mut world, "two", cpus("600m"));
    let message = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: \
                   1 No preemption victims found for incoming pod.";
    assert_eq!(why(&world, "two"), message);
    assert_eq!(world.events.last().unwrap(), &format!("Warning FailedScheduling: {message}"));
    add_pod(&mut world, "huge", cpus("3"));
    let message = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: \
                   1 Preemption is not helpful for scheduling.";
    assert_eq!(why(&world, "huge"), message);
    world.edit_status(&PODS, "one", |status| status["phase"] = "Succeeded".into());
    world.settle();
    assert_eq!(node_of(&world, "two"), "a", "a pod that has ended takes no room");
    for name in ["three", "four", "five"] {
        add_pod(&mut world, name, |_| {});
    }
    assert_eq!(["three", "four", "five"].map(|name| node_of(&world, name)), ["a", "a", "-"]);
    assert!(why(&world, "five").contains("1 Too many pods."), "{}", why(&world, "five"));
}

#[test]
fn nodes_that_are_no_choice_are_counted_by_their_reasons() {
    let mut world = world();
    add_node(&mut world, "a", |node| node["spec"]["unschedulable"] = true.into());
    add_node(&mut world, "b", |node| {
        node["spec"]["taints"] = json!([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]);
    });
    add_node(&mut world, "c", |node| node["metadata"]["labels"]["zone"] = "1".into());
    add_pod(&mut world, "choosy", |pod| pod["spec"]["nodeSelector"] = json!({"zone": "2"}));
    let message = "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, \
                   1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. preemption: \
                   0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
    assert_eq!(why(&world, "choosy"), message);
    add_pod(&mut world, "tolerant", |pod| {
        pod["spec"]["tolerations"] = json!([{"key": "gpu", "operator": "Exists"}]);
    });
    assert_eq!(node_of(&world, "tolerant"), "b");
    add_pod(&mut world, "affine", |pod| {
        let expression = json!({"key": "zone", "operator": "Lt", "values": ["2"]});
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({"nodeSelectorTerms": [{"matchExpressions": [expression]}]});
    });
    assert_eq!(node_of(&world, "affine"), "c");
}

#[test]
fn pods_that_do_not_bear_each_other_are_apart() {
    let mut world = world();
    for name in ["a", "b"] {
        add_node(&mut world, name, |_| {});
    }
    let apart = |pod: &mut Value| {
        pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!([{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}]);
    };
    for name in ["one", "two", "three"] {
        add_pod(&mut world, name, apart);
    }
    assert_eq!(["one", "two", "three"].map(|name| node_of(&world, name)), ["a", "b", "-"]);
    assert!(
        why(&world, "three").starts_with("0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.")
    );
    add_pod(&mut world, "meek", |_| {});
    assert!(why(&world, "meek").contains("2 node(s) didn't satisfy existing pods anti-affinity rules."));
    add_pod(&mut world, "other", |pod| pod["metadata"]["labels"]["app"] = "other".into());
    assert_eq!(node_of(&world, "other"), "a");
    add_pod(&mut world, "near", |pod| {
        pod["metadata"]["labels"]["app"] = "near".into();
        let selector = json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]});
        pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!([{"topologyKey": "missing", "labelSelector": selector}]);
    });
    assert!(why(&world, "near").contains("2 node(s) didn't match pod affinity rules."));
    world.set(&PODS, &key("one"), None);
    world.settle();
    assert_eq!(["three", "meek"].map(|name| node_of(&world, name)), ["-", "a"], "the first one that waits, by name");
}

#[test]
fn pods_are_spread_and_ports_are_used_once() {
    let mut world = world();
    for name in ["a", "b"] {
        add_node(&mut world, name, |_| {});
    }
    let spread = |pod: &mut Value| {
        pod["spec"]["topologySpreadConstraints"] = json!([{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }]);
    };
    for name in ["one", "two", "three", "four"] {
        add_pod(&mut world, name, spread);
    }
    assert_eq!(["one", "two", "three", "four"].map(|name| node_of(&world, name)), ["a", "b", "a", "b"]);
    let port = |pod: &mut Value| {
        pod["metadata"]["labels"]["app"] = "ports".into();
        pod["spec"]["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 80}]);
    };
    for name in ["x", "y", "z"] {
        add_pod(&mut world, name, port);
    }
    assert_eq!(["x", "y", "z"].map(|name| node_of(&world, name)), ["a", "b", "-"]);
    assert!(why(&world, "z").contains("2 node(s) didn't have free ports for the requested pod ports."));
}

#[test]
fn gated_pods_and_those_of_other_schedulers_are_left_alone() {
    let mut world = world();
    add_node(&mut world, "a", |_| {});
    add_pod(&mut world, "gated", |pod| pod["spec"]["schedulingGates"] = json!([{"name": "wait"}]));
    add_pod(&mut world, "other", |pod| pod["spec"]["schedulerName"] = "mine".into());
    assert_eq!(["gated", "other"].map(|name| node_of(&world, name)), ["-", "-"]);
    assert_eq!(world.events, [""; 0]);
    world.edit(&PODS, "gated", |pod| pod["spec"]["schedulingGates"] = json!([]));
    world.settle();
    assert_eq!(node_of(&world, "gated"), "a");
}
