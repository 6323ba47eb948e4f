//! Watches: complete and in order, from the requested start to the end.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::JoinSet;

const TABLE: (&str, &str) = ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
const METADATA: (&str, &str) = ("accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");

async fn watch(server: &FakeApiServer, query: &str) -> Events {
    watch_over(server, Protocol::Http1, query).await
}

async fn watch_over(server: &FakeApiServer, protocol: Protocol, query: &str) -> Events {
    Client::over(server, protocol).await.watch(&format!("{CONFIG_MAPS}?watch=true&{query}"), &[]).await
}

async fn now(client: &mut Client) -> u64 {
    revision(&client.get(CONFIG_MAPS).await.expect(200))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_watcher_sees_every_commit_once_and_in_order() {
    const WRITERS: usize = 8;
    const OBJECTS: usize = 10;
    let server = start().await;
    let mut client = Client::new(&server).await;
    let start = now(&mut client).await;
    let mut watchers = JoinSet::new();
    for index in 0..8 {
        let mut events = watch_over(&server, PROTOCOLS[index % 2], &format!("resourceVersion={start}")).await;
        watchers.spawn(async move {
            let mut seen = Vec::new();
            while seen.len() < WRITERS * OBJECTS * 3 {
                let (kind, name, revision) = events.next_short().await;
                seen.push((revision, kind, name));
            }
            seen
        });
    }
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let mut client = Client::over(&server, PROTOCOLS[writer % 2]).await;
        writers.spawn(async move {
            let mut written = Vec::new();
            for object in 0..OBJECTS {
                let name = format!("w{writer}-{object}");
                let path = format!("{CONFIG_MAPS}/{name}");
                let created = client.post(CONFIG_MAPS, &named(&name)).await.expect(201);
                written.push((revision(&created), "ADDED".to_string(), name.clone()));
                let updated = client.put(&path, &with_data(&name, "k", "v")).await.expect(200);
                written.push((revision(&updated), "MODIFIED".to_string(), name.clone()));
                client.delete(&path).await.expect(200);
            }
            written
        });
    }
    let written: BTreeSet<_> = soon(writers.join_all()).await.into_iter().flatten().collect();
    let mut logs = soon(watchers.join_all()).await.into_iter();
    let log = logs.next().expect("a log");
    assert!(log.iter().map(|(revision, ..)| *revision).eq(start + 1..=start + log.len() as u64), "{log:?}");
    let (deleted, others): (Vec<_>, Vec<_>) = log.iter().cloned().partition(|(_, kind, _)| kind == "DELETED");
    assert_eq!((deleted.len(), BTreeSet::from_iter(others)), (WRITERS * OBJECTS, written));
    assert!(logs.all(|other| other == log));
}

#[tokio::test]
async fn a_watch_begins_where_it_is_told() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let a = revision(&client.post(CONFIG_MAPS, &named("a")).await.expect(201));
    let b = revision(&client.post(CONFIG_MAPS, &named("b")).await.expect(201));
    let listed = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let unlisted = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut streams = Vec::new();
    for (query, expected) in [
        (String::new(), &["a", "b"][..]),
        ("resourceVersion=0".into(), &["a", "b"]),
        (format!("resourceVersion={a}"), &["b"]),
        (format!("resourceVersion={b}"), &[]),
        // The revision may lie in the future; c comes at the next revision, d at the one after.
        (format!("resourceVersion={}", b + 1), &["-c"]),
        (listed.into(), &["a", "b", ""]),
        (format!("{listed}&resourceVersion={a}"), &["a", "b", ""]),
        (unlisted.into(), &[]),
        (format!("{unlisted}&resourceVersion={a}"), &["b"]),
        ("fieldSelector=metadata.name%3Da".into(), &["a", "-c", "-d"]),
    ] {
        for protocol in PROTOCOLS {
            streams.push((watch_over(&server, protocol, &query).await, query.clone(), expected));
        }
    }
    client.post(CONFIG_MAPS, &named("c")).await.expect(201);
    client.post(CONFIG_MAPS, &named("d")).await.expect(201);
    client.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    for (mut events, query, expected) in streams {
        let left_out = |name: &str| expected.iter().any(|other| other.strip_prefix('-') == Some(name));
        let initial = expected.iter().filter(|name| !name.starts_with('-'));
        let later = ["c", "d"].iter().filter(|name| !left_out(name));
        for name in initial.chain(later) {
            let (kind, seen, _) = events.next_short().await;
            let wanted = if name.is_empty() { "BOOKMARK" } else { "ADDED" };
            assert_eq!((kind.as_str(), seen.as_str()), (wanted, *name), "{query}");
        }
        assert_eq!(events.next_short().await, ("DELETED".into(), "a".into(), b + 3), "{query}");
    }
}

