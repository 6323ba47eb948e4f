//! Names that have a hash, beside those that a real kube-controller-manager gave.

use crate::world::World;
use crate::world::look::{DEPLOYMENTS, SETS};
use loops::Resource;
use tree::Value;

/// The first object of a recorded answer.
fn recorded(scenario: &str, command: &str) -> Value {
    let path = format!("{}/../../fixtures/recordings/living/{scenario}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a recording");
    let mut lines = text.lines().map(|line| line.parse::<Value>().expect("JSON"));
    let found = lines.find(|line| line["command"] == command).expect(command);
    found["items"][0]["document"].clone()
}

#[test]
fn replica_sets_are_called_as_upstreams() {
    let mut world = World::of_workloads();
    world.add(&DEPLOYMENTS, recorded("deployment", "create deployments/web"));
    world.settle();
    let list = recorded("deployment", "list replicasets");
    let hash = &list["items"][0]["metadata"]["labels"]["pod-template-hash"];
    assert_eq!(world.names(&SETS), [format!("web-{}", hash.as_str().unwrap())]);
}

#[test]
fn revisions_of_stateful_sets_are_called_as_upstreams() {
    let mut world = World::of_workloads();
    world.add(&Resource::new("apps", "v1", "statefulsets"), recorded("stateful-set", "create statefulsets/db"));
    world.settle();
    let list = recorded("stateful-set", "list controllerrevisions");
    let name = list["items"][0]["metadata"]["name"].as_str().unwrap().to_owned();
    assert_eq!(world.names(&Resource::new("apps", "v1", "controllerrevisions")), [name]);
}

#[test]
fn revisions_of_daemon_sets_are_called_as_upstreams() {
    let mut world = World::of_workloads();
    world.add(&Resource::new("apps", "v1", "daemonsets"), recorded("daemon-set", "create daemonsets/agent"));
    world.settle();
    let pod = recorded("daemon-set", "await 1 pods labels.app=agent");
    let hash = pod["metadata"]["labels"]["controller-revision-hash"].as_str().unwrap().to_owned();
    assert_eq!(world.names(&Resource::new("apps", "v1", "controllerrevisions")), [format!("agent-{hash}")]);
}
