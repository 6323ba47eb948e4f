//! Replicas that are held back and released, and replicas that are stopped and started.

use crate::support::{CONFIG_MAPS, Client, PROTOCOLS, Protocol, named, names, soon, start_with, text};
use fake_apiserver::FakeApiServer;
use fake_apiserver::control::{Answer, HoldOnly, Obeys, Order, Question, ReplicaChange, ViewState};
use serde_json::{Value, json};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_replica_that_is_held_back_serves_the_past_to_those_who_take_it() {
    let server = start_with(FakeApiServer::builder().replicas(2)).await;
    let mut fresh = Client::new(&server).await;
    let mut stale = Client::to_replica(&server, 1, Protocol::Http1).await;
    fresh.post(CONFIG_MAPS, &named("before")).await.expect(201);
    let mut events =
        Client::to_replica(&server, 1, Protocol::Http2).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    assert_eq!(events.next_short().await.1, "before");

    server.replica(1).hold();
    let after = fresh.post(CONFIG_MAPS, &named("after")).await.expect(201);
    let revision = text(&after, "/metadata/resourceVersion").to_owned();
    let list = |query: &str| format!("{CONFIG_MAPS}{query}");
    for (query, expected) in [("", ["after", "before"].as_slice()), ("?resourceVersion=0", &["before"])] {
        assert_eq!(names(&stale.get(&list(query)).await.expect(200)), expected, "{query}");
    }
    let at = format!("{CONFIG_MAPS}/after");
    stale.get(&at).await.expect(200);
    stale.get(&format!("{at}?resourceVersion=0")).await.expect(404);
    fresh.get(&format!("{at}?resourceVersion=0")).await.expect(200);
    stale.get(&format!("{CONFIG_MAPS}?resourceVersion={revision}")).await.expect(504);
    // A watch that begins there begins in the past too.
    let mut late = Client::to_replica(&server, 1, Protocol::Http1).await.watch(&list("?watch=true"), &[]).await;
    assert_eq!(late.next_short().await.1, "before");
    // A streamed list is consistent, as a list is, unless it takes any revision.
    for (any, first, second) in [("", "after", "before"), ("&resourceVersion=0", "before", "")] {
        let query = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        let stale = Client::to_replica(&server, 1, Protocol::Http1).await;
        let mut streamed = stale.watch(&list(&format!("{query}{any}")), &[]).await;
        for expected in [first, second] {
            assert_eq!(streamed.next_short().await.1, expected, "{any}");
        }
    }

    // Held once more, it sees the events up to then.
    server.replica(1).hold();
    for events in [&mut events, &mut late] {
        assert_eq!(events.next_short().await.1, "after");
    }
    fresh.post(CONFIG_MAPS, &named("last")).await.expect(201);
    assert_eq!(names(&stale.get(&list("?resourceVersion=0")).await.expect(200)), ["after", "before"]);

    server.replica(1).release();
    for events in [&mut events, &mut late] {
        assert_eq!(events.next_short().await.1, "last");
    }
    assert_eq!(names(&stale.get(&list("?resourceVersion=0")).await.expect(200)), ["after", "before", "last"]);
}

#[tokio::test]
async fn a_replica_that_is_added_serves_the_same_objects_by_a_clock_of_its_own() {
    let clock = fake_apiserver::ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
    let server = start_with(FakeApiServer::builder().clock(clock).insecure()).await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    let added = server.obey(Order::AddReplica { clock_offset_seconds: -30 }).await.expect("a replica");
    let Answer::Replica(added) = added else { panic!("{added:?}") };
    assert_eq!((added.replica, added.clock_offset_seconds, &added.url), (1, -30, &server.replica(1).url()));
    let listed = server.ask(Question::Replicas).await.expect("a list");
    assert_eq!(listed["items"][1], serde_json::to_value(&added).expect("JSON"));

    let mut other = Client::to_replica(&server, 1, Protocol::Http1).await;
    let created = other.post(CONFIG_MAPS, &named("b")).await.expect(201);
    assert_eq!(text(&created, "/metadata/creationTimestamp"), "2029-12-31T23:59:30Z");
    assert_eq!(names(&client.get(CONFIG_MAPS).await.expect(200)), ["a", "b"]);
    let leases = client.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases").await.expect(200);
    assert_eq!(names(&leases).len(), 2);
    // The added replica is held and stopped as any other.
    server.replica(1).hold();
    client.post(CONFIG_MAPS, &named("c")).await.expect(201);
    assert_eq!(names(&other.get(&format!("{CONFIG_MAPS}?resourceVersion=0")).await.expect(200)), ["a", "b"]);
    soon(server.replica(1).stop()).await;
    assert!(TcpStream::connect(server.replica(1).address()).await.is_err());
    client.get(CONFIG_MAPS).await.expect(200);

    for _ in 2..100 {
        server.add_replica(0).await.expect("a replica");
    }
    let refusal = server.add_replica(0).await.expect_err("there are 100");
    assert_eq!((refusal.code, &*refusal.message), (409, "a control plane has at most 100 replicas"));
}