#[tokio::test]
async fn refused_starts() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    for (query, code, why) in [
        ("resourceVersion=x", 500, "invalid syntax"),
        ("resourceVersionMatch=NotOlderThan", 422, "forbidden for watch unless sendInitialEvents is provided"),
        ("sendInitialEvents=true", 422, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        ("continue=x", 422, "resourceVersionMatch is forbidden when continue is provided"),
        ("labelSelector=a%20b", 400, "unable to parse requirement"),
        ("timeoutSeconds=x", 400, "invalid syntax"),
    ] {
        let answer = client.get(&format!("{CONFIG_MAPS}?watch=true&{query}")).await;
        let (_, message) = answer.refusal(code);
        assert!(message.contains(why), "{query}: {message}");
    }
}

#[tokio::test]
async fn selectors_turn_changes_into_additions_and_deletions() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let path = format!("{CONFIG_MAPS}/a");
    let mut events = watch(&server, "labelSelector=color%3Dred").await;
    let labelled =
        |color: &str, n: &str| json!({"metadata": {"name": "a", "labels": {"color": color}}, "data": {"n": n}});
    let created = client.post(CONFIG_MAPS, &labelled("blue", "0")).await.expect(201);
    let mut expected = Vec::new();
    let steps = [("red", "1", "ADDED"), ("red", "2", "MODIFIED"), ("blue", "3", "DELETED"), ("red", "4", "ADDED")];
    for (color, n, kind) in steps {
        let updated = client.put(&path, &labelled(color, n)).await.expect(200);
        // An object that stops matching is sent with its last matching content, at the revision of the change.
        let shown = if kind == "DELETED" { "2" } else { n };
        expected.push((kind, shown.to_string(), revision(&updated)));
    }
    client.delete(&path).await.expect(200);
    expected.push(("DELETED", "4".into(), revision(&created) + 5));
    for (kind, n, at) in expected {
        let event = events.next().await.expect("an event");
        assert_eq!((text(&event, "/type"), text(&event, "/object/data/n")), (kind, n.as_str()));
        assert_eq!((text(&event, "/object/metadata/labels/color"), revision(&event["object"])), ("red", at));
    }
}

#[tokio::test]
async fn a_bookmark_says_how_far_a_quiet_watch_is() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    // The last bookmark comes two seconds before the end, the end after `timeoutSeconds`.
    let mut events = watch(&server, "resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=3").await;
    let (kind, ..) = events.next_short().await;
    assert_eq!(kind, "ADDED");
    let initial = events.next().await.expect("a bookmark");
    assert_eq!(text(&initial, "/object/metadata/annotations/k8s.io~1initial-events-end"), "true");
    let elsewhere = revision(&client.post(SECRETS, &named("s")).await.expect(201));
    let bookmark = events.next().await.expect("a bookmark");
    let metadata = json!({"resourceVersion": elsewhere.to_string()});
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata});
    assert_eq!(bookmark, json!({"type": "BOOKMARK", "object": object}));
}

#[tokio::test]
async fn a_watch_ends_when_its_time_is_over() {
    let server = start().await;
    let mut one = watch_over(&server, Protocol::Http1, "timeoutSeconds=1").await;
    let mut other = watch_over(&server, Protocol::Http2, "timeoutSeconds=1").await;
    assert_eq!((one.rest().await, other.rest().await), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_watch_resumes_where_another_was_cut_off() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let mut last = now(&mut client).await;
    for round in 0..3 {
        let mut events = watch(&server, &format!("resourceVersion={last}")).await;
        for index in 0..3 {
            client.post(CONFIG_MAPS, &named(&format!("n{round}-{index}"))).await.expect(201);
        }
        // Only one of three events is read before the connection is closed.
        let (_, name, revision) = events.next_short().await;
        assert_eq!(revision, last + 1, "{name}");
        last = revision;
    }
    let mut events = watch(&server, &format!("resourceVersion={last}")).await;
    let newest = now(&mut client).await;
    for expected in last + 1..=newest {
        assert_eq!(events.next_short().await.2, expected);
    }
}

fn assert_expired(event: &Value, wanted: &str) {
    let status = &event["object"];
    assert_eq!((text(event, "/type"), &status["code"]), ("ERROR", &json!(410)), "{event}");
    assert_eq!((text(status, "/kind"), text(status, "/reason")), ("Status", "Expired"));
    assert!(text(status, "/message").starts_with(wanted), "{event}");
}

#[tokio::test]
async fn a_forgotten_past_is_said_to_be_so_within_the_stream() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    server.compact();
    let events = watch(&server, "resourceVersion=1").await.rest().await;
    assert_eq!(events.len(), 1);
    assert_expired(&events[0], "too old resource version: 1 (");
}

