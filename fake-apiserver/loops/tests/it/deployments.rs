//! `deployment-controller`, with the controller of replica sets and pods that run at once.

use crate::world::World;
use crate::world::look::{DEPLOYMENTS, PODS, SETS, template};
use std::time::Duration;
use tree::{Value, json};

fn deployment(replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "annotations": {"team": "a"}},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template("web", "v1"),
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "revisionHistoryLimit": 2, "progressDeadlineSeconds": 600,
        },
    })
}

fn image(image: &'static str) -> impl FnOnce(&mut Value) {
    move |object| object["spec"]["template"]["spec"]["containers"][0]["image"] = image.into()
}

/// Replica sets by revision: their image, and how many replicas they want and have.
fn sets(world: &World) -> Vec<(String, String, i64)> {
    let mut sets: Vec<_> = world
        .names(&SETS)
        .iter()
        .map(|name| {
            let set = world.get(&SETS, name);
            let text = |at: &str| set.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
            let revision = text("/metadata/annotations/deployment.kubernetes.io~1revision");
            (revision, text("/spec/template/spec/containers/0/image"), set["spec"]["replicas"].as_i64().unwrap())
        })
        .collect();
    sets.sort();
    sets
}

fn row(revision: &str, image: &str, replicas: i64) -> (String, String, i64) {
    (revision.to_owned(), image.to_owned(), replicas)
}

#[test]
fn a_deployment_becomes_available() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(3));
    world.settle();
    let conditions = ["Progressing=True ReplicaSetUpdated", "Available=False MinimumReplicasUnavailable"];
    let mut found = world.conditions(&DEPLOYMENTS, "web");
    found.sort();
    found.reverse();
    assert_eq!(found, conditions);
    world.live();
    let conditions = ["Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"];
    assert_eq!(world.conditions(&DEPLOYMENTS, "web"), conditions);
    let object = world.get(&DEPLOYMENTS, "web");
    let mut status = object["status"].clone();
    status.as_object_mut().unwrap().remove("conditions");
    let counts = json!({
        "observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
        "terminatingReplicas": 0,
    });
    assert_eq!(status, counts);
    let annotations = json!({"team": "a", "deployment.kubernetes.io/revision": "1"});
    assert_eq!(object["metadata"]["annotations"], annotations);
    let set = world.get(&SETS, &world.names(&SETS)[0]);
    let annotations = json!({
        "team": "a", "deployment.kubernetes.io/revision": "1", "deployment.kubernetes.io/desired-replicas": "3",
        "deployment.kubernetes.io/max-replicas": "4",
    });
    assert_eq!(set["metadata"]["annotations"], annotations);
    let hash = set["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(set["metadata"]["name"], format!("web-{hash}").as_str());
    assert_eq!(set["spec"]["selector"]["matchLabels"]["pod-template-hash"], hash);
    let scaled = format!("Normal ScalingReplicaSet: Scaled up replica set web-{hash} from 0 to 3");
    assert_eq!(world.events[0], scaled);
}

#[test]
fn a_rollout_keeps_enough_pods_and_ends_with_the_new_ones() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(4));
    world.live();
    world.edit(&DEPLOYMENTS, "web", image("v2"));
    world.settle();
    assert_eq!(sets(&world), [row("1", "v1", 3), row("2", "v2", 2)], "one more and one fewer at a time");
    world.live();
    assert_eq!(sets(&world), [row("1", "v1", 0), row("2", "v2", 4)]);
    assert_eq!(world.names(&PODS).len(), 4);
    world.edit(&DEPLOYMENTS, "web", image("v1"));
    world.live();
    assert_eq!(sets(&world), [row("2", "v2", 0), row("3", "v1", 4)], "undone: the old set has the new revision");
    let old = world.names(&SETS).into_iter().map(|name| world.get(&SETS, &name));
    let history = "deployment.kubernetes.io/revision-history";
    let histories: Vec<Value> = old.map(|set| set["metadata"]["annotations"][history].clone()).collect();
    assert!(histories.contains(&json!("1")), "{histories:?}");
}

