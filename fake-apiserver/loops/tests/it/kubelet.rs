//! The kubelet by rule.

use crate::world::World;
use crate::world::look::{PODS, key, template};
use loops::{Key, Resource};
use std::time::Duration;
use tree::{Value, json};

fn spec(image: &str, policy: &str) -> Value {
    let mut spec = template("", image)["spec"].clone();
    spec["restartPolicy"] = policy.into();
    spec
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_node_is_registered_and_keeps_its_lease() {
    let mut world = World::with_kubelet(Vec::new(), "");
    let nodes = Resource::new("", "v1", "nodes");
    let node_key = Key { namespace: String::new(), name: "node-1".into() };
    let mut node = (**world.objects.get(&nodes, &node_key).unwrap()).clone();
    assert_eq!(node["status"]["conditions"][3]["type"], "Ready");
    let leases = Resource::new("coordination.k8s.io", "v1", "leases");
    let lease_key = Key { namespace: "kube-node-lease".into(), name: "node-1".into() };
    let renewed = |world: &World| world.objects.get(&leases, &lease_key).unwrap()["spec"]["renewTime"].clone();
    assert_eq!(renewed(&world), "2026-01-01T00:00:00.000000Z");
    world.pass(seconds(25));
    assert_eq!(renewed(&world), "2026-01-01T00:00:20.000000Z");
    node["metadata"]["resourceVersion"] =
        world.objects.get(&nodes, &node_key).unwrap()["metadata"]["resourceVersion"].clone();
    world.set(&nodes, &node_key, None);
    world.pass(seconds(25));
    assert!(world.objects.get(&nodes, &node_key).is_none(), "a node that was deleted stays away");
}

#[test]
fn a_pod_runs_and_is_ready_at_once() {
    let mut world = World::with_kubelet(Vec::new(), "");
    let mut spec = spec("nginx", "Always");
    spec["initContainers"] = json!([
        {"name": "first", "image": "i"}, {"name": "beside", "image": "s", "restartPolicy": "Always"},
    ]);
    world.add_pod("web", "web", spec);
    world.settle();
    let status = world.get(&PODS, "web")["status"].clone();
    let time = "2026-01-01T00:00:00Z";
    let condition =
        |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": time, "observedGeneration": 1});
    let kinds = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    assert_eq!(status["conditions"], kinds.map(condition).into_iter().collect::<Value>());
    assert_eq!(status["phase"], "Running");
    assert_eq!((&status["podIP"], &status["hostIP"]), (&json!("10.244.0.1"), &json!("192.168.0.2")));
    assert_eq!((&status["podIPs"], &status["startTime"]), (&json!([{"ip": "10.244.0.1"}]), &json!(time)));
    let container = &status["containerStatuses"][0];
    assert_eq!(container["state"], json!({"running": {"startedAt": time}}));
    assert_eq!((&container["ready"], &container["started"]), (&json!(true), &json!(true)));
    let init = &status["initContainerStatuses"];
    assert_eq!(init[0]["state"]["terminated"]["reason"], "Completed");
    assert_eq!((&init[0]["ready"], &init[1]["ready"]), (&json!(true), &json!(true)));
    assert!(init[1]["state"]["running"].is_object(), "{init}");
}

#[test]
fn rules_say_what_becomes_of_pods() {
    let rules = "app=slow: ready after 2s; app=late: running after 3s; image=*:bad: ImagePullBackOff; pod/stuck: pending;\
                 app=ends: exit 3 after 5s";
    let mut world = World::with_kubelet(Vec::new(), rules);
    for (name, app, image, policy) in [
        ("slow", "slow", "x", "Always"),
        ("late", "late", "x", "Always"),
        ("bad", "web", "x:bad", "Always"),
        ("stuck", "web", "x", "Always"),
        ("ends", "ends", "x", "Never"),
    ] {
        world.add_pod(name, app, spec(image, policy));
    }
    let states = |world: &World| ["slow", "late", "bad", "stuck", "ends"].map(|name| world.state(name));
    world.settle();
    assert_eq!(
        states(&world),
        [
            "Running running 0",
            "Pending ContainerCreating 0",
            "Pending ImagePullBackOff 0",
            "Pending ContainerCreating 0",
            "Running running 0",
        ]
    );
    assert_eq!(world.conditions(&PODS, "slow")[2], "Ready=False ContainersNotReady");
    world.pass(seconds(2));
    assert_eq!(world.state("slow"), "Running running ready 0");
    world.pass(seconds(3));
    assert_eq!(
        states(&world),
        [
            "Running running ready 0",
            "Running running 0",
            "Pending ImagePullBackOff 0",
            "Pending ContainerCreating 0",
            "Failed exit 3 0",
        ]
    );
    let conditions = [
        "PodReadyToStartContainers=False",
        "Initialized=True",
        "Ready=False PodFailed",
        "ContainersReady=False PodFailed",
        "PodScheduled=True",
    ];
    assert_eq!(world.conditions(&PODS, "ends"), conditions);
    assert!(
        world.events.contains(&"Normal BackOff: Back-off pulling image \"x:bad\"".to_owned()),
        "{:?}",
        world.events
    );
    world.edit(&PODS, "bad", |pod| pod["spec"]["containers"][0]["image"] = "x:good".into());
    world.settle();
    assert_eq!(world.state("bad"), "Running running ready 0", "a better image is pulled");
}

#[test]
fn containers_that_crash_are_started_again_later_and_later() {
    let mut world = World::with_kubelet(Vec::new(), "*: crash loop");
    world.add_pod("web", "web", spec("x", "Always"));
    world.settle();
    assert_eq!(world.state("web"), "Running CrashLoopBackOff 1", "the first restart is at once");
    let message = &world.get(&PODS, "web")["status"]["containerStatuses"][0]["state"]["waiting"]["message"];
    let uid = world.get(&PODS, "web")["metadata"]["uid"].clone();
    let expected = format!("back-off 10s restarting failed container=c pod=web_ns({})", uid.as_str().unwrap());
    assert_eq!(*message, expected.as_str());
    for (passed, restarts) in [(9, 1), (1, 2), (19, 2), (1, 3), (40, 4), (80, 5), (160, 6), (299, 6), (1, 7), (300, 8)]
    {
        world.pass(seconds(passed));
        assert_eq!(world.state("web"), format!("Running CrashLoopBackOff {restarts}"));
    }
}

#[test]
fn some_of_the_pods_of_an_owner_fail() {
    let mut world = World::with_kubelet(Vec::new(), "job/*: fail 1 of 3");
    for name in ["a", "b", "c", "d"] {
        world.add_pod(name, "work", spec("x", "Never"));
        let owner = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "work", "uid": "u", "controller": true}]);
        let mut pod = world.get(&PODS, name);
        pod["metadata"]["ownerReferences"] = owner;
        world.set(&PODS, &key(name), Some(pod));
        world.settle();
    }
    let states = ["a", "b", "c", "d"].map(|name| world.state(name));
    assert_eq!(states, ["Failed exit 1 0", "Succeeded exit 0 0", "Succeeded exit 0 0", "Failed exit 1 0"]);
}

