//! `--record`, `fake-apiserver report` and `fake-apiserver replay`: a run is looked at afterwards.
#![cfg(unix)]

mod programs;

use programs::{Program, SOON, ask, first_event, send, tokens};
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fake-apiserver");
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn start(folder: &Path, first: &[String], flags: &[&str]) -> (Program, String) {
    let own = ["--secure-port=0".to_owned(), "--insecure-port=0".into(), tokens(folder)];
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let mut program = Program::start(Path::new(PROGRAM), &[first, &own, &flags].concat(), "");
    let url = program.ready().pop().expect("a plain port");
    (program, url)
}

fn named(name: &str, value: &str) -> String {
    json!({"metadata": {"name": name}, "data": {"k": value}}).to_string()
}

/// A run with two config maps, one of which is deleted, and a watch; killed or terminated. Returns the file.
fn run(folder: &Path, signal: &str) -> PathBuf {
    let file = folder.join("run.jsonl");
    let record = format!("--record={}", file.display());
    let (mut program, url) = start(folder, &[], &[&record, "--clock=2030-01-01T00:00:00Z"]);
    let first = ask(&url, "POST", CONFIG_MAPS, &named("a", "1"));
    ask(&url, "POST", CONFIG_MAPS, &named("b", "2"));
    let revision = first["metadata"]["resourceVersion"].as_str().expect("a revision");
    assert_eq!(first_event(&url, CONFIG_MAPS, revision)["object"]["metadata"]["name"], "b");
    ask(&url, "DELETE", &format!("{CONFIG_MAPS}/a"), "");
    let mut refused = String::new();
    send(&url, "GET", &format!("{CONFIG_MAPS}/a"), "").read_to_string(&mut refused).expect("text");
    if signal == "-KILL" {
        // An answered request is written to the file a moment later.
        let begun = Instant::now();
        while lines(&file).iter().filter(|line| line.get("request").is_some()).count() < 5 {
            assert!(begun.elapsed() < SOON, "{:?}", lines(&file));
            std::thread::yield_now();
        }
    }
    program.signal(signal);
    program.0.wait().expect("an end");
    file
}

/// The whole lines of a file.
fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("a file");
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn cursor(file: &Path, verb: &str) -> u64 {
    let lines = lines(file);
    let found = lines.iter().rfind(|line| line["request"]["verb"] == verb).expect("such a request");
    found["request"]["cursor"].as_u64().expect("a number")
}

