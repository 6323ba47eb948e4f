//! The control port of the program, as a test in any language uses it: over HTTP.
#![cfg(unix)]

mod programs;

use programs::line;
use programs::server::{CONFIG_MAPS, Server, exchange, watch};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn nobody_is_let_in_without_the_token() {
    let server = Server::start(&[]);
    let address: SocketAddr = server.control.trim_start_matches("http://").parse().expect("an address");
    assert!(address.ip().is_loopback());
    for token in ["", "t", "x".repeat(100_000).as_str(), &server.token[1..], &format!("{}x", server.token)] {
        for path in ["/_fake/v1", "/_fake/v1/faults", "/nowhere"] {
            let (code, answer) = exchange(&server.control, token, "GET", path, "");
            assert!(code == 401 || code == 431, "{code} {answer}");
        }
    }
    // A token of the cluster is none of the control port, nor the reverse; and the cluster has no such path.
    assert_eq!(exchange(&server.url, &server.token, "GET", CONFIG_MAPS, "").0, 401);
    assert_eq!(server.api("GET", "/_fake/v1/faults", &Value::Null).0, 404);
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head = format!(
        "GET /_fake/v1 HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.example\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        server.token
    );
    stream.write_all(head.as_bytes()).expect("written");
    assert!(line(&stream).contains(" 403 "), "a web page is not let in");
}

#[test]
fn every_path_of_the_document_is_served_and_says_what_is_wrong() {
    let server = Server::start(&[]);
    let document = server.must("GET", "/openapi.json", &Value::Null);
    assert_eq!(document["openapi"], "3.1.0");
    let listed = server.must("GET", "", &Value::Null)["items"].as_array().expect("a list").len();
    let paths = document["paths"].as_object().expect("paths");
    assert_eq!(listed, paths.values().map(|path| path.as_object().expect("methods").len()).sum::<usize>());
    // All references lead somewhere.
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1).map(|rest| rest.split('"').next().expect("an end")) {
        assert!(document["components"]["schemas"].get(reference).is_some(), "{reference}");
    }
    // A stream has no end.
    for (path, methods) in paths.iter().filter(|(path, _)| !path.ends_with("/stream")) {
        for (method, operation) in methods.as_object().expect("methods") {
            let path = path.trim_start_matches("/_fake/v1").replace(['{', '}'], "");
            let (code, answer) = server.control(&method.to_uppercase(), &path, &Value::Null);
            assert!(code != 405 && code < 500, "{method} {path}: {code} {answer}");
            if operation.get("requestBody").is_some_and(|body| body["content"].get("application/json").is_some()) {
                let (code, answer) = server.control(&method.to_uppercase(), &path, &json!({"nonsense": 1}));
                assert!(code == 400 || code == 404, "{method} {path}: {code} {answer}");
                assert_eq!(answer["kind"], "Status", "{method} {path}");
            }
        }
    }
    let spec = &document["paths"]["/_fake/v1/clock/advance"]["post"]["requestBody"]["content"]["application/json"];
    assert_eq!(spec["schema"]["required"], json!(["seconds"]), "{spec}");
}