#[tokio::test]
async fn whoever_does_not_read_is_told_what_was_missed_and_no_one_else_suffers() {
    let server = start_with(FakeApiServer::builder().history(3)).await;
    let mut client = Client::new(&server).await;
    let start = now(&mut client).await;
    // Over HTTP/2 only as much is sent as fits into the window, so most events stay in the queue.
    let mut slow = watch_over(&server, Protocol::Http2, &format!("resourceVersion={start}")).await;
    let mut quick = watch(&server, &format!("resourceVersion={start}")).await;
    let large = "x".repeat(20_000);
    for index in 0..30 {
        let created = client.post(CONFIG_MAPS, &with_data(&format!("n{index:02}"), "k", &large)).await.expect(201);
        assert_eq!(quick.next_short().await.2, revision(&created));
    }
    let mut last = start;
    let events = slow.rest().await;
    let (error, seen) = events.split_last().expect("an error at least");
    for event in seen {
        last += 1;
        assert_eq!((text(event, "/type"), revision(&event["object"])), ("ADDED", last));
    }
    assert!(seen.len() < 30);
    assert_expired(error, &format!("too old resource version: {last} ("));
}

#[tokio::test]
async fn a_level_watch_outlives_any_number_of_writes_elsewhere() {
    let server = start_with(FakeApiServer::builder().history(3)).await;
    let mut client = Client::over(&server, Protocol::Http2).await;
    let mut all = watch(&server, "").await;
    let mut one = watch(&server, "fieldSelector=metadata.name%3Da").await;
    for index in 0..1000 {
        client.post(SECRETS, &named(&format!("s{index}"))).await.expect(201);
    }
    let created = revision(&client.post(CONFIG_MAPS, &named("a")).await.expect(201));
    for events in [&mut all, &mut one] {
        assert_eq!(events.next_short().await, ("ADDED".into(), "a".into(), created));
    }
}

#[tokio::test]
async fn other_forms() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &with_data("a", "k", "v")).await.expect(201);
    let path = format!("{CONFIG_MAPS}?watch=true");
    let mut tables = Client::new(&server).await.watch(&path, &[TABLE]).await;
    let mut metadata = Client::new(&server).await.watch(&path, &[METADATA]).await;
    client.put(&format!("{CONFIG_MAPS}/a"), &json!({"metadata": {"name": "a"}, "data": {"k": "v", "l": "w"}})).await;
    for (kind, count) in [("ADDED", 1), ("MODIFIED", 2)] {
        let table = tables.next().await.expect("an event");
        assert_eq!((text(&table, "/type"), text(&table, "/object/kind")), (kind, "Table"));
        // Only the first table has column definitions.
        assert_eq!(table["object"]["columnDefinitions"].is_null(), kind == "MODIFIED");
        let row = &table["object"]["rows"][0];
        assert_eq!((&row["cells"][0], &row["cells"][1]), (&json!("a"), &json!(count)));
        assert_eq!(text(row, "/object/kind"), "PartialObjectMetadata");
        let partial = metadata.next().await.expect("an event");
        assert_eq!((text(&partial, "/type"), text(&partial, "/object/kind")), (kind, "PartialObjectMetadata"));
        assert_eq!((text(&partial, "/object/metadata/name"), partial["object"].get("data")), ("a", None));
    }
}

#[tokio::test]
async fn a_pod_on_no_node_is_seen_to_be_deleted_before_it_is_gone() {
    const PODS: &str = "/api/v1/namespaces/default/pods";
    // Between the two parts of a deletion, too.
    let server = start_with(FakeApiServer::builder().write_latency(Duration::from_secs(1))).await;
    let mut client = Client::new(&server).await;
    let mut events = Client::new(&server).await.watch(&format!("{PODS}?watch=true"), &[]).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    client.post(PODS, &pod).await.expect(201);
    assert_eq!(events.next_short().await.0, "ADDED");
    let mut other = Client::new(&server).await;
    let deletion = tokio::spawn(async move { other.delete(&format!("{PODS}/p")).await.expect(200) });
    assert_eq!(events.next_short().await.0, "MODIFIED");
    let marked = client.get(&format!("{PODS}/p")).await.expect(200);
    assert!(marked["metadata"]["deletionTimestamp"].is_string(), "{marked}");
    assert_eq!(events.next_short().await.0, "DELETED");
    soon(deletion).await.expect("it is deleted");
}
