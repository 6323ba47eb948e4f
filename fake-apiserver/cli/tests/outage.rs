//! An API server that stops and starts finds its objects with the stand-in for etcd.

#![cfg(unix)]

mod programs;

use programs::{Program, ask, called, first_event, port, tokens};
use std::path::Path;
use tempfile::TempDir;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// A stand-in for etcd, in a folder of its own.
struct Etcd {
    folder: TempDir,
    port: u16,
    program: Program,
}

impl Etcd {
    fn start() -> Etcd {
        let (folder, port) = (tempfile::tempdir().expect("a folder"), port());
        let program = Program::etcd(folder.path(), port);
        Etcd { folder, port, program }
    }

    /// An API server with its objects, and that one's address for plain HTTP.
    fn server(&self, more: &[&str]) -> (Program, String) {
        let mut server = server(self.folder.path(), self.port, more);
        let url = server.ready()[1].clone();
        (server, url)
    }
}

/// An API server with the objects of a stand-in for etcd at that port.
fn server(folder: &Path, etcd: u16, more: &[&str]) -> Program {
    let flags = ["--secure-port=0", "--authorization-mode=RBAC", "--bind-address=127.0.0.1"];
    let mut arguments: Vec<String> = flags.iter().chain(more).map(ToString::to_string).collect();
    arguments.extend([tokens(folder), format!("--etcd-servers=http://127.0.0.1:{etcd}")]);
    Program::start(&called(folder, "kube-apiserver"), &arguments, "--insecure-port=0")
}

fn definition() -> String {
    r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                 "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
                     "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}}}}}]}}"#
        .to_owned()
}

fn widget(name: &str) -> String {
    format!(
        r#"{{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {{"name": "{name}"}}, "spec": {{"n": 1}}}}"#
    )
}

fn map(name: &str) -> String {
    format!(r#"{{"metadata": {{"name": "{name}", "labels": {{"a": "b"}}}}}}"#)
}

#[test]
fn objects_uids_and_revisions_go_on() {
    let etcd = Etcd::start();
    let (first, url) = etcd.server(&[]);
    ask(&url, "POST", DEFINITIONS, &definition());
    let old = ask(&url, "POST", MAPS, &map("old"));
    let old_widget = ask(&url, "POST", WIDGETS, &widget("old"));
    ask(&url, "POST", MAPS, &map("gone"));
    ask(&url, "DELETE", &format!("{MAPS}/gone"), "");
    let new = ask(&url, "POST", MAPS, &map("new"));
    let new_widget = ask(&url, "POST", WIDGETS, &widget("new"));
    let before = [MAPS, WIDGETS, DEFINITIONS].map(|list| ask(&url, "GET", list, ""));
    first.terminate();

    let (second, url) = etcd.server(&[]);
    let after = [MAPS, WIDGETS, DEFINITIONS].map(|list| ask(&url, "GET", list, ""));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before["items"], after["items"]);
        let revision = |list: &serde_json::Value| list["metadata"]["resourceVersion"].as_str()?.parse::<u64>().ok();
        assert!(revision(before) < revision(after));
    }
    let selected = ask(&url, "GET", &format!("{MAPS}?labelSelector=a%3Db&fieldSelector=metadata.name%3Dnew"), "");
    assert_eq!(selected["items"].as_array().map(Vec::len), Some(1), "{selected}");
    // As of an API server that starts over the content of its etcd, watches begin where it did, and lists know the past.
    let revision =
        |object: &serde_json::Value| object["metadata"]["resourceVersion"].as_str().expect("text").to_owned();
    for (list, known) in [(MAPS, &old), (MAPS, &new), (WIDGETS, &old_widget), (WIDGETS, &new_widget)] {
        let event = first_event(&url, list, &revision(known));
        assert_eq!((&event["type"], &event["object"]["code"]), (&"ERROR".into(), &410.into()), "{event}");
        assert_eq!(event["object"]["reason"], "Expired");
    }
    let past = format!("{MAPS}?resourceVersion={}&resourceVersionMatch=Exact", revision(&old));
    assert_eq!(ask(&url, "GET", &past, "")["items"].as_array().map(Vec::len), Some(1));
    let added = ask(&url, "POST", MAPS, &map("added"));
    let event = first_event(&url, MAPS, &revision(&after[0]));
    assert_eq!((&event["type"], &event["object"]), (&"ADDED".into(), &with_type(&added)));
    // Later writes have later revisions.
    let later = ask(&url, "POST", MAPS, &map("later"));
    let number = |object| revision(object).parse::<u64>().expect("a number");
    assert!(number(&later) > number(&new_widget) && number(&later) > number(&new));
    second.terminate();

    // Once more, with what the second one has written.
    let (third, url) = etcd.server(&[]);
    assert_eq!(ask(&url, "GET", &format!("{MAPS}/later"), "")["metadata"]["uid"], later["metadata"]["uid"]);
    third.terminate();
    etcd.program.terminate();
}

/// An object of a list or create, as watches have it.
fn with_type(object: &serde_json::Value) -> serde_json::Value {
    let mut object = object.clone();
    object["apiVersion"] = "v1".into();
    object["kind"] = "ConfigMap".into();
    object
}

#[test]
fn one_server_has_the_objects_at_a_time() {
    let etcd = Etcd::start();
    let (mut first, url) = etcd.server(&[]);
    ask(&url, "POST", MAPS, &map("a"));
    let refusal = server(etcd.folder.path(), etcd.port, &[]).refusal();
    let expected = format!(
        "error: --etcd-servers http://127.0.0.1:{}: another API server keeps its objects there under --etcd-prefix /registry\n",
        etcd.port
    );
    assert_eq!(refusal, expected);
    // Under another prefix there are other objects.
    let (other, url) = etcd.server(&["--etcd-prefix=/other"]);
    let others = ask(&url, "GET", MAPS, "");
    assert!(!others.to_string().contains("\"name\":\"a\""), "{others}");
    other.terminate();
    // One that is killed leaves nothing, and takes its claim along.
    first.signal("-KILL");
    first.0.wait().expect("an end");
    etcd.server(&[]).0.terminate();
    etcd.program.terminate();
}

/// The service `kubernetes` leads to the server that runs, not to the port of the one before.
#[test]
fn the_endpoints_are_those_of_the_server_that_runs() {
    let etcd = Etcd::start();
    for _ in 0..2 {
        let mut server = server(etcd.folder.path(), etcd.port, &[]);
        let urls = server.ready();
        let port: u16 = urls[0].rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let endpoints = ask(&urls[1], "GET", "/api/v1/namespaces/default/endpoints/kubernetes", "");
        assert_eq!(endpoints["subsets"][0]["ports"][0]["port"], port);
        let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
        assert_eq!(ask(&urls[1], "GET", slices, "")["ports"][0]["port"], port);
        server.terminate();
    }
    etcd.program.terminate();
}

#[test]
fn without_the_stand_in_objects_are_in_memory() {
    use std::io::Read as _;
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = server(folder.path(), port(), &[]);
    server.ready();
    server.signal("-TERM");
    let mut said = String::new();
    server.0.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert!(said.contains("objects are in memory only"), "{said}");
    assert!(server.0.wait().expect("an end").success());
}