#[test]
fn refusals_say_what_was_meant() {
    let server = Server::start(&[]);
    for (method, path, body, code, end) in [
        ("POST", "/faults", json!({"match": {"verb": ["get"]}}), 400, "did you mean \"verbs\"?"),
        (
            "POST",
            "/faults",
            json!({"match": {"resources": ["secret"]}, "actions": [{"pass": true}]}),
            422,
            "did you mean \"secrets\"?",
        ),
        (
            "POST",
            "/faults",
            json!({"match": {"verbs": ["crate"]}, "actions": [{"pass": true}]}),
            422,
            "did you mean \"create\"?",
        ),
        ("POST", "/faults", json!({}), 422, "actions: Required value: the rule would do nothing"),
        ("POST", "/faults", json!({"actions": [{"preset": "conflit"}]}), 400, "did you mean \"conflict\"?"),
        (
            "POST",
            "/faults",
            json!({"actions": [{"status": {"code": 200}}]}),
            422,
            "a failure has a code from 400 to 599",
        ),
        (
            "POST",
            "/faults",
            json!({"match": {"apiGroups": ["app"]}, "actions": [{"pass": true}]}),
            422,
            "did you mean \"apps\"?",
        ),
        (
            "POST",
            "/faults",
            json!({"match": {"apiGroups": ["apps"], "resources": ["pods"]}, "actions": [{"pass": true}]}),
            422,
            "none of these groups has one of these resources",
        ),
        (
            "POST",
            "/faults",
            json!({"match": {"verbs": ["list"]}, "actions": [{"watch": {"do": "end"}}]}),
            422,
            "it is about watches, and match.verbs has none",
        ),
        (
            "POST",
            "/faults",
            json!({"match": {"verbs": ["get"]}, "actions": [{"connection": {"do": "reset", "when": "afterCommit"}}]}),
            422,
            "after a commit are writes alone",
        ),
        ("POST", "/faults", json!({"probability": 0, "actions": [{"pass": true}]}), 422, "above 0 and up to 1"),
        ("POST", "/faults", json!({"ttlSeconds": 0, "actions": [{"pass": true}]}), 422, "would strike nothing"),
        ("GET", "/faults/f7", Value::Null, 404, "faults \"f7\" not found"),
        ("GET", "/fault", Value::Null, 404, "did you mean \"/faults\"?"),
        ("PATCH", "/faults", Value::Null, 405, "which has GET, POST, PUT, DELETE"),
        ("GET", "/clusters/defualt/clock", Value::Null, 404, "did you mean \"default\"?"),
        ("PATCH", "/replicas/1", json!({"state": "stopped"}), 404, "there are 1, counted from 0"),
        ("PATCH", "/replicas/0", json!({"state": "stoped"}), 400, "did you mean \"stopped\"?"),
        ("PATCH", "/controllers/x", json!({"state": "paused"}), 404, "no controllers run"),
        ("POST", "/snapshots/x/restore", json!({}), 404, "snapshots \"x\" not found"),
        (
            "PATCH",
            "/replicas/0",
            json!({"view": "held", "holdOnly": {"resources": ["pod"]}}),
            422,
            "did you mean \"pods\"?",
        ),
        ("PATCH", "/replicas/0", json!({"holdOnly": {"resources": ["pods"]}}), 422, "it goes with view"),
        (
            "PATCH",
            "/replicas/0",
            json!({"view": "held", "holdOnly": {"resource": []}}),
            400,
            "did you mean \"resources\"?",
        ),
        ("POST", "/snapshots", json!({"snapshot": "a/b"}), 422, "letters, digits, '-', '_' and '.'"),
        ("POST", "/clock/advance", json!({"seconds": i64::MAX}), 422, "the years -9999 to 9999"),
        ("POST", "/history/compact", json!({"revision": 1_000_000}), 422, "the newest is "),
        ("GET", "/requests?verbs=get", Value::Null, 400, "unknown field `verbs`"),
        ("POST", "/orders", json!([{"order": "resett"}]), 400, "did you mean \"reset\"?"),
        ("GET", "/clock", json!({}), 400, "takes no body"),
    ] {
        let (status, answer) = server.control(method, path, &body);
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(status == code && message.contains(end), "{method} {path} {body}: {status} {answer}");
        assert_eq!(answer["code"], code);
    }
    let rules: Vec<Value> = (0..100_000).map(|_| json!({"actions": [{"pass": true}]})).collect();
    assert_eq!(server.control("PUT", "/faults", &rules.into()).0, 409);
    assert_eq!(server.must("GET", "/faults", &Value::Null)["items"], json!([]));
    assert_eq!(server.must("GET", "/replicas", &Value::Null)["items"][0]["view"], "live");
    // A snapshot of a gigabyte is refused before it is sent.
    let mut stream = TcpStream::connect(server.control.trim_start_matches("http://")).expect("it listens");
    let head = format!(
        "PUT /_fake/v1/snapshots/huge HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        server.token,
        1 << 30
    );
    stream.write_all(head.as_bytes()).expect("written");
    assert!(line(&stream).contains(" 413 "), "it is too large");
    assert_eq!(server.must("GET", "/snapshots", &Value::Null)["items"], json!([]));
}

