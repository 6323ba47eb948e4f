//! `replicaset-controller` and `replicationcontroller-controller`.

use crate::world::World;
use crate::world::look::{PODS, SETS, key, template};
use loops::{Act, Refusal};
use std::time::Duration;
use tree::{Value, json};

fn set(replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template("web", "nginx")},
    })
}

fn pod(name: &str, app: &str) -> Value {
    let labels = json!({"app": app});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": {"containers": []}})
}

#[test]
fn a_set_gets_its_pods_and_counts_them() {
    let mut world = World::of_workloads();
    world.add(&SETS, set(3));
    world.settle();
    let status = json!({"replicas": 3, "fullyLabeledReplicas": 3, "terminatingReplicas": 0, "observedGeneration": 1});
    assert_eq!(world.get(&SETS, "web")["status"], status);
    world.live();
    let status = &world.get(&SETS, "web")["status"];
    assert_eq!((&status["readyReplicas"], &status["availableReplicas"]), (&json!(3), &json!(3)));
    let names = world.names(&PODS);
    let events: Vec<String> = world.events.clone();
    assert_eq!(events.len(), 3, "{events:?}");
    for name in &names {
        assert!(events.contains(&format!("Normal SuccessfulCreate: Created pod: {name}")), "{name} in {events:?}");
        let pod = world.get(&PODS, name);
        assert_eq!(pod["metadata"]["generateName"], "web-");
        let owner = json!([{
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": world.get(&SETS, "web")["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": true,
        }]);
        assert_eq!(pod["metadata"]["ownerReferences"], owner);
    }
}

#[test]
fn a_replication_controller_does_the_same() {
    let controllers = loops::Resource::new("", "v1", "replicationcontrollers");
    let mut world = World::of_workloads();
    let object = json!({
        "apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"},
        "spec": {"replicas": 2, "selector": {"app": "old"}, "template": template("old", "nginx")},
    });
    world.add(&controllers, object);
    world.live();
    let status = json!({
        "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "observedGeneration": 1,
    });
    assert_eq!(world.get(&controllers, "old")["status"], status);
}

#[test]
fn pods_that_match_are_adopted_and_others_released() {
    let mut world = World::of_workloads();
    world.add(&PODS, pod("mine", "web"));
    world.add(&SETS, set(1));
    world.settle();
    assert_eq!(world.names(&PODS), ["mine"]);
    assert_eq!(world.get(&PODS, "mine")["metadata"]["ownerReferences"][0]["name"], "web");
    world.edit(&PODS, "mine", |pod| pod["metadata"]["labels"]["app"] = "other".into());
    world.settle();
    assert_eq!(world.get(&PODS, "mine")["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len), 0);
    assert_eq!(world.names(&PODS).len(), 2, "the set has another one instead");
}

#[test]
fn pods_that_are_worth_least_go_first() {
    let mut world = World::of_workloads();
    world.add(&SETS, set(4));
    world.live();
    let names = world.names(&PODS);
    let cost = |cost: &'static str| {
        move |pod: &mut Value| {
            pod["metadata"]["annotations"] = json!({"controller.kubernetes.io/pod-deletion-cost": cost});
        }
    };
    world.edit(&PODS, &names[0], cost("-5"));
    world.edit(&PODS, &names[1], cost("7"));
    world.edit_status(&PODS, &names[2], |status| status["conditions"][0]["status"] = "False".into());
    world.events.clear();
    for (left, gone) in [(3, &names[2]), (2, &names[0]), (1, &names[3])] {
        world.edit(&SETS, "web", |set| set["spec"]["replicas"] = left.into());
        world.settle();
        assert_eq!(world.events.pop().unwrap(), format!("Normal SuccessfulDelete: Deleted pod: {gone}"));
    }
    assert_eq!(world.get(&SETS, "web")["status"]["terminatingReplicas"], 3);
    world.live();
    assert_eq!(world.names(&PODS), [names[1].clone()]);
    assert_eq!(world.get(&SETS, "web")["status"]["terminatingReplicas"], 0);
}

#[test]
fn a_set_that_may_not_create_pods_says_so_until_it_may() {
    let mut world = World::of_workloads();
    world.refuses = Some(|act| {
        let Act::Create { resource, .. } = act else { return None };
        let message = "pods \"web\" is forbidden: exceeded quota".to_owned();
        (*resource == PODS).then_some(Refusal { code: 403, reason: "Forbidden".to_owned(), message })
    });
    world.add(&SETS, set(2));
    world.settle();
    assert_eq!(world.conditions(&SETS, "web"), ["ReplicaFailure=True FailedCreate"]);
    assert_eq!(world.events[0], "Warning FailedCreate: Error creating: pods \"web\" is forbidden: exceeded quota");
    world.refuses = None;
    world.pass(Duration::from_secs(60));
    assert_eq!(world.conditions(&SETS, "web"), [""; 0]);
    assert_eq!(world.names(&PODS).len(), 2);
}

#[test]
fn pods_are_available_once_they_have_been_ready_for_long_enough() {
    let mut world = World::of_workloads();
    let mut object = set(1);
    object["spec"]["minReadySeconds"] = 10.into();
    world.add(&SETS, object);
    world.live();
    let available = |world: &World| world.get(&SETS, "web")["status"]["availableReplicas"].as_i64();
    world.pass(Duration::from_secs(9));
    assert_eq!(available(&world), None);
    world.pass(Duration::from_secs(1));
    assert_eq!(available(&world), Some(1));
}

#[test]
fn a_set_that_is_being_deleted_adopts_and_creates_nothing() {
    let mut world = World::of_workloads();
    let mut object = set(2);
    object["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    world.add(&SETS, object);
    world.delete(&SETS, &key("web"), None);
    world.add(&PODS, pod("stray", "web"));
    world.settle();
    assert_eq!(world.names(&PODS), ["stray"]);
    assert!(world.get(&PODS, "stray")["metadata"]["ownerReferences"].is_null());
}
