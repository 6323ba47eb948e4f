//! Programs of a test environment end with the process that started them.

#![cfg(target_os = "linux")]

mod programs;

use programs::{Program, called, port, tokens};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

/// A shell starts both programs as envtest does, and is killed. The pipe ends when all who could write to it have ended.
#[test]
fn programs_end_when_a_test_is_killed() {
    let folder = tempfile::Builder::new().prefix("k8s_test_framework_").tempdir().expect("a folder");
    let (etcd, server) = (called(folder.path(), "etcd"), called(folder.path(), "kube-apiserver"));
    let port = port();
    let script = format!(
        "{} --data-dir={} --listen-client-urls=http://127.0.0.1:{port} 2>&1 & \
         {} --secure-port=0 --cert-dir={} {} --etcd-servers=http://127.0.0.1:{port} & wait",
        etcd.display(),
        folder.path().join("data").display(),
        server.display(),
        folder.path().display(),
        tokens(folder.path()),
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut shell = Program(shell.spawn().expect("a shell"));
    let mut said = BufReader::new(shell.0.stdout.take().expect("a pipe"));
    // Both say one line.
    let mut lines = String::new();
    said.read_line(&mut lines).expect("text");
    said.read_line(&mut lines).expect("text");
    assert!(lines.contains("ready ") && lines.contains("Stands in for etcd"), "{lines}");
    shell.signal("-KILL");
    shell.0.wait().expect("an end");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "");
}

/// Others end so if they are asked to.
#[test]
fn the_flag_ends_it_with_its_parent() {
    let script = format!("{} --secure-port=0 --exit-with-parent & wait", env!("CARGO_BIN_EXE_fake-apiserver"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut shell = Program(shell.spawn().expect("a shell"));
    let mut said = BufReader::new(shell.0.stdout.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("text");
    assert!(line.starts_with("ready "), "{line}");
    shell.signal("-KILL");
    shell.0.wait().expect("an end");
    assert_eq!(said.read_line(&mut line).expect("text"), 0);
}

/// A test environment gives its programs no input, whatever the variable says.
#[test]
fn the_null_device_does_not_end_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--secure-port=0".to_owned(), tokens(folder.path())];
    let server = called(folder.path(), "kube-apiserver");
    let mut server = Program::start(&server, &arguments, "--exit-with-stdin --insecure-port=0");
    let url = server.ready()[1].clone();
    programs::ask(&url, "GET", "/api", "");
    server.terminate();
}
