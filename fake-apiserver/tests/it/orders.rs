//! Orders and questions in Rust: the same words as over HTTP.

use crate::support::{
    CONFIG_MAPS, Client, PROTOCOLS, Protocol, SECRETS, named, names, revision, start, start_with, text,
};
use fake_apiserver::control::fault::{Action, Body, Connection, Do, Events, Rule, Scope, Stale, Watch, WatchDo, When};
use fake_apiserver::control::{Answer, Match, Obeys, Order, Question, ReplicaChange, Requests, Revisions, Running};
use fake_apiserver::{FakeApiServer, ManualClock};
use serde_json::{Value, json};

/// Requests for config maps with a verb.
fn on(verb: &str) -> Match {
    Match { verbs: vec![verb.into()], resources: vec!["configmaps".into()], ..Match::default() }
}

/// Adds a fault of one request; returns its id.
async fn add(server: &FakeApiServer, verb: &str, action: Action) -> String {
    let rule = Rule { on: on(verb), times: Some(1), actions: vec![action], ..Rule::default() };
    match server.obey(Order::AddFault(rule)).await {
        Ok(Answer::Fault(fault)) => fault.id,
        other => panic!("{other:?}"),
    }
}

async fn struck(server: &FakeApiServer, id: &str) -> u64 {
    let fault = server.ask(Question::Fault { id: id.into() }).await.expect("it is there");
    fault["status"]["struck"].as_u64().expect("a number")
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_done_over_both_protocols() {
    let server = start_with(FakeApiServer::builder().record_requests(true)).await;
    for protocol in PROTOCOLS {
        for (name, act, scope) in [
            ("closed", Do::Close, Scope::Stream),
            ("reset", Do::Reset, Scope::Stream),
            ("all", Do::Reset, Scope::Connection),
        ] {
            let name = format!("{name}-{protocol:?}").to_lowercase();
            let mut other = Client::over(&server, protocol).await;
            let mut client = Client::over(&server, protocol).await;
            let fault = Action::Connection(Connection { act, when: When::AfterCommit, bytes: None, scope });
            let id = add(&server, "create", fault).await;
            assert!(client.loses("POST", CONFIG_MAPS, &named(&name)).await, "{name}");
            assert_eq!(struck(&server, &id).await, 1);
            other.get(&format!("{CONFIG_MAPS}/{name}")).await.expect(200);
            if protocol == Protocol::Http2 && scope == Scope::Stream {
                // Only the stream was broken.
                client.get(CONFIG_MAPS).await.expect(200);
            }
            let before = Connection { act, when: When::BeforeCommit, bytes: None, scope };
            add(&server, "delete", Action::Connection(before)).await;
            let mut client = Client::over(&server, protocol).await;
            assert!(client.loses("DELETE", &format!("{CONFIG_MAPS}/{name}"), &Value::Null).await);
            other.get(&format!("{CONFIG_MAPS}/{name}")).await.expect(200);
        }
    }
    let lost = Requests { writes: true, ..Requests::default() };
    let lost = server.ask(Question::Requests(lost)).await.expect("they are recorded");
    let lost = lost["items"].as_array().expect("a list");
    assert!(lost.iter().all(|request| request["code"] == 0 && request["fault"]["committed"] == true), "{lost:?}");
    assert_eq!(lost.len(), 6);
}

#[tokio::test]
async fn a_write_is_broken_off_just_before_it_is_made() {
    let server = start_with(FakeApiServer::builder().record_requests(true)).await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &named("there")).await.expect(201);
    let fault = Connection { act: Do::Close, when: When::BeforeCommit, bytes: None, scope: Scope::Stream };
    for (verb, method, good) in [("create", "POST", ""), ("update", "PUT", "/there"), ("delete", "DELETE", "/there")] {
        let id = add(&server, verb, Action::Connection(fault.clone())).await;
        // One that is refused passes, and does not count; nor does a dry run.
        let refused = match method {
            "POST" => client.post(CONFIG_MAPS, &named("there")).await.code,
            "PUT" => client.put(&format!("{CONFIG_MAPS}/none"), &named("none")).await.code,
            _ => client.delete(&format!("{CONFIG_MAPS}/none")).await.code,
        };
        assert!((400..500).contains(&refused), "{verb} {refused}");
        if method == "POST" {
            client.post(&format!("{CONFIG_MAPS}?dryRun=All"), &named("dry")).await.expect(201);
        }
        assert_eq!(struck(&server, &id).await, 0, "{verb}");
        let revision = || async { server.ask(Question::Clock).await.expect("a clock")["revision"].clone() };
        let before = revision().await;
        let body = match method {
            "POST" => named("new"),
            "PUT" => json!({"metadata": {"name": "there"}, "data": {"k": "v"}}),
            _ => Value::Null,
        };
        let mut other = Client::new(&server).await;
        assert!(other.loses(method, &format!("{CONFIG_MAPS}{good}"), &body).await, "{verb}");
        assert_eq!(struck(&server, &id).await, 1, "{verb}");
        assert_eq!(revision().await, before, "nothing was written");
        let last = server.ask(Question::Requests(Requests { on: on(verb), ..Requests::default() })).await;
        let last = last.expect("they are recorded")["items"].as_array().expect("a list").last().cloned();
        let last = last.expect("a request");
        assert_eq!((&last["code"], &last["fault"]["committed"]), (&json!(0), &json!(false)), "{verb}");
    }
}