#[test]
fn an_ambiguous_write_is_exact() {
    let server = Server::start(&[]);
    let rule = json!({
        "name": "lost-answer", "times": 1,
        "match": {"verbs": ["create"], "resources": ["configmaps"]},
        "actions": [{"connection": {"do": "reset", "when": "afterCommit"}}],
    });
    let id = server.must("POST", "/faults", &rule)["id"].as_str().expect("an id").to_owned();
    // A write that the store does not take passes, and does not count; so does a dry run.
    assert_eq!(server.api("POST", CONFIG_MAPS, &json!({"metadata": {"name": "A"}})).0, 422);
    assert_eq!(server.api("POST", &format!("{CONFIG_MAPS}?dryRun=All"), &json!({"metadata": {"name": "a"}})).0, 201);
    assert_eq!(server.must("GET", "/faults?unused=true", &Value::Null)["items"][0]["id"], id.as_str());
    assert_eq!(server.create("a"), 0, "the answer is lost");
    assert_eq!(server.create("a"), 409, "the object is there");
    let fault = server.must("GET", &format!("/faults/{id}"), &Value::Null);
    assert_eq!(fault["status"], json!({"seen": 3, "struck": 1, "left": 0}));
    let struck = server.must("GET", "/requests?verb=create&writes=true", &Value::Null);
    let request = &struck["items"][0];
    assert_eq!(request["code"], 0);
    assert_eq!(
        request["fault"],
        json!({"id": id, "name": "lost-answer", "actions": ["connection"], "committed": true})
    );
    let (_, object) = server.api("GET", &format!("{CONFIG_MAPS}/a"), &Value::Null);
    assert_eq!(object["metadata"]["resourceVersion"], request["revision"].to_string());
    assert_eq!(server.must("GET", "/faults?unused=true", &Value::Null)["items"], json!([]));
}

#[test]
fn faults_strike_as_they_say() {
    let server = Server::start(&[]);
    let add = |actions: Value| {
        server.must("PUT", "/faults", &json!([{"match": {"resources": ["configmaps"]}, "actions": actions}]))
    };
    let get = || server.api("GET", CONFIG_MAPS, &Value::Null);
    for (preset, code, message) in [
        ("apf-rejected", 429, json!("Too many requests, please try again later.\n")),
        ("etcd-timeout", 500, json!("etcdserver: request timed out")),
        ("storage-initializing", 429, json!("storage is (re)initializing")),
        ("unauthorized", 401, json!("Unauthorized")),
        ("panic", 500, json!("This request caused apiserver to panic. Look in the logs for details.\n")),
    ] {
        add(json!([{"preset": preset}]));
        let (status, answer) = get();
        assert_eq!((status, answer.get("message").unwrap_or(&answer)), (code, &message), "{preset}");
    }
    add(json!([{"status": {"code": 503, "message": "no", "reason": "Mine"}}]));
    let (code, answer) = get();
    assert_eq!((code, &answer["reason"], &answer["message"]), (503, &json!("Mine"), &json!("no")));
    add(json!([{"connection": {"do": "close"}}]));
    assert_eq!(get().0, 0);
    assert_eq!(server.create("never"), 0);
    add(json!([{"body": {"truncateAt": 5}}]));
    assert_eq!(get(), (200, "{\"kin".into()));
    server.must("DELETE", "/faults", &Value::Null);
    assert_eq!(server.api("GET", &format!("{CONFIG_MAPS}/never"), &Value::Null).0, 404);
    assert_eq!(get().0, 200);
}

