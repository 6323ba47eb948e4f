//! Faults of watches, reads, answers and connections, and how the record tells of them.

use crate::support::{CONFIG_MAPS, Client, MERGE_PATCH, address, named, names, revision, soon, start, start_with};
use fake_apiserver::control::fault::Rule;
use fake_apiserver::control::fault::{
    Action, Connection, Details, Do, Events, Scope, Stale, Status, StatusCause, Watch, WatchDo, When,
};
use fake_apiserver::control::{Answer, Match, Obeys, Order, Preset, Question, Requests};
use fake_apiserver::{AuthorizationMode, FakeApiServer};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// Adds a fault of all requests for config maps with a verb.
async fn strike(server: &FakeApiServer, verb: &str, action: Action) {
    let on = Match { verbs: vec![verb.into()], resources: vec!["configmaps".into()], ..Match::default() };
    server.obey(Order::fault(on, action)).await.expect("a rule");
}

/// A server that records requests, and a client.
async fn recording() -> (FakeApiServer, Client) {
    let server = start_with(FakeApiServer::builder().record_requests(true)).await;
    let client = Client::new(&server).await;
    (server, client)
}

async fn recorded(server: &FakeApiServer) -> Vec<Value> {
    let answer = server.ask(Question::Requests(Requests::default())).await.expect("they are recorded");
    answer["items"].as_array().expect("a list").clone()
}

fn watching(act: WatchDo, after_events: u64, after_seconds: Option<f64>) -> Action {
    Action::Watch(Watch { act, after_events, after_seconds, code: None })
}

#[tokio::test]
async fn a_watch_ends_after_some_time() {
    let (server, mut client) = recording().await;
    strike(&server, "watch", watching(WatchDo::End, 0, Some(0.3))).await;
    let begun = tokio::time::Instant::now();
    let mut events = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    assert_eq!(events.next_short().await.1, "a");
    assert!(events.rest().await.is_empty());
    assert!(begun.elapsed().as_millis() >= 300);
    let refusal = server.obey(Order::fault(Match::default(), watching(WatchDo::End, 0, Some(-1.0)))).await;
    assert!(refusal.expect_err("it is no time").message.contains("watch.afterSeconds"));
}

/// As in a real server, whose flow control comes before its authorizers.
#[tokio::test]
async fn some_failures_come_before_authorization() {
    let builder = FakeApiServer::builder().authorization_mode([AuthorizationMode::Rbac]);
    let server = start_with(builder.add_static_token("t", "u", &[]).record_requests(true)).await;
    // One that is about to stop closes the connection.
    let code = async |token: &str| {
        let mut client = Client::new(&server).await;
        client.token = token.into();
        client.get(CONFIG_MAPS).await.code
    };
    let preset = |preset| Rule { times: Some(1), actions: vec![Action::Preset(preset)], ..Rule::default() };
    let replace = |rules: Vec<Rule>| server.obey(Order::ReplaceFaults { rules });
    for (early, expected) in [(Preset::ApfRejected, 429), (Preset::ShuttingDown, 429), (Preset::Unauthorized, 401)] {
        replace(vec![preset(early)]).await.expect("a rule");
        let codes = [code("wrong").await, code("t").await, code("t").await];
        assert_eq!(codes, [401, expected, 403], "{early:?}");
        let answer = server.ask(Question::Faults { unused: false }).await.expect("one");
        assert_eq!(answer["items"][0]["status"], json!({"seen": 1, "struck": 1, "left": 0}), "{early:?}");
    }
    let fault = &recorded(&server).await[1]["fault"];
    assert_eq!((&fault["id"], &fault["actions"][0]), (&json!("f1"), &json!("preset")), "{fault}");
    // Those of a handler come after it, and the first rule that matches is the one that strikes.
    let pass = Rule { actions: vec![Action::Pass(true)], ..Rule::default() };
    let skips = Rule { skip: 1, ..preset(Preset::Timeout) };
    for (rules, expected) in [
        (vec![preset(Preset::Timeout)], 403),
        (vec![pass, preset(Preset::ApfRejected)], 403),
        (vec![preset(Preset::Timeout), preset(Preset::ApfRejected)], 403),
        (vec![skips, preset(Preset::ApfRejected)], 429),
    ] {
        replace(rules.clone()).await.expect("rules");
        assert_eq!(code("t").await, expected, "{rules:?}");
    }
}

