//! The history of objects, and a cluster that goes back, over the control port of the program.
#![cfg(unix)]

mod programs;

use programs::server::{CONFIG_MAPS, Server, exchange, watch};
use serde_json::{Value, json};
use std::thread;

#[test]
fn changes_are_told_with_those_who_made_them() {
    let server = Server::start(&[]);
    let begin = server.must("GET", "/events?limit=0", &Value::Null);
    assert_eq!(begin["items"], json!([]));
    let since = server.must("GET", "/clock", &Value::Null)["revision"].as_str().expect("a text").to_owned();
    assert_eq!(server.create("a"), 201);
    let patch = json!({"metadata": {"name": "a", "labels": {"x": "y"}}});
    assert_eq!(server.api("PUT", &format!("{CONFIG_MAPS}/a"), &patch).0, 200);
    server.api("POST", "/api/v1/namespaces/default/secrets", &json!({"metadata": {"name": "s"}}));
    assert_eq!(server.api("DELETE", &format!("{CONFIG_MAPS}/a"), &Value::Null).0, 200);
    let told = server.must("GET", &format!("/events?since={since}&resource=configmaps"), &Value::Null);
    let short: Vec<String> = told["items"].as_array().expect("a list").iter().map(short).collect();
    assert_eq!(
        short,
        [
            "ADDED configmaps a by admin: create",
            "MODIFIED configmaps a by admin: update",
            "DELETED configmaps a by admin: delete"
        ]
    );
    assert!(told["items"][0].get("object").is_none());
    let query = json!({"match": {"verbs": ["update"], "labelSelector": "x=y"}, "objects": true});
    let updated = server.must("POST", "/events/query", &query);
    assert_eq!(updated["items"].as_array().expect("a list").len(), 1, "{updated}");
    assert_eq!(updated["items"][0]["object"]["metadata"]["labels"]["x"], "y");
    // A page, and the next one.
    let page = server.must("GET", &format!("/events?since={since}&limit=3"), &Value::Null);
    let next = page["revision"].as_str().expect("a text");
    let rest = server.must("GET", &format!("/events?since={next}"), &Value::Null);
    assert_eq!((page["items"].as_array().expect("three").len(), rest["items"].as_array().expect("one").len()), (3, 1));
    // A client that waits is told at once.
    let now = rest["revision"].as_str().expect("a text");
    let waited = thread::scope(|scope| {
        let asks = scope.spawn(|| {
            server.must("GET", &format!("/events?since={now}&resource=configmaps&timeoutSeconds=20"), &Value::Null)
        });
        assert_eq!(server.create("b"), 201);
        asks.join().expect("an answer")
    });
    assert_eq!(waited["items"][0]["name"], "b");
    server.must("POST", "/history/compact", &json!({}));
    let (code, refusal) = server.control("GET", "/events?since=1", &Value::Null);
    assert_eq!((code, &refusal["reason"]), (410, &json!("Expired")));
    for since in ["", "?since=18446744073709551615"] {
        assert_eq!(server.must("GET", &format!("/events{since}"), &Value::Null)["items"], json!([]));
    }
}

fn short(change: &Value) -> String {
    let text = |pointer: &str| change.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    format!("{} {} {} by {}: {}", text("/type"), text("/resource"), text("/name"), text("/by/user"), text("/by/verb"))
}

#[test]
fn an_object_has_a_history() {
    let server = Server::start(&[]);
    assert_eq!(server.create("a"), 201);
    server.must("POST", "/history/compact", &json!({}));
    let path = "/objects/configmaps/default/a/history";
    let before = server.must("GET", path, &Value::Null);
    assert_eq!(before["items"].as_array().expect("a list").len(), 1);
    assert!(before["items"][0].get("type").is_none() && before["items"][0]["by"]["verb"] == "create", "{before}");
    let put = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    assert_eq!(server.api("PUT", &format!("{CONFIG_MAPS}/a"), &put).0, 200);
    assert_eq!(server.api("DELETE", &format!("{CONFIG_MAPS}/a"), &Value::Null).0, 200);
    let history = server.must("GET", path, &Value::Null);
    let kinds: Vec<&str> =
        history["items"].as_array().expect("a list").iter().map(|item| item["type"].as_str().unwrap_or("")).collect();
    assert_eq!(kinds, ["", "MODIFIED", "DELETED"]);
    assert_eq!(history["items"][1]["object"]["data"], json!({"k": "v"}));
    assert_eq!(server.must("GET", "/objects/namespaces/default/history", &Value::Null)["items"][0]["name"], "default");
    for (path, code, message) in [
        ("/objects/configmap/default/a/history", 422, "did you mean \"configmaps\"?"),
        ("/objects/configmaps/a/history", 422, "objects of this resource have one"),
        ("/objects/configmaps/default/x/history", 404, "the history has nothing about it"),
    ] {
        let (status, refusal) = server.control("GET", path, &Value::Null);
        assert!(status == code && refusal["message"].as_str().expect("a text").contains(message), "{path}: {refusal}");
    }
}

