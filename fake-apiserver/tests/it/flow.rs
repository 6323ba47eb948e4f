//! Priority and fairness: which flow a request has, and who is served, waits and is refused where that takes several requests at a time.

use crate::support::{Answer, CONFIG_MAPS, Client, named, soon, start_with, text};
use fake_apiserver::{Builder, FakeApiServer, On, StartError};
use serde_json::{Value, json};
use std::time::Duration;

const SCHEMAS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const LEVELS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
const REQUESTS: &str = "/debug/api_priority_and_fairness/dump_requests";

/// A server with a hundred seats, of which a level with one share that borrows none has one.
fn builder() -> Builder {
    let users = FakeApiServer::builder().add_static_token("t", "u", &[]).add_static_token("w", "w", &[]);
    users.max_requests_inflight(60).max_mutating_requests_inflight(40)
}

async fn user(server: &FakeApiServer, token: &str) -> Client {
    let mut client = Client::new(server).await;
    client.token = token.into();
    client
}

/// A level with that many shares, and queues, if it has some: their number, how many a flow is dealt, and their length.
fn level(shares: u32, queuing: Option<[u32; 3]>) -> Value {
    let response = match queuing {
        None => json!({"type": "Reject"}),
        Some([queues, hand, length]) => {
            json!({"type": "Queue", "queuing": {"queues": queues, "handSize": hand, "queueLengthLimit": length}})
        }
    };
    let limited = json!({"nominalConcurrencyShares": shares, "borrowingLimitPercent": 0, "limitResponse": response});
    json!({"metadata": {"name": "level"}, "spec": {"type": "Limited", "limited": limited}})
}

/// A schema of the requests of all users for config maps.
fn schema() -> Value {
    json!({"metadata": {"name": "schema"}, "spec": {
        "matchingPrecedence": 10,
        "priorityLevelConfiguration": {"name": "level"},
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [{
            "subjects": [{"kind": "Group", "group": {"name": "system:authenticated"}}],
            "resourceRules": [{"verbs": ["*"], "apiGroups": [""], "resources": ["configmaps"], "namespaces": ["*"]}],
        }],
    }})
}

/// Stores a level and a schema for it; their uids, the schema's first.
async fn arrange(server: &FakeApiServer, level: &Value) -> [String; 2] {
    let mut admin = Client::new(server).await;
    let level = admin.post(LEVELS, level).await.expect(201);
    let schema = admin.post(SCHEMAS, &schema()).await.expect(201);
    [schema, level].map(|object| text(&object, "/metadata/uid").to_owned())
}

/// The uids that an answer names: that of the flow schema first.
fn flow(answer: &Answer) -> [String; 2] {
    ["x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"].map(|name| answer.header(name).to_owned())
}

/// The uids of a schema and its level, by their names.
async fn uids(admin: &mut Client, schema: &str, level: &str) -> [String; 2] {
    let mut uids = Vec::new();
    for path in [format!("{SCHEMAS}/{schema}"), format!("{LEVELS}/{level}")] {
        uids.push(text(&admin.get(&path).await.expect(200), "/metadata/uid").to_owned());
    }
    uids.try_into().expect("two")
}

#[track_caller]
fn expect_too_many(answer: &Answer, uids: &[String; 2]) {
    assert_eq!((answer.code, answer.text()), (429, "Too many requests, please try again later.\n"));
    assert_eq!((answer.header("retry-after"), &flow(answer)), ("1", uids));
}

/// Waits until somebody waits at the level.
async fn until_one_waits(admin: &mut Client) {
    let waits = async {
        while !admin.get(REQUESTS).await.text().contains("\nlevel,") {
            tokio::task::yield_now().await;
        }
    };
    soon(waits).await;
}

