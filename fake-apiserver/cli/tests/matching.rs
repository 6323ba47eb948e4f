//! The control port: requests by their bodies, watches by a pattern, objects by a condition.
#![cfg(unix)]

mod programs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use programs::SOON;
use programs::server::{CONFIG_MAPS, Server, watch};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Instant;

#[test]
fn requests_are_matched_by_their_bodies() {
    let server = Server::start(&[]);
    let labelled =
        |name: &str, tier: &str| json!({"metadata": {"name": name, "labels": {"tier": tier}}, "data": {"k": name}});
    let rule = |on: Value| json!([{"match": on, "actions": [{"status": {"code": 503}}]}]);
    server.must("PUT", "/faults", &rule(json!({"labelSelector": "tier in (a,b)", "verbs": ["create"]})));
    assert_eq!(server.api("POST", CONFIG_MAPS, &labelled("one", "a")).0, 503);
    assert_eq!(server.api("POST", CONFIG_MAPS, &labelled("two", "c")).0, 201);
    server.must("PUT", "/faults", &rule(json!({"bodyContains": {"data": {"k": "three"}}})));
    assert_eq!(server.api("POST", CONFIG_MAPS, &labelled("three", "c")).0, 503);
    assert_eq!(server.api("POST", CONFIG_MAPS, &labelled("four", "c")).0, 201);
    assert_eq!(server.api("GET", CONFIG_MAPS, &Value::Null).0, 200);
    let wait = json!({"match": {"bodyContains": {"data": {"k": "five"}}}, "timeoutSeconds": 0});
    let missed = server.must("POST", "/requests/wait", &wait);
    let why = missed["nearMisses"].as_array().expect("some").iter().find_map(|miss| {
        (miss["request"]["name"] == "" && miss["request"]["verb"] == "create").then(|| miss["why"][0].clone())
    });
    let expected = "bodyContains: the request has \"data.k: it is \\\"four\\\", in place of \\\"five\\\"\"";
    assert_eq!(why, Some(expected.into()));
    for (on, message) in [
        (json!({"labelSelector": "tier in a"}), "unable to parse requirement"),
        (json!({"bodyContains": "text"}), "the body of a request is an object"),
    ] {
        for (path, body) in [("/faults", rule(on.clone())), ("/requests/wait", json!({"match": on}))] {
            let (code, answer) = server.control(if path == "/faults" { "PUT" } else { "POST" }, path, &body);
            assert!(code == 422 && answer["message"].as_str().expect("a text").contains(message), "{answer}");
        }
    }
}