#[tokio::test]
async fn a_frozen_watch_is_thawed() {
    let (server, mut client) = recording().await;
    strike(&server, "watch", watching(WatchDo::Freeze, 1, None)).await;
    let mut events = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    for name in ["a", "b"] {
        client.post(CONFIG_MAPS, &named(name)).await.expect(201);
    }
    assert_eq!(events.next_short().await.1, "a");
    let thaw = |on: Option<Match>| server.obey(Order::ThawWatches { on: on.map(Box::new) });
    let others = Match { resources: vec!["secrets".into()], ..Match::default() };
    assert_eq!(thaw(Some(others)).await.expect("none"), Answer::Thawed { watches: 0 });
    assert_eq!(thaw(None).await.expect("one"), Answer::Thawed { watches: 1 });
    assert_eq!(events.next_short().await.1, "b");
    assert_eq!(thaw(None).await.expect("it goes on"), Answer::Thawed { watches: 0 });
    // The rule is still there for those to come.
    let mut frozen = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    assert_eq!(frozen.next_short().await.1, "a");
    assert_eq!(thaw(None).await.expect("another"), Answer::Thawed { watches: 1 });
    assert_eq!(frozen.next_short().await.1, "b");
}

#[tokio::test]
async fn reads_see_a_snapshot_and_all_of_them_if_forced() {
    let (server, mut client) = recording().await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    server.obey(Order::Save { snapshot: "then".into() }).await.expect("a snapshot");
    let made = client.post(CONFIG_MAPS, &named("b")).await.expect(201);
    let stale = |force| Stale { snapshot: Some("then".into()), force, ..Stale::default() };
    strike(&server, "list", Action::Stale(stale(false))).await;
    assert_eq!(names(&client.get(&format!("{CONFIG_MAPS}?resourceVersion=0")).await.expect(200)), ["a"]);
    assert_eq!(names(&client.get(CONFIG_MAPS).await.expect(200)), ["a", "b"]);
    let faults = server.ask(Question::Faults { unused: false }).await.expect("one");
    let told = &faults["items"][0]["actions"][0]["stale"];
    assert_eq!(told, &json!({"snapshot": "then", "revision": revision(&made) - 1}));
    server.obey(Order::ClearFaults).await.expect("none");
    for verb in ["list", "get", "watch"] {
        strike(&server, verb, Action::Stale(stale(true))).await;
    }
    assert_eq!(names(&client.get(CONFIG_MAPS).await.expect(200)), ["a"]);
    assert_eq!(client.get(&format!("{CONFIG_MAPS}/b")).await.code, 404);
    let mut events = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    assert_eq!((events.next_short().await.1, events.next_short().await.1), ("a".into(), "b".into()));
    // Writes see what there is.
    client.patch(MERGE_PATCH, &format!("{CONFIG_MAPS}/b"), &json!({"data": {"k": "v"}})).await.expect(200);
    let marks: Vec<bool> = recorded(&server)
        .await
        .iter()
        .filter(|one| one["fault"].is_object())
        .map(|one| one["fault"]["unfaithful"] == true)
        .collect();
    assert_eq!(marks, [false, false, true, true, true]);
    for (wrong, message) in [
        (Stale { behind: Some(1), ..stale(false) }, "it says one of revision, behind and snapshot"),
        (Stale { snapshot: Some("ten".into()), ..Stale::default() }, "did you mean \"then\"?"),
    ] {
        let refusal = server.obey(Order::fault(Match::default(), Action::Stale(wrong))).await.expect_err("it is none");
        assert!(refusal.message.contains(message), "{refusal}");
    }
}

