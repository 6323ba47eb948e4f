//! `statefulset-controller`, with a scheduler and a kubelet by rule.

use crate::world::World;
use crate::world::look::{PODS, template};
use loops::Resource;
use std::time::Duration;
use tree::{Value, json};

const SETS: Resource = Resource::new("apps", "v1", "statefulsets");
const CLAIMS: Resource = Resource::new("", "v1", "persistentvolumeclaims");
const REVISIONS: Resource = Resource::new("apps", "v1", "controllerrevisions");

fn world(rules: &str) -> World {
    let mut loops = loops::workloads::all();
    loops.push(loops::nodes::scheduler());
    World::with_kubelet(loops, rules)
}

fn set(change: impl FnOnce(&mut Value)) -> Value {
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {
            "replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template("db", "v1"),
            "podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        },
    });
    change(&mut set["spec"]);
    set
}

fn images(world: &World) -> Vec<String> {
    let image = |name: &String| {
        let pod = world.get(&PODS, name);
        format!("{name} {}", pod["spec"]["containers"][0]["image"].as_str().unwrap())
    };
    world.names(&PODS).iter().map(image).collect()
}

fn edit(image: &'static str) -> impl FnOnce(&mut Value) {
    move |set| set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into()
}

#[test]
fn pods_come_up_one_after_the_other() {
    let mut world = world("app=db: ready after 10s");
    world.add(&SETS, set(|_| {}));
    world.settle();
    assert_eq!(world.names(&PODS), ["db-0"]);
    world.pass(Duration::from_secs(10));
    assert_eq!(world.names(&PODS), ["db-0", "db-1"]);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.names(&PODS), ["db-0", "db-1", "db-2"]);
    let status = world.get(&SETS, "db")["status"].clone();
    let revision = world.names(&REVISIONS)[0].clone();
    let expected = json!({
        "observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "currentReplicas": 3,
        "updatedReplicas": 3, "currentRevision": revision.as_str(), "updateRevision": revision.as_str(), "collisionCount": 0,
    });
    assert_eq!(status, expected);
    let pod = world.get(&PODS, "db-1");
    let labels = json!({
        "app": "db", "statefulset.kubernetes.io/pod-name": "db-1", "apps.kubernetes.io/pod-index": "1",
        "controller-revision-hash": revision.as_str(),
    });
    assert_eq!(pod["metadata"]["labels"], labels);
    assert_eq!((&pod["spec"]["hostname"], &pod["spec"]["subdomain"]), (&json!("db-1"), &json!("db")));
    let event = "Normal SuccessfulCreate: Create Pod db-0 in StatefulSet db successful";
    assert_eq!(world.events[0], event);
}

#[test]
fn parallel_pods_come_up_at_once() {
    let mut world = world("app=db: ready after 10s");
    world.add(&SETS, set(|spec| spec["podManagementPolicy"] = "Parallel".into()));
    world.settle();
    assert_eq!(world.names(&PODS), ["db-0", "db-1", "db-2"]);
}

#[test]
fn pods_are_removed_from_the_end() {
    let mut world = world("app=db: ready, gone after 5s");
    world.add(&SETS, set(|spec| spec["ordinals"] = json!({"start": 5})));
    world.settle();
    assert_eq!(world.names(&PODS), ["db-5", "db-6", "db-7"]);
    world.edit(&SETS, "db", |set| set["spec"]["replicas"] = 1.into());
    world.settle();
    let going: Vec<bool> = ["db-5", "db-6", "db-7"]
        .iter()
        .map(|name| !world.get(&PODS, name)["metadata"]["deletionTimestamp"].is_null())
        .collect();
    assert_eq!(going, [false, false, true]);
}

#[test]
fn an_update_goes_from_the_last_pod_to_the_partition() {
    let mut world = world("app=db: ready after 10s");
    world.add(&SETS, set(|_| {}));
    world.pass(Duration::from_secs(30));
    let old = world.get(&SETS, "db")["status"]["currentRevision"].clone();
    world.edit(&SETS, "db", |set| set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 1.into());
    world.edit(&SETS, "db", edit("v2"));
    world.settle();
    assert_eq!(images(&world), ["db-0 v1", "db-1 v1", "db-2 v2"]);
    world.pass(Duration::from_secs(20));
    assert_eq!(images(&world), ["db-0 v1", "db-1 v2", "db-2 v2"]);
    let status = &world.get(&SETS, "db")["status"];
    assert_eq!((&status["currentRevision"], &status["currentReplicas"]), (&old, &json!(1)));
    world.edit(&SETS, "db", |set| set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 0.into());
    world.pass(Duration::from_secs(20));
    assert_eq!(images(&world), ["db-0 v2", "db-1 v2", "db-2 v2"]);
    let status = &world.get(&SETS, "db")["status"];
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    assert_ne!(status["currentRevision"], old);
    world.edit(&SETS, "db", edit("v1"));
    world.settle();
    assert_eq!(world.names(&REVISIONS).len(), 2, "the old revision is used again");
    assert_eq!(world.get(&REVISIONS, old.as_str().unwrap())["revision"], 3);
}

#[test]
fn more_than_one_pod_may_be_unavailable() {
    let mut world = world("app=db: ready after 10s");
    world.add(&SETS, set(|spec| spec["podManagementPolicy"] = "Parallel".into()));
    world.pass(Duration::from_secs(10));
    world.edit(&SETS, "db", |set| set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 2.into());
    world.edit(&SETS, "db", edit("v2"));
    world.settle();
    assert_eq!(images(&world), ["db-0 v1", "db-1 v2", "db-2 v2"]);
}

#[test]
fn pods_have_their_claims_and_policies_say_who_owns_them() {
    let mut world = world("");
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    world.add(
        &SETS,
        set(|set| {
            set["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": spec}]);
            set["replicas"] = 2.into();
            // Nobody binds claims here, so that no pod is ready.
            set["podManagementPolicy"] = "Parallel".into();
        }),
    );
    world.settle();
    assert_eq!(world.names(&CLAIMS), ["data-db-0", "data-db-1"]);
    let claim = world.get(&CLAIMS, "data-db-1");
    assert_eq!(claim["metadata"]["labels"], json!({"app": "db"}));
    assert!(claim["metadata"]["ownerReferences"].is_null());
    let volume = json!({"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}});
    assert_eq!(world.get(&PODS, "db-1")["spec"]["volumes"], json!([volume]));
    let event = "Normal SuccessfulCreate: Create Claim data-db-0 Pod db-0 in StatefulSet db success";
    assert_eq!(world.events[0], event);
    world.edit(&SETS, "db", |set| {
        set["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenDeleted": "Delete", "whenScaled": "Retain"});
    });
    world.settle();
    let owner = &world.get(&CLAIMS, "data-db-1")["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["name"]), (&json!("StatefulSet"), &json!("db")));
}

#[test]
fn a_failed_pod_is_replaced() {
    let mut world = world("");
    world.add(&SETS, set(|spec| spec["replicas"] = 1.into()));
    world.settle();
    let uid = world.get(&PODS, "db-0")["metadata"]["uid"].clone();
    world.edit_status(&PODS, "db-0", |status| status["phase"] = "Failed".into());
    world.settle();
    assert_ne!(world.get(&PODS, "db-0")["metadata"]["uid"], uid);
}