#[test]
fn watches_are_frozen_and_end_with_an_error() {
    let server = Server::start(&[]);
    let on = json!({"verbs": ["watch"], "resources": ["configmaps"]});
    server.must("POST", "/faults", &json!({"match": on, "actions": [{"watch": {"do": "error", "afterEvents": 1}}]}));
    let mut events = watch(&server, "&resourceVersion=0");
    assert_eq!(server.create("one"), 201);
    assert_eq!(events.next().expect("an event")["type"], "ADDED");
    let error = events.next().expect("the error");
    assert_eq!((&error["type"], &error["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert!(events.next().is_none());
    server.must("DELETE", "/faults", &Value::Null);
    let freeze = server.must("POST", "/faults", &json!({"match": on, "actions": [{"watch": {"do": "freeze"}}]}));
    let mut events = watch(&server, "&resourceVersion=0&timeoutSeconds=100");
    let asked = json!({"match": {"verbs": ["watch"]}, "count": {"min": 2}});
    assert_eq!(server.must("POST", "/requests/wait", &asked)["satisfied"], true);
    server.must("DELETE", &format!("/faults/{}", freeze["id"].as_str().expect("an id")), &Value::Null);
    assert_eq!(events.next().expect("nothing is lost")["object"]["metadata"]["name"], "one");
    server.must("POST", "/watches/end", &json!({}));
    assert!(events.next().is_none());
}

#[test]
fn the_clock_is_moved() {
    let server = Server::start(&["--clock=2030-01-01T00:00:00Z", "--replicas=2"]);
    let clock = server.must("GET", "/clock", &Value::Null);
    assert_eq!((&clock["now"], &clock["frozen"]), (&json!("2030-01-01T00:00:00Z"), &json!(true)));
    server.api("POST", "/api/v1/namespaces/default/serviceaccounts", &json!({"metadata": {"name": "a"}}));
    let path = "/api/v1/namespaces/default/serviceaccounts/a/token";
    let (_, made) = server.api("POST", path, &json!({"spec": {"expirationSeconds": 3600}}));
    let token = made["status"]["token"].as_str().expect("a token").to_owned();
    let code = || exchange(&server.url, &token, "GET", CONFIG_MAPS, "").0;
    assert_eq!(code(), 200);
    // A kube-apiserver is a minute late.
    let clock = server.must("POST", "/clock/advance", &json!({"seconds": 3661}));
    assert_eq!(clock["now"], "2030-01-01T01:01:01Z");
    assert_eq!(code(), 401);
    server.must("PATCH", "/replicas/1", &json!({"clockOffsetSeconds": -3600}));
    assert_eq!(code(), 200);
    assert_eq!(server.must("PATCH", "/clock", &json!({"frozen": false}))["frozen"], false);
    server.must("PATCH", "/replicas/1", &json!({"state": "stopped", "view": "held"}));
    let replicas = server.must("GET", "/replicas", &Value::Null);
    assert_eq!((&replicas["items"][1]["state"], &replicas["items"][1]["view"]), (&json!("stopped"), &json!("held")));
}

#[test]
fn objects_are_seeded_saved_and_put_back() {
    let server = Server::start(&[]);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: team}\nsize: 1";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}";
    let seed = |text: &str| exchange(&server.control, &server.token, "POST", "/_fake/v1/seed", text);
    // The order in the stream does not matter; a bad object leaves nothing of the others.
    let bad = format!(
        "{widget}\n---\n{namespace}\n---\n{definition}\n---\nkind: Gadget\napiVersion: v1\nmetadata: {{name: g}}"
    );
    let (code, answer) = seed(&bad);
    assert!(code == 422 && answer["message"].as_str().expect("a text").contains("objects[4].kind"), "{answer}");
    assert_eq!(server.api("GET", "/api/v1/namespaces/team", &Value::Null).0, 404);
    assert_eq!(seed(&format!("{widget}\n---\n{namespace}\n---\n{definition}")).0, 200);
    let path = "/apis/example.com/v1/namespaces/team/widgets/w";
    let (_, seeded) = server.api("GET", path, &Value::Null);
    assert_eq!(seeded["size"], 1);
    server.must("POST", "/snapshots", &json!({"snapshot": "seeded"}));
    assert_eq!(server.control("POST", "/snapshots", &json!({"snapshot": "seeded"})).0, 409);
    let (_, file) = exchange(&server.control, &server.token, "GET", "/_fake/v1/snapshots/seeded", "");
    assert_eq!(file["fakeApiserverState"], Value::Null, "a snapshot is a text of lines, not one object");

    let written = server.must("POST", "/reset", &json!({}));
    assert!(written["writes"].as_u64() > Some(2), "{written}");
    assert_eq!(server.api("GET", path, &Value::Null).0, 404);
    assert_eq!(server.must("POST", "/reset", &json!({}))["writes"], 0);
    server.must("POST", "/snapshots/seeded/restore", &json!({}));
    let (_, restored) = server.api("GET", path, &Value::Null);
    assert_eq!((&restored["metadata"]["uid"], &restored["size"]), (&seeded["metadata"]["uid"], &json!(1)));
    for (text, message) in [
        ("{\"fakeApiserverState\":99,\"compacted\":1,\"revision\":1,\"records\":0}", "format 99"),
        ("{\"fakeApiserverState\":1,\"compacted\":1,\"revision\":1,\"records\":9}", "it ends too early"),
    ] {
        let (code, answer) = exchange(&server.control, &server.token, "PUT", "/_fake/v1/snapshots/other", text);
        assert!(code == 422 && answer["message"].as_str().expect("a text").contains(message), "{answer}");
    }
}

#[test]
fn a_snapshot_goes_to_another_server_by_a_file() {
    let first = Server::start(&[]);
    assert_eq!(first.create("kept"), 201);
    first.must("POST", "/snapshots", &json!({"snapshot": "s"}));
    let (_, uid) = first.api("GET", &format!("{CONFIG_MAPS}/kept"), &Value::Null);
    let file = first.text("/snapshots/s");
    let second = Server::start(&[]);
    let (code, answer) = exchange(&second.control, &second.token, "PUT", "/_fake/v1/snapshots/s", &file);
    assert_eq!(code, 201, "{answer}");
    second.must("POST", "/snapshots/s/restore", &json!({"revisions": "bump"}));
    let (_, other) = second.api("GET", &format!("{CONFIG_MAPS}/kept"), &Value::Null);
    assert_eq!(other["metadata"]["uid"], uid["metadata"]["uid"]);
}

#[test]
fn requests_are_waited_for_and_verified() {
    let server = Server::start(&[]);
    let since = server.must("GET", "/requests?limit=0", &Value::Null)["cursor"].as_u64().expect("a number");
    let waited = std::thread::scope(|scope| {
        let asks = scope.spawn(|| {
            let wait = json!({"match": {"verbs": ["create"], "names": []}, "since": since, "count": {"min": 2}});
            server.must("POST", "/requests/wait", &wait)
        });
        assert_eq!((server.create("a"), server.create("b")), (201, 201));
        asks.join().expect("an answer")
    });
    assert_eq!(waited["items"].as_array().expect("items").len(), 2);
    let wait =
        json!({"match": {"verbs": ["update"], "resources": ["configmaps"]}, "since": since, "timeoutSeconds": 0});
    let missed = server.must("POST", "/requests/wait", &wait);
    assert_eq!((&missed["satisfied"], missed["nearMisses"].as_array().expect("some").len()), (&json!(false), 2));
    assert_eq!(missed["nearMisses"][0]["why"], json!(["verbs: the request has \"create\""]));
    let never = json!({"match": {"verbs": ["delete"]}, "since": since, "count": {"max": 0}, "forSeconds": 0});
    assert_eq!(server.must("POST", "/requests/wait", &never)["satisfied"], true);
    let expect = json!([{"match": {"verbs": ["create"], "resources": ["configmaps"]}}]);
    let verify = json!({"since": since, "others": "forbid", "expect": expect});
    let verdict = server.must("POST", "/requests/verify", &verify);
    assert_eq!(verdict["passed"], false);
    assert!(verdict["message"].as_str().expect("a text").contains("+ "), "{verdict}");
    // Asking leaves no trace.
    assert_eq!(
        server.must("GET", &format!("/requests?since={since}"), &Value::Null)["items"].as_array().expect("items").len(),
        2
    );
    assert_eq!(server.must("GET", "/findings", &Value::Null)["items"], json!([]));
}

#[test]
fn controllers_are_paused_stepped_and_settled() {
    let server = Server::start(&["--controllers=serviceaccount"]);
    assert_eq!(server.must("POST", "/settle", &json!({}))["settled"], true);
    let path = "/controllers/serviceaccount-controller";
    server.must("PATCH", path, &json!({"state": "paused"}));
    server.api("POST", "/api/v1/namespaces", &json!({"metadata": {"name": "team"}}));
    assert_eq!(server.must("GET", "/controllers", &Value::Null)["items"][0]["state"], "paused");
    assert_eq!(server.must("POST", &format!("{path}/step"), &json!({"count": 5}))["keys"], json!(["team"]));
    server.must("PATCH", path, &json!({"state": "running"}));
    assert_eq!(server.control("POST", &format!("{path}/step"), &json!({})).0, 409);
    let (code, answer) = server.control("PATCH", "/controllers/serviceaccount-controler", &json!({"state": "paused"}));
    assert!(code == 404 && answer["message"].as_str().expect("a text").contains("did you mean"), "{answer}");
    // The server lists to see whether controllers are level, as often as a test asks: that is nothing odd about them.
    (0..20).for_each(|_| drop(server.must("POST", "/settle", &json!({}))));
    assert_eq!(server.must("GET", "/findings", &Value::Null)["items"], json!([]));
}

#[test]
fn it_stops_while_a_question_waits() {
    let mut server = Server::start(&[]);
    let mut stream = TcpStream::connect(server.control.trim_start_matches("http://")).expect("it listens");
    let body = json!({"match": {"verbs": ["delete"]}, "timeoutSeconds": 500}).to_string();
    let head = format!(
        "POST /_fake/v1/requests/wait HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        server.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("written");
    server.program.signal("-TERM");
    let begun = Instant::now();
    assert!(server.program.0.wait().expect("an end").success());
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_command_finds_the_control_port_in_its_environment() {
    let script = "test -n \"$FAKE_APISERVER_CONTROL_URL\" && test -n \"$FAKE_APISERVER_CONTROL_TOKEN\"";
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"));
    command.args(["run", "--control", "--", "sh", "-c", script]).stderr(Stdio::null());
    let status = command.spawn().and_then(|mut child: Child| child.wait()).expect("it runs");
    assert!(status.success());
}