#[tokio::test]
async fn only_what_a_real_server_may_leave_out_is_faithful() {
    for (drop, faithful) in [("BOOKMARK", true), ("ADDED", false)] {
        let events = Events { drop: vec![drop.into()], ..Events::default() };
        assert_eq!(Action::Events(events).is_faithful(), faithful);
    }
}

#[tokio::test]
async fn a_status_has_details() {
    let (server, mut client) = recording().await;
    let cause =
        |field: &str| StatusCause { reason: "FieldValueInvalid".into(), message: "no".into(), field: field.into() };
    let details = Details {
        name: "a".into(),
        kind: "configmaps".into(),
        causes: vec![cause("data.k")],
        retry_after_seconds: Some(7),
        ..Details::default()
    };
    strike(&server, "create", Action::Status(Status { code: 422, details: Some(details), ..Status::default() })).await;
    let answer = client.post(CONFIG_MAPS, &named("a")).await;
    assert_eq!((answer.code, answer.header("retry-after")), (422, "7"));
    let causes = json!([{"reason": "FieldValueInvalid", "message": "no", "field": "data.k"}]);
    let details = json!({"name": "a", "kind": "configmaps", "causes": causes, "retryAfterSeconds": 7});
    assert_eq!(answer.json()["details"], details);
}

#[tokio::test]
async fn a_connection_breaks_before_anything_is_read() {
    let server = start().await;
    let fault = |act| Connection { act, when: When::BeforeRead, bytes: None, scope: Scope::default() };
    for (act, is_reset) in [(Do::Close, false), (Do::Reset, true)] {
        server.obey(Order::fault(Match::default(), Action::Connection(fault(act)))).await.expect("a rule");
        // A reset may come before the client has seen that it is connected.
        let read = match TcpStream::connect(address(&server)).await {
            Ok(mut stream) => soon(stream.read(&mut [0; 1])).await,
            Err(error) => Err(error),
        };
        assert!(if is_reset { read.is_err() } else { matches!(read, Ok(0)) }, "{act:?} {read:?}");
        server.obey(Order::ClearFaults).await.expect("none");
    }
    let on = Match { verbs: vec!["get".into()], ..Match::default() };
    let refusal =
        server.obey(Order::fault(on, Action::Connection(fault(Do::Close)))).await.expect_err("no request yet");
    assert!(refusal.message.contains("only the replica is known"), "{refusal}");
    Client::new(&server).await.get(CONFIG_MAPS).await.expect(200);
}

#[tokio::test]
async fn a_watch_whose_history_is_forgotten_is_found_if_its_client_does_not_list() {
    let (server, mut client) = recording().await;
    let made = client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    client.post(CONFIG_MAPS, &named("b")).await.expect(201);
    server.compact();
    for _ in 0..2 {
        let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", revision(&made) - 1);
        let mut events = Client::new(&server).await.watch(&path, &[]).await;
        assert_eq!(events.next().await.expect("an error")["object"]["code"], 410);
    }
    let last = recorded(&server).await.pop().expect("a watch");
    assert_eq!((&last["code"], &last["error"]), (&json!(200), &json!(410)));
    let ids = |found: Value| -> Vec<String> {
        found["items"].as_array().expect("a list").iter().map(|one| one["id"].to_string()).collect()
    };
    let found = server.ask(Question::Findings { since: 0 }).await.expect("they are recorded");
    assert_eq!(ids(found), ["\"expired-not-listed\""]);
    client.get(CONFIG_MAPS).await.expect(200);
    let found = server.ask(Question::Findings { since: 0 }).await.expect("they are recorded");
    assert!(ids(found).is_empty());
    assert_eq!(recorded(&server).await.pop().expect("a list")["items"], 2);
}
