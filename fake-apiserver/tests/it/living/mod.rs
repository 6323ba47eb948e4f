//! Clusters that live: control loops in the server.

mod answers;
mod attachments;
mod autoscaling;
mod bad_input;
mod certificates;
mod driver;
mod garbage;
mod growth;
mod migrations;
mod stages;
mod upkeep;
mod volumes;
mod workloads;

use crate::support::{Client, JSON, names, soon, text};
use control::{Obeys, Order};
use fake_apiserver::{AuthorizationMode, Controller, FakeApiServer};
use serde_json::{Value, json};

/// A cluster in which owners are collected, as a real one's: with RBAC, and every request is recorded.
async fn collecting() -> FakeApiServer {
    let builder = FakeApiServer::builder().controllers([Controller::GarbageCollector]).record_requests(true);
    let builder = builder.authorization_mode([AuthorizationMode::Rbac]);
    builder.insecure().start().await.expect("a server starts")
}

async fn quiet(server: &FakeApiServer) {
    soon(server.controllers().quiet()).await.expect("it needs no lists");
}

/// Moves the clock, and waits until all is done that is due then.
async fn pass(server: &FakeApiServer, seconds: i64) {
    soon(server.obey(Order::AdvanceClock { seconds })).await.expect("the clock can be moved");
    quiet(server).await;
}

/// The events about objects of a kind, as `reason: message`, in order.
async fn told(client: &mut Client, kind: &str) -> Vec<String> {
    let events = client.get(&format!("/api/v1/events?fieldSelector=involvedObject.kind={kind}")).await.expect(200);
    let mut events: Vec<Value> = events["items"].as_array().cloned().unwrap_or_default();
    let revision = |event: &Value| text(event, "/metadata/resourceVersion").parse::<u64>().unwrap();
    events.sort_by_key(revision);
    events.iter().map(|event| format!("{}: {}", text(event, "/reason"), text(event, "/message"))).collect()
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A config map with owners.
fn owned(name: &str, owners: &[Value]) -> Value {
    json!({"metadata": {"name": name, "ownerReferences": owners}})
}

/// The reference to an owner.
fn reference(owner: &Value, blocks: bool) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": blocks,
    })
}

async fn create(client: &mut Client, path: &str, object: &Value) -> Value {
    client.post(path, object).await.expect(201)
}

/// Deletes an object with that policy.
async fn delete(client: &mut Client, path: &str, policy: &str) {
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
    client.ask("DELETE", path, &[JSON], options.to_string()).await.expect(200);
}

/// The names of the config maps.
async fn left(client: &mut Client) -> Vec<String> {
    let all = client.get(CONFIG_MAPS).await.expect(200);
    names(&all).into_iter().map(str::to_owned).collect()
}

/// The requests of the loops, as `POST /path 201`.
fn asked(server: &FakeApiServer) -> Vec<String> {
    let of_loops = |user: &str| user.starts_with("system:serviceaccount:kube-system:");
    let records = server.requests();
    let own = records.iter().filter(|record| record.user.as_ref().is_some_and(|user| of_loops(&user.name)));
    own.map(|record| format!("{} {} {}", record.method, record.uri, record.code)).collect()
}