#[tokio::test]
async fn what_hangs_goes_on_when_its_rule_is_removed() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let fault = Connection { act: Do::Hang, when: When::AfterCommit, bytes: None, scope: Scope::Stream };
    let id = add(&server, "create", Action::Connection(fault)).await;
    let object = named("a");
    let (lost, ()) = tokio::join!(client.loses("POST", CONFIG_MAPS, &object), async {
        while struck(&server, &id).await == 0 {
            tokio::task::yield_now().await;
        }
        server.obey(Order::RemoveFault { id: id.clone() }).await.expect("it is there");
    });
    assert!(lost);
}

#[tokio::test]
async fn bodies_break_off_and_come_slowly() {
    let server = start().await;
    Client::new(&server).await.post(CONFIG_MAPS, &named("a")).await.expect(201);
    for protocol in PROTOCOLS {
        let mut client = Client::over(&server, protocol).await;
        let whole = client.get(CONFIG_MAPS).await.body;
        add(&server, "list", Action::Body(Body { bytes_per_second: Some(4000), ..Body::default() })).await;
        assert_eq!(client.get(CONFIG_MAPS).await.body, whole);
        add(&server, "list", Action::Body(Body { truncate_at: Some(9), ..Body::default() })).await;
        match protocol {
            Protocol::Http1 => assert_eq!(client.breaks_off("GET", CONFIG_MAPS).await, whole[..9]),
            // What a stream has to send when it is reset is forgotten.
            Protocol::Http2 => assert!(client.is_cut("GET", CONFIG_MAPS).await),
        }
        let mut client = Client::over(&server, protocol).await;
        add(&server, "list", Action::Body(Body { corrupt: true, ..Body::default() })).await;
        let spoilt = client.get(CONFIG_MAPS).await.body;
        assert_eq!((spoilt[0], &spoilt[1..]), (b'z', &whole[1..]));
    }
}

#[tokio::test]
async fn reads_that_allow_for_it_are_stale() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    for name in ["a", "b"] {
        client.post(CONFIG_MAPS, &named(name)).await.expect(201);
    }
    for (query, expected) in [("?resourceVersion=0", ["a"].as_slice()), ("", &["a", "b"])] {
        add(&server, "list", Action::Stale(Stale { behind: Some(1), ..Stale::default() })).await;
        assert_eq!(names(&client.get(&format!("{CONFIG_MAPS}{query}")).await.expect(200)), expected, "{query}");
    }
}

#[tokio::test]
async fn watches_leave_events_out_and_fail() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let drop = Events { drop: vec!["MODIFIED".into()], ..Events::default() };
    let fails = Watch { act: WatchDo::Error, after_events: 2, after_seconds: None, code: Some(500) };
    let actions = vec![Action::Events(drop), Action::Watch(fails)];
    let rule = Rule { on: on("watch"), actions, ..Rule::default() };
    server.obey(Order::AddFault(rule)).await.expect("a rule");
    let mut events = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    let mut made = client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    made["data"] = json!({"k": "v"});
    client.put(&format!("{CONFIG_MAPS}/a"), &made).await.expect(200);
    client.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    let seen: Vec<String> = events.rest().await.iter().map(|event| text(event, "/type").to_owned()).collect();
    assert_eq!(seen, ["ADDED", "DELETED", "ERROR"]);
}

#[tokio::test]
async fn events_come_twice_and_late() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let late = Events { duplicate: vec!["ADDED".into()], delay_seconds: Some(0.2), ..Events::default() };
    server.obey(Order::fault(on("watch"), Action::Events(late))).await.expect("a rule");
    let mut events = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    client.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    client.post(CONFIG_MAPS, &named("b")).await.expect(201);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let (kind, name, _) = events.next_short().await;
        seen.push(format!("{kind} {name}"));
    }
    assert_eq!(seen, ["ADDED a", "ADDED a", "DELETED a", "ADDED b", "ADDED b"]);
    for (action, message) in [
        (Events::default(), "it says none of drop, duplicate and delaySeconds"),
        (Events { duplicate: vec!["ADDD".into()], ..Events::default() }, "did you mean \"ADDED\"?"),
        (Events { delay_seconds: Some(-1.0), ..Events::default() }, "it is a number of seconds, at most a year"),
    ] {
        let refusal = server.obey(Order::fault(on("watch"), Action::Events(action))).await.expect_err("it is none");
        assert!(refusal.code == 422 && refusal.message.contains(message), "{refusal}");
    }
}