#[tokio::test]
async fn a_replica_that_was_stopped_comes_back_with_all_objects() {
    for protocol in PROTOCOLS {
        let server = start_with(FakeApiServer::builder().replicas(2)).await;
        let (replica, address) = (server.replica(0), server.replica(0).address());
        let mut client = Client::over(&server, protocol).await;
        client.post(CONFIG_MAPS, &named("a")).await.expect(201);
        let mut events = Client::over(&server, protocol).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
        assert_eq!(events.next_short().await.1, "a");
        soon(replica.stop()).await;
        assert_eq!(events.rest().await, [] as [Value; 0]);
        assert!(TcpStream::connect(address).await.is_err());
        let mut other = Client::to_replica(&server, 1, protocol).await;
        other.post(CONFIG_MAPS, &named("b")).await.expect(201);

        replica.start().await.expect("the port is still free");
        let mut client = Client::over(&server, protocol).await;
        assert_eq!(names(&client.get(CONFIG_MAPS).await.expect(200)), ["a", "b"]);
        soon(server.shutdown()).await;
    }
}

#[tokio::test]
async fn the_events_of_some_objects_alone_are_held_back() {
    let server = start_with(FakeApiServer::builder().replicas(2)).await;
    let mut client = Client::new(&server).await;
    let maps = ["free", "held"];
    for name in maps {
        client.post(CONFIG_MAPS, &named(name)).await.expect(201);
    }
    let watch = format!("{CONFIG_MAPS}?watch=true");
    let mut events = Client::to_replica(&server, 1, Protocol::Http2).await.watch(&watch, &[]).await;
    let mut others = Client::new(&server).await.watch(&watch, &[]).await;
    for events in [&mut events, &mut others] {
        for name in maps {
            assert_eq!(events.next_short().await.1, name);
        }
    }
    let only = HoldOnly { resources: vec!["configmaps".into()], names: vec!["he*".into()], ..HoldOnly::default() };
    let change = ReplicaChange { replica: 1, view: Some(ViewState::Held), ..ReplicaChange::default() };
    let hold = ReplicaChange { hold_only: Some(only.clone()), ..change.clone() };
    server.obey(Order::Replica(hold.clone())).await.expect("a hold");
    let shown = server.ask(Question::Replicas).await.expect("they are told of");
    assert_eq!(shown["items"][1]["holdOnly"], json!({"resources": ["configmaps"], "names": ["he*"]}));
    let mut written = Vec::new();
    for (name, value) in [("held", "1"), ("free", "1"), ("held", "2"), ("free", "2")] {
        let mut object = client.get(&format!("{CONFIG_MAPS}/{name}")).await.expect(200);
        object["data"] = json!({"k": value});
        let object = client.put(&format!("{CONFIG_MAPS}/{name}"), &object).await.expect(200);
        let revision: u64 = text(&object, "/metadata/resourceVersion").parse().expect("a number");
        written.push(("MODIFIED".to_owned(), name.to_owned(), revision));
    }
    for expected in &written {
        assert_eq!(others.next_short().await, *expected);
    }
    for expected in [&written[1], &written[3]] {
        assert_eq!(events.next_short().await, *expected);
    }
    // Reads are not held, nor is a watch that begins behind them.
    let mut stale = Client::to_replica(&server, 1, Protocol::Http1).await;
    let read = stale.get(&format!("{CONFIG_MAPS}/held?resourceVersion=0")).await.expect(200);
    assert_eq!(read["data"]["k"], "2");
    // Held anew from now on: what was held before comes, each object's in its order.
    server.obey(Order::Replica(hold)).await.expect("a hold");
    for expected in [&written[0], &written[2]] {
        assert_eq!(events.next_short().await, *expected);
    }
    client.delete(&format!("{CONFIG_MAPS}/held")).await.expect(200);
    client.delete(&format!("{CONFIG_MAPS}/free")).await.expect(200);
    assert_eq!(events.next_short().await.1, "free");
    server.replica(1).release();
    let (kind, name, _) = events.next_short().await;
    assert_eq!((kind.as_str(), name.as_str()), ("DELETED", "held"));
    let wrong = HoldOnly { resources: vec!["configmap".into()], ..only.clone() };
    for (hold, expected) in [
        (ReplicaChange { hold_only: Some(wrong), ..change.clone() }, "did you mean \"configmaps\"?"),
        (ReplicaChange { hold_only: Some(only), view: None, ..change }, "it goes with view"),
    ] {
        let refused = server.obey(Order::Replica(hold)).await.expect_err("it makes no sense");
        assert!(refused.code == 422 && refused.message.contains(expected), "{refused}");
    }
    assert_eq!(server.ask(Question::Replicas).await.expect("they are told of")["items"][1]["view"], "live");
}