#[test]
fn a_cluster_goes_back_over_http() {
    let server = Server::start(&[]);
    assert_eq!(server.create("kept"), 201);
    let (_, kept) = server.api("GET", &format!("{CONFIG_MAPS}/kept"), &Value::Null);
    let saved = server.must("POST", "/snapshots", &json!({"snapshot": "s"}));
    let number =
        |value: &Value| value["revision"].as_str().and_then(|text| text.parse::<u64>().ok()).expect("a number");
    for index in 0..5 {
        assert_eq!(server.create(&format!("later-{index}")), 201);
    }
    let mut events = watch(&server, "");
    assert!(events.next().is_some());
    let back = server.must("POST", "/snapshots/s/restore", &json!({"revisions": "rewind"}));
    assert_eq!(number(&back), number(&saved) + 1, "an API server writes keys of its own as it starts");
    assert!(events.all(|event| event["type"] == "ADDED"), "watches end without a word");
    assert_eq!(server.api("GET", &format!("{CONFIG_MAPS}/kept"), &Value::Null), (200, kept));
    assert_eq!(server.api("GET", &format!("{CONFIG_MAPS}/later-1"), &Value::Null).0, 404);
    // So does a cluster beside it.
    server.must("POST", "/clusters", &json!({"name": "one"}));
    let one = |method: &str, path: &str, body: Value| server.must(method, &format!("/clusters/one{path}"), &body);
    one("POST", "/snapshots", json!({"snapshot": "begun"}));
    one("POST", "/seed", json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}));
    one("POST", "/snapshots/begun/restore", json!({"revisions": "rewind"}));
    assert_eq!(server.control("GET", "/clusters/one/objects/namespaces/team/history", &Value::Null).0, 404);
    let (code, refusal) = server.control("POST", "/snapshots/s/restore", &json!({"revisions": "rewinds"}));
    assert!(
        code == 400 && refusal["message"].as_str().expect("a text").contains("did you mean \"rewind\"?"),
        "{refusal}"
    );
}

#[test]
fn a_cluster_begins_with_a_snapshot() {
    let server = Server::start(&[]);
    assert_eq!(server.create("kept"), 201);
    let (_, kept) = server.api("GET", &format!("{CONFIG_MAPS}/kept"), &Value::Null);
    let saved = server.must("POST", "/snapshots", &json!({"snapshot": "s"}));
    assert_eq!(server.create("later"), 201);
    assert_eq!(server.api("DELETE", &format!("{CONFIG_MAPS}/kept"), &Value::Null).0, 200);
    let made = server.must("POST", "/clusters", &json!({"name": "one", "from": {"snapshot": "s"}}));
    let revision = |answer: &Value| answer["revision"].as_str().and_then(|text| text.parse::<u64>().ok());
    assert_eq!(revision(&made), revision(&saved).map(|revision| revision + 1));
    let token = made["token"].as_str().expect("a token");
    let get = |name: &str| exchange(&server.url, token, "GET", &format!("/clusters/one{CONFIG_MAPS}/{name}"), "");
    assert_eq!(get("kept"), (200, kept));
    assert_eq!(get("later").0, 404);
    // That is what it is reset to, and the first cluster has not changed.
    exchange(&server.url, token, "DELETE", &format!("/clusters/one{CONFIG_MAPS}/kept"), "");
    server.must("POST", "/clusters/one/reset", &json!({}));
    assert_eq!(get("kept").0, 200);
    assert_eq!(server.api("GET", &format!("{CONFIG_MAPS}/later"), &Value::Null).0, 200);
    // Another one begins with a snapshot of that one.
    exchange(&server.url, token, "POST", &format!("/clusters/one{CONFIG_MAPS}"), r#"{"metadata": {"name": "own"}}"#);
    server.must("POST", "/clusters/one/snapshots", &json!({"name": "t"}));
    exchange(&server.url, token, "DELETE", &format!("/clusters/one{CONFIG_MAPS}/own"), "");
    let made = server.must("POST", "/clusters", &json!({"name": "two", "from": {"cluster": "one", "snapshot": "t"}}));
    let token = made["token"].as_str().expect("a token");
    assert_eq!(exchange(&server.url, token, "GET", &format!("/clusters/two{CONFIG_MAPS}/own"), "").0, 200);
    let (code, refusal) = server.control("POST", "/clusters", &json!({"from": {"snapshot": "z"}}));
    assert!(code == 404 && refusal["message"].as_str().expect("a text").contains("snapshots \"z\""), "{refusal}");
}

#[test]
fn a_cluster_has_the_nodes_of_the_server() {
    let server = Server::start(&["--like-a-cluster", "--nodes=a,b"]);
    server.must("POST", "/settle", &json!({"timeoutSeconds": 60}));
    let made = server.must("POST", "/clusters", &json!({"name": "one"}));
    let token = made["token"].as_str().expect("a token");
    let pods = "/clusters/one/api/v1/namespaces/default/pods";
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"nodeName": "b", "containers": [{"name": "c", "image": "i"}]}});
    let (code, refusal) = exchange(&server.url, token, "POST", pods, &pod.to_string());
    assert_eq!(code, 201, "{refusal}");
    server.must("POST", "/clusters/one/settle", &json!({"timeoutSeconds": 60}));
    let (_, pod) = exchange(&server.url, token, "GET", &format!("{pods}/p"), "");
    assert_eq!(pod["status"]["phase"], "Running");
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused_and_changes_nothing() {
    let server = Server::start(&[]);
    assert_eq!(server.create("a"), 201);
    server.must("POST", "/snapshots", &json!({"snapshot": "s"}));
    let file = server.text("/snapshots/s");
    for part in [0, 1, 30, file.len() / 3, file.len() / 2, file.len() - 2] {
        let cut = file.char_indices().map(|(place, _)| place).take_while(|place| *place <= part).last().unwrap_or(0);
        let (code, refusal) = exchange(&server.control, &server.token, "PUT", "/_fake/v1/snapshots/cut", &file[..cut]);
        assert!(code == 422 && refusal["details"]["causes"][0]["field"] == "content", "{part}: {code} {refusal}");
    }
    assert_eq!(server.must("GET", "/snapshots", &Value::Null)["items"].as_array().expect("a list").len(), 1);
}
