//! `--coverage` and `fake-apiserver cover`: what rules have decided, of servers one after the other.
#![cfg(unix)]

mod programs;

use programs::{Program, ask, tokens};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fake-apiserver");
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LAMPS: &str = "/apis/a.com/v1/namespaces/default/lamps";

/// Runs a server that adds to a file, around some requests.
fn around(folder: &Path, requests: &[(&str, &Value)]) {
    let file = folder.join("cover.json");
    let flags = [tokens(folder), format!("--coverage={}", file.display()), "--authorization-mode=RBAC".into()];
    let ports = ["--secure-port=0", "--insecure-port=0"].map(str::to_owned);
    let mut program = Program::start(Path::new(PROGRAM), &[&flags[..], &ports].concat(), "");
    let url = program.ready().pop().expect("a plain port");
    for (path, object) in requests {
        let answer = ask(&url, "POST", path, &object.to_string());
        assert_ne!(answer["kind"], "Status", "{answer}");
    }
    program.terminate();
}

fn cover(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("cover").arg(folder.join("cover.json")).args(arguments).output().expect("it runs")
}

fn definition() -> Value {
    let rules = json!([{"rule": "self.watts < 10"}]);
    let spec =
        json!({"type": "object", "x-kubernetes-validations": rules, "properties": {"watts": {"type": "integer"}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "lamps.a.com"},
        "spec": {"group": "a.com", "scope": "Namespaced", "names": {"kind": "Lamp", "plural": "lamps"}, "versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        }]},
    })
}

#[test]
fn servers_add_what_rules_decided_to_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let role =
        json!({"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    around(folder, &[(DEFINITIONS, &definition()), (roles, &role)]);
    let never = |what: &str| format!("CustomResourceDefinition lamps.a.com: v1 spec: self.watts < 10: never {what}\n");
    let role = "Role default/r: get pods: never allowed\n";
    let output = cover(folder, &["--fail-under", "30"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = format!("{}{}{role}0 of 3 outcomes were reached: 0 %\n", never("false"), never("true"));
    assert_eq!(text(&output), expected);
    let lamp = json!({"apiVersion": "a.com/v1", "kind": "Lamp", "metadata": {"name": "a"}, "spec": {"watts": 5}});
    around(folder, &[(DEFINITIONS, &definition()), (LAMPS, &lamp)]);
    let output = cover(folder, &["--fail-under", "30"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output), format!("{}{role}1 of 3 outcomes were reached: 33 %\n", never("false")));
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cover.json");
    fs::write(&file, "{}").expect("a file");
    let output = cover(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let command = ["run", "--coverage", &file.display().to_string(), "--", "true"].map(str::to_owned);
    let output = Command::new(PROGRAM).args(command).output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && told.contains("unable to add to --coverage "), "{output:?}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), "{}");
}
