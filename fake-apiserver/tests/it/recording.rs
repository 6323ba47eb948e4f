//! Recordings in Rust: what a server was told in whatever way is in the file, and any moment can be served again.

use crate::support::{CONFIG_MAPS, Client, named, names, start_with, text};
use fake_apiserver::control::recording::{At, Recording, What};
use fake_apiserver::control::{Order, Pace, Running, ViewState};
use fake_apiserver::{Controller, FakeApiServer, ManualClock, On};
use std::path::Path;

fn read(path: &Path) -> Recording {
    Recording::read(&std::fs::read(path).expect("a file")).expect("a recording")
}

/// What tests did, in words.
fn told(recording: &Recording) -> Vec<String> {
    let lines = recording.lines.iter().filter_map(|line| match &line.what {
        What::Clock { frozen } => Some(format!("clock {} {frozen}", line.time)),
        What::FaultAdded { id, rule } => Some(format!("+{id} {:?}", rule.on.verbs)),
        What::FaultsRemoved { ids } => Some(format!("-{}", ids.join(" -"))),
        What::Order(order) => Some(match &**order {
            Order::Replica(change) => {
                format!("replica {:?} {:?} {:?}", change.state, change.view, change.clock_offset_seconds)
            }
            Order::Controller { name, state } => format!("{name} {state:?}"),
            Order::Compact { .. } => "compact".to_owned(),
            other => format!("{other:?}"),
        }),
        _ => None,
    });
    lines.collect()
}

#[tokio::test]
async fn what_the_library_is_told_is_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
    let builder = FakeApiServer::builder().clock(clock.clone()).record(&path);
    let server = start_with(builder.controllers([Controller::GarbageCollector])).await;
    let fault = server.faults().add(On::create("secrets").status(503));
    server.faults().remove(fault);
    server.replica(0).hold();
    server.replica(0).release();
    server.replica(0).release();
    server.replica(0).set_clock_offset(-30);
    server.controllers().pause(Controller::GarbageCollector).await.expect("it runs");
    server.compact();
    clock.advance(jiff::SignedDuration::from_secs(60));
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    server.replica(0).stop().await;
    server.shutdown().await;
    let recording = read(&path);
    assert_eq!((recording.cut.as_deref(), recording.header.kubernetes.as_str()), (None, "v1.37.1"));
    let mut told = told(&recording);
    // The clock is looked at by another thread.
    let moved = told.iter().position(|line| line.starts_with("clock")).expect("it was moved");
    assert_eq!(told.remove(moved), "clock 2030-01-01T00:01:00Z true");
    let (running, stopped) = (format!("{:?}", None::<Running>), format!("{:?}", Some(Running::Stopped)));
    assert_eq!(
        told,
        [
            "+f1 [\"create\"]".to_owned(),
            "-f1".into(),
            format!("replica {running} {:?} None", Some(ViewState::Held)),
            format!("replica {running} {:?} None", Some(ViewState::Live)),
            format!("replica {running} None Some(-30)"),
            format!("garbage-collector-controller {:?}", Pace::Paused),
            "compact".into(),
            format!("replica {stopped} None None"),
        ]
    );
    let request = recording.requests().pop().expect("a request");
    assert_eq!((request.verb.as_str(), request.code), ("create", 201));
    let change = recording.lines.iter().find_map(|line| match &line.what {
        What::Change(stored) if stored.path == "default/a" => Some((stored.revision, line.object.clone())),
        _ => None,
    });
    let (revision, object) = change.expect("the object");
    assert_eq!(Some(revision), request.revision);
    assert!(object.expect("its text").get().contains("\"name\":\"a\""));
}

#[tokio::test]
async fn custom_resources_of_a_moment_are_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let server = start_with(FakeApiServer::builder().record(&path)).await;
    let mut client = Client::new(&server).await;
    let definition = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "lamps.a.com"},
        "spec": {"group": "a.com", "scope": "Namespaced", "names": {"kind": "Lamp", "plural": "lamps"}, "versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        }]},
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    client.post(definitions, &definition).await.expect(201);
    let lamps = "/apis/a.com/v1/namespaces/default/lamps";
    let lamp = serde_json::json!({"apiVersion": "a.com/v1", "kind": "Lamp", "metadata": {"name": "hall"}, "watts": 40});
    let made = client.post(lamps, &lamp).await.expect(201);
    client.delete(&format!("{lamps}/hall")).await.expect(200);
    client.delete(&format!("{definitions}/lamps.a.com")).await.expect(200);
    server.shutdown().await;
    let recording = read(&path);
    let revision = text(&made, "/metadata/resourceVersion").parse().expect("a number");
    let moment = recording.moment(At::Revision(revision)).expect("a moment");
    let again = start_with(FakeApiServer::builder().replay(&moment)).await;
    let mut client = Client::new(&again).await;
    assert_eq!(client.get(&format!("{lamps}/hall")).await.expect(200), made);
    let end = recording.moment(At::End).expect("a moment");
    let empty = start_with(FakeApiServer::builder().replay(&end)).await;
    assert_eq!(names(&Client::new(&empty).await.get(definitions).await.expect(200)), [""; 0]);
    assert_eq!(Client::new(&empty).await.get(lamps).await.code, 404);
}