#[test]
fn a_pod_that_is_deleted_ends_and_goes_as_its_rule_says() {
    let rules = "app=slow: ready, gone after 5s; app=stubborn: ready, gone after grace";
    let mut world = World::with_kubelet(Vec::new(), rules);
    for name in ["quick", "slow", "stubborn"] {
        world.add_pod(name, name, spec("x", "Always"));
    }
    world.settle();
    for name in ["quick", "slow", "stubborn"] {
        let mut pod = world.get(&PODS, name);
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z".into();
        pod["metadata"]["deletionGracePeriodSeconds"] = 30.into();
        world.set(&PODS, &key(name), Some(pod));
    }
    world.settle();
    assert_eq!(world.names(&PODS), ["slow", "stubborn"]);
    world.pass(seconds(5));
    assert_eq!(world.names(&PODS), ["stubborn"]);
    world.pass(seconds(24));
    assert_eq!(world.names(&PODS), ["stubborn"]);
    world.pass(seconds(1));
    assert_eq!(world.names(&PODS), [""; 0]);
}

#[test]
fn a_pod_with_finalizers_ends_and_stays() {
    let mut world = World::with_kubelet(Vec::new(), "");
    world.add_pod("web", "web", spec("x", "Always"));
    world.edit(&PODS, "web", |pod| pod["metadata"]["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]));
    world.settle();
    world.delete(&PODS, &key("web"), None);
    world.settle();
    assert_eq!(world.state("web"), "Succeeded exit 0 0");
    assert_eq!(world.get(&PODS, "web")["metadata"]["deletionGracePeriodSeconds"], 0);
}

#[test]
fn a_pod_whose_time_is_over_fails() {
    let mut world = World::with_kubelet(Vec::new(), "");
    let mut spec = spec("x", "Always");
    spec["activeDeadlineSeconds"] = 10.into();
    world.add_pod("web", "web", spec);
    world.settle();
    world.pass(seconds(9));
    assert_eq!(world.state("web"), "Running running ready 0");
    world.pass(seconds(1));
    assert_eq!(world.state("web"), "Failed exit 137 0");
    assert_eq!(world.get(&PODS, "web")["status"]["reason"], "DeadlineExceeded");
}