fn output(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_is_recorded_line_by_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = run(folder.path(), "-TERM");
    let lines = lines(&file);
    assert_eq!(lines[0]["fakeApiserverRecording"], 1);
    assert_eq!(lines[0]["started"], "2030-01-01T00:00:00Z");
    let requests: Vec<_> = lines.iter().filter_map(|line| line.get("request")).collect();
    let told: Vec<String> = requests
        .iter()
        .map(|request| {
            format!("{} {} {}", request["cursor"], request["verb"].as_str().expect("a verb"), request["code"])
        })
        .collect();
    assert_eq!(told, ["1 create 201", "2 create 201", "3 watch 200", "4 delete 200", "5 get 404"]);
    assert_eq!(requests[0]["body"]["data"]["k"], "1");
    assert!(requests.iter().all(|request| request["tookMicros"].as_u64() > Some(0)));
    let changes: Vec<_> = lines
        .iter()
        .filter(|line| {
            line["change"]["resource"] == "configmaps."
                && line["change"]["path"].as_str().is_some_and(|path| path.starts_with("default/"))
        })
        .filter(|line| line["change"]["path"] != "default/kube-root-ca.crt")
        .map(|line| {
            (line["change"]["type"].clone(), line["change"]["revision"].clone(), line["object"]["data"]["k"].clone())
        })
        .collect();
    assert_eq!(changes.len(), 3, "{changes:?}");
    assert_eq!((&changes[0].0, &changes[0].1, &changes[0].2), (&json!("ADDED"), &requests[0]["revision"], &json!("1")));
    assert_eq!((&changes[2].0, &changes[2].1), (&json!("DELETED"), &requests[3]["revision"]));
    let ended = lines.iter().find_map(|line| line.get("watchEnded")).expect("the end of the watch");
    assert_eq!((&ended["request"], &ended["sent"][0][1]), (&json!(3), &json!("ADDED")));
    // Its client has left while there was more.
    assert!(ended["events"].as_u64() >= Some(1), "{ended}");
    assert_eq!(lines.last().expect("a line")["ended"], json!({}));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_moment_of_a_run_is_served_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = run(folder.path(), "-TERM");
    let before = cursor(&file, "watch");
    let replay = |at: &str| vec!["replay".to_owned(), file.display().to_string(), format!("--at={at}")];
    let (program, url) = start(folder.path(), &replay(&before.to_string()), &[]);
    let there = ask(&url, "GET", &format!("{CONFIG_MAPS}/a"), "");
    let recorded = lines(&file);
    let written = |path: &str| {
        let line = recorded.iter().find(|line| line["change"]["path"] == path).expect("it was created");
        (line["object"]["metadata"]["uid"].clone(), line["change"]["revision"].to_string())
    };
    let is = |object: &Value| {
        let revision = object["metadata"]["resourceVersion"].as_str().expect("a revision");
        (object["metadata"]["uid"].clone(), revision.to_owned())
    };
    assert_eq!(is(&there), written("default/a"));
    assert_eq!(is(&ask(&url, "GET", &format!("{CONFIG_MAPS}/b"), "")), written("default/b"));
    // The past is there, too; the clock stands still; and it can be written on.
    let (_, first) = written("default/a");
    let past = format!("{CONFIG_MAPS}?resourceVersion={first}&resourceVersionMatch=Exact");
    let past = ask(&url, "GET", &past, "");
    let names: Vec<_> = past["items"].as_array().expect("items").iter().map(|one| &one["metadata"]["name"]).collect();
    assert_eq!(names, ["a"]);
    let made = ask(&url, "POST", CONFIG_MAPS, &named("c", "3"));
    assert_eq!(made["metadata"]["creationTimestamp"], "2030-01-01T00:00:00Z");
    program.terminate();
    let (program, url) = start(folder.path(), &replay("end"), &[]);
    let mut refused = String::new();
    send(&url, "GET", &format!("{CONFIG_MAPS}/a"), "").read_to_string(&mut refused).expect("text");
    assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
    program.terminate();
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = run(folder.path(), "-TERM");
    let path = file.to_str().expect("text");
    for (arguments, expected) in [
        (vec!["replay", path, "--at", "99"], "there is no request 99 in the recording"),
        (vec!["replay", path, "--at=revision=100000"], "revision 100000 is not in the recording"),
        (vec!["replay", path, "--at", "then"], "\"then\" is none of a request's cursor, revision=N"),
        (vec!["replay", path], "usage: fake-apiserver replay FILE --at MOMENT"),
        (vec!["replay", path, "--at", "1", "--clock", "system"], "--clock does not go with a replay"),
        (vec!["replay", "/nowhere", "--at", "1"], "unable to read /nowhere"),
        (vec!["replay", PROGRAM, "--at", "1"], "it is not a recording"),
    ] {
        let refused = output(&arguments);
        assert!(!refused.status.success() && text(&refused.stderr).contains(expected), "{arguments:?}: {refused:?}");
    }
    let other = folder.path().join("other");
    fs::write(
        &other,
        "{\"fakeApiserverRecording\":99,\"kubernetes\":\"v1\",\"started\":\"2030-01-01T00:00:00Z\",\"replicas\":1}\n",
    )
    .expect("a file");
    let refused = output(&["report", other.to_str().expect("text")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("the format 99, and this program reads 1"), "{refused:?}");
    let flag = format!("--record={}/no/folder", folder.path().display());
    let refused = output(&["--secure-port=0", &flag]);
    assert!(text(&refused.stderr).contains("unable to record to"), "{refused:?}");
}

#[test]
fn a_killed_server_leaves_what_it_has_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = run(folder.path(), "-KILL");
    let page = folder.path().join("run.html");
    let report = ["report", file.to_str().expect("text"), "--output", page.to_str().expect("text")];
    let told = output(&report);
    assert!(told.status.success() && text(&told.stderr).contains("The recording is cut short: "), "{told:?}");
    let html = fs::read_to_string(&page).expect("a page");
    assert!(html.contains("\"verb\":\"watch\""), "the requests are in it");
    // It needs nothing from elsewhere.
    let code = html.split("<script id=\"data\"").next().expect("a page");
    assert!(!code.contains("http:") && !code.contains("https:") && !html.contains("src="));
    // Cut within a line it is read up to there.
    let whole = fs::read(&file).expect("a file");
    fs::write(&file, &whole[..whole.len() - 9]).expect("a file");
    let told = output(&report);
    assert!(told.status.success() && text(&told.stderr).contains("is not whole"), "{told:?}");
}