/// The value of a metric, or "".
async fn metric(admin: &mut Client, series: &str) -> String {
    let metrics = admin.get("/metrics").await;
    let line = metrics.text().lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn answers_name_the_flow_of_their_requests() {
    let server = start_with(builder()).await;
    let mut admin = Client::new(&server).await;
    let exempt = uids(&mut admin, "exempt", "exempt").await;
    let others = uids(&mut admin, "global-default", "global-default").await;
    for path in [CONFIG_MAPS, "/api/v1/namespaces/default/configmaps/none", "/apis", "/nowhere"] {
        assert_eq!(flow(&admin.get(path).await), exempt, "{path}");
        assert_eq!(flow(&user(&server, "t").await.get(path).await), others, "{path}");
    }
    let probes = uids(&mut admin, "probes", "exempt").await;
    assert_eq!(flow(&user(&server, "t").await.get("/healthz").await), probes);
    let refused = user(&server, "unknown").await.get(CONFIG_MAPS).await;
    assert_eq!((refused.code, flow(&refused)), (401, Default::default()));
    let log = admin.get("/api/v1/namespaces/default/pods/none/log").await;
    assert_eq!((log.code, flow(&log)), (404, Default::default()), "it may last");
    let own = arrange(&server, &level(1, None)).await;
    assert_eq!(flow(&user(&server, "t").await.get(CONFIG_MAPS).await), own);
    assert_eq!(flow(&admin.get(CONFIG_MAPS).await), exempt, "it is asked first");
    admin.delete(&format!("{LEVELS}/level")).await.expect(200);
    assert_eq!(flow(&user(&server, "t").await.get(CONFIG_MAPS).await), others, "a level that is gone serves nobody");
}

#[tokio::test]
async fn a_level_without_queues_refuses_whoever_finds_no_seat() {
    let server = start_with(builder()).await;
    let uids = arrange(&server, &level(1, None)).await;
    let slow = server.faults().add(On::get("configmaps").delay(Duration::MAX));
    let mut held = user(&server, "t").await;
    let held = tokio::spawn(async move { held.get(&format!("{CONFIG_MAPS}/a")).await.code });
    soon(server.faults().wait_for_hits(slow, 1)).await;
    let mut other = user(&server, "w").await;
    expect_too_many(&other.get(CONFIG_MAPS).await, &uids);
    expect_too_many(&other.post(CONFIG_MAPS, &named("a")).await, &uids);
    other.get("/api/v1/namespaces/default/secrets").await.expect(200);
    let mut admin = Client::new(&server).await;
    admin.get(CONFIG_MAPS).await.expect(200);
    let rejected = "apiserver_flowcontrol_rejected_requests_total{flow_schema=\"schema\",priority_level=\"level\",reason=\"concurrency-limit\"}";
    assert_eq!(metric(&mut admin, rejected).await, "2");
    held.abort();
    let lists = async {
        while other.get(CONFIG_MAPS).await.code == 429 {
            tokio::task::yield_now().await;
        }
    };
    soon(lists).await;
    // A watch has a seat while it begins.
    let watch = user(&server, "t").await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    other.get(CONFIG_MAPS).await.expect(200);
    drop(watch);
}

#[tokio::test]
async fn requests_wait_in_queues_for_their_seats() {
    let server = start_with(builder()).await;
    let uids = arrange(&server, &level(1, Some([1, 1, 1]))).await;
    let slow = server.faults().add(On::get("configmaps").delay(Duration::MAX).times(1));
    let mut held = user(&server, "t").await;
    let held = tokio::spawn(async move { held.get(&format!("{CONFIG_MAPS}/a")).await.code });
    soon(server.faults().wait_for_hits(slow, 1)).await;
    let mut second = user(&server, "t").await;
    let second = tokio::spawn(async move { second.get(CONFIG_MAPS).await });
    let mut admin = Client::new(&server).await;
    until_one_waits(&mut admin).await;
    expect_too_many(&user(&server, "w").await.get(CONFIG_MAPS).await, &uids);
    let waiting = "apiserver_flowcontrol_current_inqueue_requests{flow_schema=\"schema\",priority_level=\"level\"}";
    assert_eq!(metric(&mut admin, waiting).await, "1");
    let details = admin.get(&format!("{REQUESTS}?includeRequestDetails=1")).await;
    let line = details.text().lines().find(|line| line.starts_with("level,")).expect("it waits").to_owned();
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    assert_eq!((&cells[..5], &cells[6..9]), (&["level", "schema", "0", "0", ""][..], &["1", "0", "0s"][..]));
    assert_eq!(cells[10..], ["u", "list", CONFIG_MAPS, "default", "", "v1", "configmaps", ""]);
    held.abort();
    let answer = soon(second).await.expect("an answer");
    assert_eq!((answer.code, flow(&answer)), (200, uids));
    assert_eq!(metric(&mut admin, waiting).await, "0");
}

#[tokio::test]
async fn who_waits_too_long_is_refused_and_who_leaves_makes_room() {
    let server = start_with(builder()).await;
    let uids = arrange(&server, &level(0, Some([1, 1, 1]))).await;
    let mut admin = Client::new(&server).await;
    // A quarter of its time.
    expect_too_many(&user(&server, "t").await.get(&format!("{CONFIG_MAPS}?timeout=40ms")).await, &uids);
    let mut first = user(&server, "t").await;
    let first = tokio::spawn(async move { first.get(CONFIG_MAPS).await });
    until_one_waits(&mut admin).await;
    first.abort();
    let gone = async {
        while admin.get(REQUESTS).await.text().contains("\nlevel,") {
            tokio::task::yield_now().await;
        }
    };
    soon(gone).await;
    let rejected = "apiserver_flowcontrol_rejected_requests_total{flow_schema=\"schema\",priority_level=\"level\",reason=\"time-out\"}";
    assert_eq!(metric(&mut admin, rejected).await, "2");
    // More shares let those who wait go on.
    let mut waits = user(&server, "t").await;
    let waits = tokio::spawn(async move { waits.get(CONFIG_MAPS).await });
    until_one_waits(&mut admin).await;
    admin.put(&format!("{LEVELS}/level"), &level(1, Some([1, 1, 1]))).await.expect(200);
    user(&server, "w").await.get("/api/v1/namespaces/default/secrets").await.expect(200);
    assert_eq!(soon(waits).await.expect("an answer").code, 200);
}

#[tokio::test]
async fn flows_of_several_users_take_turns() {
    let server = start_with(builder()).await;
    // Of two queues, these users are dealt different ones.
    arrange(&server, &level(1, Some([2, 1, 10]))).await;
    let slow = server.faults().add(On::get("configmaps").delay(Duration::MAX).times(1));
    let mut held = user(&server, "t").await;
    let held = tokio::spawn(async move { held.get(&format!("{CONFIG_MAPS}/a")).await.code });
    soon(server.faults().wait_for_hits(slow, 1)).await;
    let mut admin = Client::new(&server).await;
    let mut waiting = Vec::new();
    for (count, token) in ["t", "t", "t", "w"].into_iter().enumerate() {
        let mut client = user(&server, token).await;
        let name = format!("{token}-{count}");
        waiting.push(tokio::spawn(async move { client.post(CONFIG_MAPS, &named(&name)).await.expect(201) }));
        let all_wait = async {
            while admin.get(REQUESTS).await.text().matches("\nlevel,").count() <= count {
                tokio::task::yield_now().await;
            }
        };
        soon(all_wait).await;
    }
    held.abort();
    let mut revisions = Vec::new();
    for request in waiting {
        revisions.push(crate::support::revision(&soon(request).await.expect("an answer")));
    }
    let [_, second, _, other] = revisions[..] else { panic!("{revisions:?}") };
    assert!(other < second, "one who comes later does not wait for all of another's: {revisions:?}");
}

#[tokio::test]
async fn it_can_be_turned_off_and_needs_seats() {
    let server = start_with(builder().priority_and_fairness(false)).await;
    arrange(&server, &level(0, None)).await;
    let answer = user(&server, "t").await.get(CONFIG_MAPS).await;
    assert_eq!((answer.code, flow(&answer)), (200, Default::default()));
    assert_eq!(Client::new(&server).await.get(REQUESTS).await.code, 404);
    let none = builder().max_requests_inflight(0).max_mutating_requests_inflight(0).start().await;
    assert!(matches!(none, Err(StartError::NoSeats)));
}
