//! How wrappers find a server: `fake-apiserver ensure`, a cluster of its own for each test process, and the line of `--info`.
#![cfg(unix)]

mod programs;

use programs::server::{Server, exchange};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

fn command(server: &Server, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"));
    command.arg("ensure").args(arguments);
    command.env("FAKE_APISERVER_CONTROL_URL", &server.control).env("FAKE_APISERVER_CONTROL_TOKEN", &server.token);
    command.output().expect("it runs")
}

/// The standard output of the command.
fn ensure(server: &Server, arguments: &[&str]) -> String {
    let output = command(server, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// The error that it says.
fn refused(server: &Server, arguments: &[&str]) -> String {
    let output = command(server, arguments);
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn each_process_gets_a_cluster_of_a_seed_that_one_of_them_fills() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("filled");
    let script = format!("grep -q server: \"$KUBECONFIG\" && echo once >> {} && echo noise", mark.display());
    let arguments = ["--seed", "v1", "--output", "json", "--", "sh", "-c", &script];
    let clusters: Vec<Value> = thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| ensure(&server, &arguments))).collect();
        all.into_iter().map(|one| serde_json::from_str(&one.join().expect("it ends")).expect("JSON")).collect()
    });
    assert_eq!(fs::read_to_string(&mark).expect("it was filled"), "once\n");
    let mut names: Vec<&str> = clusters.iter().map(|cluster| cluster["name"].as_str().expect("a name")).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4, "{names:?}");
    let (path, token) = (format!("/clusters/{}/api/v1/namespaces", names[0]), &clusters[0]["token"]);
    let of = clusters.iter().find(|cluster| cluster["name"] == names[0]).expect("it is one of them");
    assert_eq!(exchange(&server.url, of["token"].as_str().expect("a token"), "GET", &path, "").0, 200, "{token}");
}

#[test]
fn a_name_is_shared_and_the_file_of_the_control_port_will_do() {
    let server = Server::start(&[]);
    let url = ensure(&server, &["--name=team", "--output=url"]);
    assert!(url.trim_end().ends_with("/clusters/team"), "{url}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("control");
    fs::write(&file, json!({"url": server.control, "token": server.token}).to_string()).expect("a file");
    let other = format!("--control={}", file.display());
    let kubeconfig = |name: &str| ensure(&server, &["--name", name, &other]);
    assert_eq!(kubeconfig("team"), kubeconfig("team"));
    assert!(kubeconfig("team").contains("/clusters/team"));
    let names = server.must("GET", "/clusters", &Value::Null)["items"].to_string();
    assert!(names.contains("\"team\""), "{names}");
}

#[test]
fn what_cannot_be_is_said() {
    let server = Server::start(&[]);
    for (arguments, message) in [
        (&["--seed=v1"][..], "the seed \"v1\" is not filled: there is no command behind -- that fills it"),
        (&["--seed=v1", "--", "false"], "false ends with exit status: 1"),
        (&["--seed=v1", "--", "/no/such/program"], "unable to run /no/such/program"),
        (&["--name=A_B"], "A_B"),
        (&["--control=/no/such/file"], "unable to read --control /no/such/file"),
        (&["--", "true"], "--seed"),
    ] {
        let said = refused(&server, arguments);
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
    // The next one fills it.
    ensure(&server, &["--seed=v1", "--", "true"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"));
    let output = command.arg("ensure").current_dir(Path::new("/")).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("FAKE_APISERVER_CONTROL_URL") && !output.status.success(), "{said}");
}

#[test]
fn a_line_tells_a_wrapper_all_it_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("info");
    let server = Server::start(&["--replicas=2", &format!("--info={}", file.display())]);
    let told: Value = serde_json::from_slice(&std::fs::read(&file).expect("the file is there")).expect("JSON");
    let expected = json!({"url": server.control, "token": server.token});
    assert_eq!((&told["control"], told["replicas"].as_array().map(Vec::len)), (&expected, Some(2)));
    assert_eq!(told["server"], told["replicas"][0]);
    let kubeconfig = told["kubeconfig"].as_str().expect("a text");
    for field in ["server", "token", "caData"] {
        assert!(kubeconfig.contains(told[field].as_str().expect("a text")), "{field}");
    }
    assert!(told["pid"].is_u64() && told["version"].is_string());
    let program = env!("CARGO_BIN_EXE_fake-apiserver");
    let flags = ["--secure-port=0", "--info=-", "--exit-with-stdin"];
    let mut child =
        Command::new(program).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut said = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut said).expect("a line");
    let told: Value = serde_json::from_str(&said).expect("JSON");
    assert!(
        told["server"].as_str().expect("a text").starts_with("https://") && told.get("control").is_none(),
        "{told}"
    );
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    let refused = Command::new(program).args(["run", "--info=-", "--", "true"]).output().expect("it runs");
    assert!(!refused.status.success());
}