#[test]
fn what_tests_do_to_a_server_is_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, faults) = (folder.path().join("run.jsonl"), folder.path().join("faults.yaml"));
    let rule = "- name: slow start\n  match: {verbs: [get], bodyContains: {}}\n  actions: [{status: {code: 503}}]\n";
    fs::write(&faults, rule).expect("a file");
    let script = r#"fake() { curl --silent --fail-with-body --header "authorization: Bearer $FAKE_APISERVER_CONTROL_TOKEN" "$FAKE_APISERVER_CONTROL_URL/_fake/v1$1" "${@:2}"; }
        fake /faults --request DELETE && fake /clock/advance --json '{"seconds": 60}' && fake /history/compact --request POST
        fake /replicas/0 --request PATCH --json '{"view": "held"}' && fake /seed --data-binary '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}'
        fake /clusters --json '{"name": "other"}'"#;
    let flags = [format!("--record={}", file.display()), format!("--faults={}", faults.display())];
    let ran = output(&[
        "run",
        "--control",
        "--clock=2030-01-01T00:00:00Z",
        &flags[0],
        &flags[1],
        "--",
        "bash",
        "-euc",
        script,
    ]);
    assert!(ran.status.success(), "{ran:?}");
    let told: Vec<String> = lines(&file)
        .into_iter()
        .filter_map(|line| {
            match (line.get("faultAdded"), line.get("faultsRemoved"), line.get("clock"), line.get("order")) {
                (Some(added), ..) => Some(format!("+ {}", added["rule"]["name"])),
                (_, Some(removed), ..) => Some(format!("- {}", removed["ids"])),
                (_, _, Some(_), _) => Some(format!("clock {}", line["time"])),
                (.., Some(order)) => Some(format!("{} {} {}", order["order"], order["view"], order["objects"])),
                _ => None,
            }
        })
        .collect();
    assert_eq!(
        told,
        [
            "+ \"slow start\"",
            "\"settle\" null null",
            "- [\"f1\"]",
            "clock \"2030-01-01T00:01:00Z\"",
            "\"compact\" null null",
            "\"replica\" \"held\" null",
            "\"seed\" null \"(68 bytes)\"",
            "\"createCluster\" null null"
        ]
    );
    let replay = output(&["replay", file.to_str().expect("text"), "--at", "end", "--", "true"]);
    assert!(text(&replay.stderr).contains("Not brought back: the cache of replica 0 was held."), "{replay:?}");
    fs::write(&faults, "- match: {verb: [get]}\n").expect("a file");
    let refused = output(&["--secure-port=0", &flags[1]]);
    assert!(text(&refused.stderr).contains("did you mean \"verbs\"?"), "{refused:?}");
    fs::write(&faults, "- match: {resources: [secret]}\n  actions: [{pass: true}]\n").expect("a file");
    let refused = output(&["--secure-port=0", &flags[1]]);
    assert!(text(&refused.stderr).contains("did you mean \"secrets\"?"), "{refused:?}");
}

#[test]
fn the_objects_of_other_clusters_are_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    let script = r#"fake() { curl --silent --fail-with-body --header "authorization: Bearer $FAKE_APISERVER_CONTROL_TOKEN" "$FAKE_APISERVER_CONTROL_URL/_fake/v1$1" "${@:2}"; }
        namespace() { fake "$1/seed" --data-binary "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"$2\"}}"; }
        namespace "" common && fake /clusters --json '{"name": "one"}' && namespace /clusters/one of-one
        fake /clusters --json '{"name": "two", "from": {"cluster": "one"}}' && namespace /clusters/two of-two
        namespace /clusters/one late && namespace "" last && fake /clusters/one --request DELETE"#;
    let record = format!("--record={}", file.display());
    let ran = output(&["run", "--control", &record, "--", "bash", "-euc", script]);
    assert!(ran.status.success(), "{ran:?}");
    let path = file.to_str().expect("text");
    let ours = ["common", "late", "last", "of-one", "of-two"];
    for (cluster, expected) in [
        ("default", vec!["common", "last"]),
        ("one", vec!["common", "late", "of-one"]),
        ("two", vec!["common", "of-one", "of-two"]),
    ] {
        let replay = ["replay", path, "--at=end", "--cluster", cluster].map(str::to_owned);
        let (program, url) = start(folder.path(), &replay, &[]);
        let list = ask(&url, "GET", "/api/v1/namespaces", "");
        let names: Vec<&str> = list["items"]
            .as_array()
            .expect("items")
            .iter()
            .filter_map(|one| one["metadata"]["name"].as_str())
            .collect();
        let names: Vec<&str> = names.into_iter().filter(|name| ours.contains(name)).collect();
        assert_eq!(names, expected, "{cluster}");
        program.terminate();
    }
    let refused = output(&["replay", path, "--at=end", "--cluster=on"]);
    assert!(text(&refused.stderr).contains("did you mean \"one\"?"), "{refused:?}");
    let page = folder.path().join("run.html");
    assert!(output(&["report", path, "--output", page.to_str().expect("text")]).status.success());
    let html = fs::read_to_string(&page).expect("a page");
    assert!(html.contains("it begins with the objects of one, at revision"), "the beginnings are in it");
}