#[test]
fn sets_beyond_the_limit_of_history_go() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(1));
    for version in ["v1", "v2", "v3", "v4", "v5"] {
        world.edit(&DEPLOYMENTS, "web", image(version));
        world.live();
    }
    assert_eq!(sets(&world), [row("3", "v3", 0), row("4", "v4", 0), row("5", "v5", 1)]);
}

#[test]
fn a_paused_deployment_is_scaled_and_not_rolled_out() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(2));
    world.live();
    world.edit(&DEPLOYMENTS, "web", |object| object["spec"]["paused"] = true.into());
    world.edit(&DEPLOYMENTS, "web", image("v2"));
    world.edit(&DEPLOYMENTS, "web", |object| object["spec"]["replicas"] = 3.into());
    world.live();
    assert_eq!(sets(&world), [row("1", "v1", 3)]);
    assert!(world.conditions(&DEPLOYMENTS, "web").contains(&"Progressing=Unknown DeploymentPaused".to_owned()));
    world.edit(&DEPLOYMENTS, "web", |object| object["spec"]["paused"] = false.into());
    world.live();
    assert_eq!(sets(&world), [row("1", "v1", 0), row("2", "v2", 3)]);
    assert!(world.conditions(&DEPLOYMENTS, "web").contains(&"Progressing=True NewReplicaSetAvailable".to_owned()));
}

#[test]
fn a_rollout_that_is_scaled_in_the_middle_grows_in_proportion() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(8));
    world.live();
    world.edit(&DEPLOYMENTS, "web", image("v2"));
    world.settle();
    assert_eq!(sets(&world), [row("1", "v1", 6), row("2", "v2", 4)]);
    world.edit(&DEPLOYMENTS, "web", |object| object["spec"]["replicas"] = 16.into());
    world.settle();
    assert_eq!(sets(&world), [row("1", "v1", 12), row("2", "v2", 8)]);
}

#[test]
fn a_deployment_that_recreates_waits_for_the_last_old_pod() {
    let mut world = World::of_workloads();
    let mut object = deployment(2);
    object["spec"]["strategy"] = json!({"type": "Recreate"});
    world.add(&DEPLOYMENTS, object);
    world.live();
    world.edit(&DEPLOYMENTS, "web", image("v2"));
    world.settle();
    assert_eq!(sets(&world), [row("1", "v1", 0)], "the old pods are still there");
    world.live();
    assert_eq!(sets(&world), [row("1", "v1", 0), row("2", "v2", 2)]);
}

#[test]
fn a_rollout_that_does_not_progress_is_late() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(1));
    world.settle();
    world.pass(Duration::from_secs(600));
    assert!(!world.conditions(&DEPLOYMENTS, "web").contains(&"Progressing=False ProgressDeadlineExceeded".to_owned()));
    world.pass(Duration::from_secs(2));
    assert!(world.conditions(&DEPLOYMENTS, "web").contains(&"Progressing=False ProgressDeadlineExceeded".to_owned()));
}

#[test]
fn another_set_with_the_name_makes_a_collision() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(1));
    world.settle();
    let name = world.names(&SETS)[0].clone();
    let mut other = World::of_workloads();
    let stranger = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name.as_str()},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "else"}}, "template": template("else", "v1")},
    });
    other.add(&SETS, stranger);
    other.add(&DEPLOYMENTS, deployment(1));
    other.live();
    assert_eq!(other.get(&DEPLOYMENTS, "web")["status"]["collisionCount"], 1);
    assert_eq!(other.names(&SETS).len(), 2);
}

#[test]
fn an_old_client_rolls_back_by_annotation() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, deployment(1));
    world.live();
    world.edit(&DEPLOYMENTS, "web", image("v2"));
    world.live();
    let to = |revision: &'static str| {
        move |object: &mut Value| {
            object["metadata"]["annotations"]["deprecated.deployment.rollback.to"] = revision.into();
        }
    };
    world.events.clear();
    world.edit(&DEPLOYMENTS, "web", to("1"));
    world.live();
    assert_eq!(world.events[0], "Normal DeploymentRollback: Rolled back deployment \"web\" to revision 1");
    assert_eq!(sets(&world), [row("2", "v2", 0), row("3", "v1", 1)]);
    world.events.clear();
    world.edit(&DEPLOYMENTS, "web", to("9"));
    world.live();
    let found = "Warning DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.";
    assert_eq!(world.events, [found]);
}