#[test]
fn watches_are_listed_and_ended_by_a_pattern() {
    let server = Server::start(&[]);
    assert_eq!(server.create("one"), 201);
    let mut all = watch(&server, "&resourceVersion=0&timeoutSeconds=100");
    assert_eq!(all.next().expect("an event")["type"], "ADDED");
    let mut one = watch(&server, "&resourceVersion=0&timeoutSeconds=100&fieldSelector=metadata.name%3Done");
    assert_eq!(one.next().expect("an event")["type"], "ADDED");
    let open = server.must("GET", "/watches?resource=configmaps", &Value::Null);
    let open: Vec<_> =
        open["items"].as_array().expect("items").iter().map(|one| (&one["request"]["name"], &one["events"])).collect();
    assert_eq!(open, [(&json!(""), &json!(1)), (&json!("one"), &json!(1))]);
    let ended = server.must("POST", "/watches/end", &json!({"match": {"names": ["one"]}, "how": "410"}));
    assert_eq!(ended, json!({"replicas": 1, "watches": 1}));
    let error = one.next().expect("an event");
    assert_eq!((&error["type"], &error["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert!(one.next().is_none());
    assert_eq!(server.create("two"), 201);
    assert_eq!(all.next().expect("the other goes on")["object"]["metadata"]["name"], "two");
    server.must("POST", "/watches/end", &json!({"match": {"resources": ["configmaps"]}, "how": "reset"}));
    assert!(all.next().is_none());
    let begun = Instant::now();
    while server.must("GET", "/watches", &Value::Null)["items"] != json!([]) {
        assert!(begun.elapsed() < SOON);
    }
}

#[test]
fn a_rule_about_watches_waits_for_one() {
    let server = Server::start(&[]);
    assert_eq!(server.create("one"), 201);
    let rule = json!({"name": "cut", "times": 1, "match": {"resources": ["configmaps"]}, "actions": [{"watch": {"do": "end"}}]});
    let added = server.must("POST", "/faults", &rule);
    // An informer lists first.
    assert_eq!(server.api("GET", CONFIG_MAPS, &Value::Null).0, 200);
    let of = format!("/faults/{}", added["id"].as_str().expect("an id"));
    assert_eq!(server.must("GET", &of, &Value::Null)["status"], json!({"seen": 0, "struck": 0, "left": 1}));
    assert!(watch(&server, "&resourceVersion=0&timeoutSeconds=100").next().is_none());
    assert_eq!(server.must("GET", &of, &Value::Null)["status"]["struck"], 1);
    // Its name is taken.
    assert_eq!(server.control("POST", "/faults", &rule).0, 409);
    assert_eq!(server.control("PUT", "/faults", &json!([rule, rule])).0, 409);
    assert_eq!(server.must("GET", "/faults", &Value::Null)["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn revisions_are_taken_without_a_change() {
    let server = Server::start(&[]);
    assert_eq!(server.create("one"), 201);
    let revision = |answer: &Value| {
        answer["metadata"]["resourceVersion"].as_str().expect("a revision").parse::<u64>().expect("a number")
    };
    let before = revision(&server.api("GET", CONFIG_MAPS, &Value::Null).1);
    let advanced = server.must("POST", "/revision/advance", &json!({"by": 1000}));
    assert_eq!(advanced["revision"], (before + 1000).to_string());
    let (_, made) = server.api("POST", CONFIG_MAPS, &json!({"metadata": {"name": "two"}}));
    assert_eq!(revision(&made), before + 1001);
    let from = format!("&resourceVersion={before}");
    let mut events = watch(&server, &from);
    assert_eq!(events.next().expect("an event")["object"]["metadata"]["name"], "two");
    for by in [json!(0), json!(u64::MAX)] {
        assert_eq!(server.control("POST", "/revision/advance", &json!({"by": by})).0, 422);
    }
}

#[test]
fn objects_are_waited_for() {
    let server = Server::start(&[]);
    let on = |more: Value| {
        let mut wait = json!({"resource": "configmaps", "namespace": "default", "name": "one"});
        wait.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        wait
    };
    let waited = std::thread::scope(|scope| {
        let asks = scope.spawn(|| {
            server.must("POST", "/objects/wait", &on(json!({"cel": "self.data.k == 'v'", "timeoutSeconds": 20})))
        });
        assert_eq!(server.create("one"), 201);
        server.api("PUT", &format!("{CONFIG_MAPS}/one"), &json!({"metadata": {"name": "one"}, "data": {"k": "v"}}));
        asks.join().expect("an answer")
    });
    assert_eq!((&waited["satisfied"], &waited["object"]["data"]["k"]), (&json!(true), &json!("v")));
    for (more, message) in [
        (json!({"contains": {"data": {"k": "w"}}}), "configmaps default/one: data.k: it is \"v\", in place of \"w\""),
        (json!({"cel": "self.data.k == 'w'"}), "configmaps default/one: the expression is false"),
        (json!({"cel": "self.data.l == 'w'"}), "configmaps default/one: the expression fails: no such key: l"),
        (json!({"absent": true}), "configmaps default/one: it is there"),
        (json!({"name": "on"}), "configmaps default/on: it is not there; there is \"one\""),
    ] {
        let mut wait = on(more);
        wait["timeoutSeconds"] = 0.into();
        let answer = server.must("POST", "/objects/wait", &wait);
        assert_eq!((&answer["satisfied"], &answer["message"]), (&json!(false), &json!(message)));
    }
    for (wait, message) in [
        (json!({"resource": "configmap", "namespace": "default", "name": "one"}), "did you mean \"configmaps\"?"),
        (json!({"resource": "configmaps", "name": "one"}), "namespace: "),
        (on(json!({"cel": "self.data ="})), "Syntax error"),
        (on(json!({"cel": "1 + 1"})), "it is a int, and not true or false"),
        (json!({"resource": "pods"}), "name: Required value"),
    ] {
        let (code, answer) = server.control("POST", "/objects/wait", &wait);
        assert!(code == 422 && answer["message"].as_str().expect("a text").contains(message), "{answer}");
    }
    let gone = std::thread::scope(|scope| {
        let asks =
            scope.spawn(|| server.must("POST", "/objects/wait", &on(json!({"absent": true, "timeoutSeconds": 20}))));
        server.api("DELETE", &format!("{CONFIG_MAPS}/one"), &Value::Null);
        asks.join().expect("an answer")
    });
    assert_eq!(gone["satisfied"], true);
}

#[test]
fn an_exact_order_allows_for_no_others() {
    let server = Server::start(&[]);
    let since = server.must("GET", "/requests?limit=0", &Value::Null)["cursor"].as_u64().expect("a number");
    assert_eq!(server.create("a"), 201);
    server.api("GET", CONFIG_MAPS, &Value::Null);
    server.api("DELETE", &format!("{CONFIG_MAPS}/a"), &Value::Null);
    let expect = |verbs: &[&str]| verbs.iter().map(|verb| json!({"match": {"verbs": [verb]}})).collect::<Vec<_>>();
    let passes = |verbs: &[&str], ignored: &[&str]| {
        let verify = json!({"since": since, "order": "exact", "ignoreVerbs": ignored, "expect": expect(verbs)});
        server.must("POST", "/requests/verify", &verify)["passed"] == true
    };
    assert!(passes(&["create", "list", "delete"], &[]));
    assert!(passes(&["create", "delete"], &["list"]));
    assert!(!passes(&["create", "delete"], &[]));
    assert!(!passes(&["list", "delete"], &[]));
    assert!(!passes(&["delete", "create"], &["list"]));
}

/// The lines of a stream of server-sent events: that of the status, and those with ids, names and data.
fn stream(server: &Server, path: &str, more: &str) -> impl Iterator<Item = String> + use<> {
    let mut stream = TcpStream::connect(server.control.trim_start_matches("http://")).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a socket");
    let head =
        format!("GET /_fake/v1{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n{more}\r\n", server.token);
    stream.write_all(head.as_bytes()).expect("written");
    let lines = BufReader::new(stream).lines().map(|line| line.expect("text"));
    lines.filter(|line| ["id: ", "event: ", "data: ", "HTTP"].iter().any(|begin| line.starts_with(begin)))
}

#[test]
fn changes_and_findings_are_streamed_as_they_come() {
    let server = Server::start(&[]);
    let mut findings = stream(&server, "/findings/stream", "");
    assert!(findings.next().expect("a head").contains(" 200 "));
    let mut changes = stream(&server, "/events/stream?resource=configmaps&namespace=default&objects=true", "");
    assert!(changes.next().expect("a head").contains(" 200 "));
    assert_eq!(server.create("one"), 201);
    let id = changes.find(|line| line.starts_with("id: ")).expect("an id");
    assert_eq!(changes.next().as_deref(), Some("event: change"));
    let data = changes.next().expect("data");
    let change: Value = serde_json::from_str(data.trim_start_matches("data: ")).expect("JSON");
    assert_eq!(
        (&change["type"], &change["name"], &change["by"]["verb"]),
        (&json!("ADDED"), &json!("one"), &json!("create"))
    );
    assert_eq!(change["object"]["metadata"]["name"], "one");
    // A client that comes back gets what it has missed.
    assert_eq!(server.create("two"), 201);
    let mut later = stream(&server, "/events/stream?resource=configmaps", &format!("Last-Event-ID: {}\r\n", &id[4..]));
    assert!(later.find(|line| line.starts_with("data: ")).expect("data").contains("\"name\":\"two\""));
    // A conflict is a finding only as long as its client has not come back to it.
    let stale = |name: &str| json!({"metadata": {"name": name, "resourceVersion": "1"}});
    for name in ["one", "two"] {
        assert_eq!(server.api("PUT", &format!("{CONFIG_MAPS}/{name}"), &stale(name)).0, 409);
    }
    assert_eq!(server.api("GET", &format!("{CONFIG_MAPS}/one"), &Value::Null).0, 200);
    assert_eq!(findings.next().as_deref(), Some("event: finding"));
    let data = findings.next().expect("data");
    assert!(data.contains("conflict-not-retried") && data.contains("default/two"), "{data}");
    // The history that it needs is forgotten.
    server.must("POST", "/history/compact", &Value::Null);
    let mut late = stream(&server, "/events/stream?since=1", "");
    assert!(late.next().expect("a head").contains(" 410 "));
}

#[test]
fn requests_are_streamed_as_they_come() {
    let server = Server::start(&[]);
    let open = |more: &str| {
        let lines = stream(&server, "/requests/stream?verb=create", more);
        lines.filter(|line| !line.starts_with("event: "))
    };
    assert_eq!(server.create("one"), 201);
    let mut events = open("");
    assert!(events.next().expect("a head").contains(" 200 "));
    assert_eq!(events.next().as_deref(), Some("id: 1"));
    let data = events.next().expect("data");
    let request: Value = serde_json::from_str(data.trim_start_matches("data: ")).expect("JSON");
    assert_eq!((&request["verb"], &request["code"]), (&json!("create"), &json!(201)));
    // It goes on as more come, without those that do not match.
    server.api("GET", CONFIG_MAPS, &Value::Null);
    assert_eq!(server.create("two"), 201);
    assert_eq!(events.next().as_deref(), Some("id: 3"));
    let mut later = open("Last-Event-ID: 1\r\n");
    assert_eq!(later.nth(1).as_deref(), Some("id: 3"));
    assert!(open("Last-Event-ID: x\r\n").next().expect("a head").contains(" 400 "));
}

#[test]
fn handshakes_are_spoilt() {
    let server = Server::start(&[]);
    let address = server.must("GET", "/replicas", &Value::Null)["items"][0]["url"].as_str().expect("a URL").to_owned();
    let cluster = server.must("GET", "/clusters/default", &Value::Null);
    let pem = STANDARD.decode(cluster["caData"].as_str().expect("a text")).expect("base64");
    let folder = tempfile::tempdir().expect("a folder");
    let authority = folder.path().join("ca.pem");
    std::fs::write(&authority, pem).expect("a file");
    let url = format!("{address}/version");
    // curl's codes: 60 for a certificate that is not trusted, 35 for a handshake that breaks off.
    let curl = || {
        let mut command = Command::new("curl");
        command.args(["--silent", "--output", "/dev/null", "--cacert"]).arg(&authority).arg(&url);
        command.status().expect("curl").code()
    };
    assert_eq!(curl(), Some(0));
    server.must("POST", "/faults", &json!({"times": 1, "actions": [{"tls": {"do": "wrongCertificate"}}]}));
    assert_eq!((curl(), curl()), (Some(60), Some(0)));
    let close = json!({"times": 1, "match": {"replicas": [0]}, "actions": [{"tls": {"do": "close"}}]});
    server.must("POST", "/faults", &close);
    assert_eq!((curl(), curl()), (Some(35), Some(0)));
    server.must("POST", "/faults", &json!({"times": 1, "actions": [{"tls": {"do": "alert"}}]}));
    assert_eq!((curl(), curl()), (Some(35), Some(0)));
    // Plain connections have no handshake, and requests are not struck.
    assert_eq!(server.create("one"), 201);
    let struck: Vec<_> = server.must("GET", "/faults", &Value::Null)["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|one| one["status"]["struck"].clone())
        .collect();
    assert_eq!(struck, [1, 1, 1]);
    for (rule, message) in [
        (json!({"match": {"verbs": ["get"]}, "actions": [{"tls": {"do": "close"}}]}), "only the replica is known"),
        (json!({"actions": [{"tls": {"do": "close"}}, {"status": {"code": 503}}]}), "tls and beforeRead stand alone"),
    ] {
        let (code, answer) = server.control("POST", "/faults", &rule);
        assert!(code == 422 && answer["message"].as_str().expect("a text").contains(message), "{answer}");
    }
}