#[tokio::test]
async fn bookmarks_come_when_they_are_told_to() {
    let server = start_with(FakeApiServer::builder().record_requests(true)).await;
    let mut client = Client::new(&server).await;
    let watch = |query: &str| format!("{CONFIG_MAPS}?watch=true{query}");
    let mut events = Client::new(&server).await.watch(&watch("&allowWatchBookmarks=true"), &[]).await;
    let mut others = Client::new(&server).await.watch(&watch(""), &[]).await;
    assert_eq!(events.next_short().await.0, "BOOKMARK", "the initial events end with one");
    let made = client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    assert_eq!((events.next_short().await.1, others.next_short().await.1), ("a".into(), "a".into()));
    client.post(SECRETS, &named("other")).await.expect(201);
    let order = || server.obey(Order::SendBookmarks { on: None });
    for _ in 0..2 {
        assert_eq!(order().await.expect("they are recorded"), Answer::Bookmarked { watches: 1 });
        let (kind, _, at) = events.next_short().await;
        assert_eq!((kind.as_str(), at), ("BOOKMARK", revision(&made) + 1));
    }
    client.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    assert_eq!(others.next_short().await.0, "DELETED");
}

#[tokio::test]
async fn a_replica_that_is_not_ready_serves_all_the_same() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let set = |state| server.obey(Order::Replica(ReplicaChange { state: Some(state), ..ReplicaChange::default() }));
    set(Running::Unready).await.expect("it is there");
    let answer = client.get("/readyz").await;
    assert!(answer.code == 500 && answer.text().contains("[-]shutdown failed: reason withheld"), "{}", answer.text());
    assert_eq!(client.get("/livez").await.code, 200);
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    let replicas = server.ask(Question::Replicas).await.expect("one");
    assert_eq!(replicas["items"][0]["state"], "unready");
    set(Running::Running).await.expect("it is there");
    assert_eq!(client.get("/readyz").await.code, 200);
}

#[tokio::test]
async fn a_snapshot_is_put_back_and_watches_follow() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let kept = client.post(CONFIG_MAPS, &named("kept")).await.expect(201);
    server.obey(Order::Save { snapshot: "s".into() }).await.expect("a snapshot");
    client.delete(&format!("{CONFIG_MAPS}/kept")).await.expect(200);
    client.post(CONFIG_MAPS, &named("other")).await.expect(201);
    let mut events = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    assert_eq!(events.next_short().await.1, "other");
    let restore = |revisions| Order::Restore { snapshot: "s".into(), revisions };
    server.obey(restore(Revisions::Continue)).await.expect("it is there");
    let seen = [events.next_short().await, events.next_short().await].map(|(kind, name, _)| format!("{kind} {name}"));
    assert_eq!(seen, ["DELETED other", "ADDED kept"]);
    let back = client.get(&format!("{CONFIG_MAPS}/kept")).await.expect(200);
    assert_eq!(back["metadata"]["uid"], kept["metadata"]["uid"]);
    let level = client.get(CONFIG_MAPS).await.expect(200);
    server.obey(restore(Revisions::Bump)).await.expect("it is there");
    let watch = format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", text(&level, "/metadata/resourceVersion"));
    let mut late = Client::new(&server).await.watch(&watch, &[]).await;
    assert_eq!(late.next().await.expect("an error")["object"]["code"], 410);
    let old = text(&kept, "/metadata/resourceVersion").to_owned();
    let watch = format!("{CONFIG_MAPS}?watch=true&resourceVersion={old}");
    let mut late = Client::new(&server).await.watch(&watch, &[]).await;
    assert_eq!(late.next().await.expect("an error")["object"]["code"], 410);
}

#[tokio::test]
async fn a_clock_is_moved_if_it_is_one_that_others_move() {
    let server = start().await;
    let refusal = server.obey(Order::AdvanceClock { seconds: 1 }).await.expect_err("it is the system's");
    assert_eq!(refusal.code, 409);
    let clock = ManualClock::running();
    let server = start_with(FakeApiServer::builder().clock(clock.clone())).await;
    let at = "2030-01-01T00:00:00Z".parse().expect("a time");
    let set = Order::SetClock { now: Some(at), frozen: Some(true) };
    server.obey(set).await.expect("it is a manual one");
    server.obey(Order::AdvanceClock { seconds: 90 }).await.expect("it is a manual one");
    let shown = server.ask(Question::Clock).await.expect("a clock");
    assert_eq!((&shown["now"], clock.is_frozen()), (&json!("2030-01-01T00:01:30Z"), true));
}

#[tokio::test]
async fn what_was_not_recorded_cannot_be_asked_for() {
    let server = start().await;
    let refusal = server.ask(Question::Findings { since: 0 }).await.expect_err("nothing is recorded");
    assert_eq!((refusal.code, refusal.message.as_str()), (409, "this server does not record requests"));
}
