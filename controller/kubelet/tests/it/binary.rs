//! The binary `kubelet-volumes` as a process, over TLS.

use crate::setup::{NODE, text};
use assert_cmd::Command;
use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::conditions::is_deleted;
use kube::runtime::wait::await_condition;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Command as Process, Stdio};
use tempfile::TempDir;

/// The running binary and its log.
struct Running {
    process: Child,
    log: Option<Lines<BufReader<ChildStderr>>>,
}

impl Running {
    fn start(directory: &TempDir) -> Self {
        Running::with_stderr(directory, Stdio::piped())
    }

    fn with_stderr(directory: &TempDir, stderr: Stdio) -> Self {
        let path = |name: &str| directory.path().join(name);
        let mut process = Process::new(assert_cmd::cargo::cargo_bin("kubelet-volumes"))
            .arg("--kubeconfig")
            .arg(path("kubeconfig"))
            .arg("--root-dir")
            .arg(path("root"))
            .args(["--node-name", NODE])
            .stderr(stderr)
            .spawn()
            .expect("the process starts");
        let log = process.stderr.take().map(|pipe| BufReader::new(pipe).lines());
        Running { process, log }
    }

    /// Waits for a line of the log that contains `what`.
    fn until(&mut self, what: &str) {
        let mut said = self.log.iter_mut().flatten().map(|line| line.expect("text"));
        assert!(said.any(|line| line.contains(what)), "it ended without a word of {what:?}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// Waiting for the process must not keep the server from answering it.
#[tokio::test(flavor = "multi_thread")]
async fn volumes_appear_change_and_vanish() {
    let server = FakeApiServer::builder().start().await.expect("a server starts");
    let directory = TempDir::new().expect("a directory");
    server.write_kubeconfig(&directory.path().join("kubeconfig")).expect("the kubeconfig is written");
    let pods_directory = directory.path().join("root/pods");
    fs::create_dir_all(pods_directory.join("orphan/volumes")).expect("made");
    let mut node = Running::start(&directory);
    node.until("Cleaned up orphaned pod volumes dir");
    assert!(!pods_directory.join("orphan").exists());

    let accounts: Api<ServiceAccount> = Api::namespaced(server.client(), "default");
    let account = serde_json::from_value(json!({"metadata": {"name": "builder"}})).expect("an account");
    accounts.create(&PostParams::default(), &account).await.expect("created");
    let sources = json!([
        {"serviceAccountToken": {"path": "token"}},
        {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    ]);
    let pod = json!({
        "metadata": {"name": "web", "labels": {"version": "1"}},
        "spec": {
            "nodeName": NODE, "serviceAccountName": "builder", "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "all", "projected": {"sources": sources}}],
        },
    });
    let pods: Api<Pod> = Api::namespaced(server.client(), "default");
    let pod = pods.create(&PostParams::default(), &serde_json::from_value(pod).expect("a pod")).await.expect("created");
    node.until("MountVolume.SetUp succeeded");
    let uid = pod.metadata.uid.expect("a uid");
    let volume = pods_directory.join(&uid).join("volumes/kubernetes.io~projected/all");
    assert_eq!(text(volume.join("labels")), "version=\"1\"");
    let token = text(volume.join("token"));
    assert_eq!(token.split('.').count(), 3);

    let label = Patch::Merge(json!({"metadata": {"labels": {"version": "2"}}}));
    pods.patch("web", &PatchParams::default(), &label).await.expect("patched");
    node.until("MountVolume.SetUp succeeded");
    assert_eq!([text(volume.join("labels")), text(volume.join("token"))], ["version=\"2\"".to_owned(), token]);

    pods.delete("web", &DeleteParams::default()).await.expect("deleted");
    await_condition(pods, "web", is_deleted(&uid)).await.expect("the server can be watched");
    assert!(!pods_directory.join(&uid).exists());

    let terminated = Process::new("kill").arg(node.process.id().to_string()).status().expect("kill runs");
    assert!(terminated.success());
    assert_eq!(node.process.wait().expect("the process ends").code(), Some(0));
}

/// Without a reader only the log is lost.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_standard_error_volumes_appear() {
    let server = FakeApiServer::builder().insecure().start().await.expect("a server starts");
    let directory = TempDir::new().expect("a directory");
    server.write_kubeconfig(&directory.path().join("kubeconfig")).expect("the kubeconfig is written");
    let closed = std::io::pipe().expect("a pipe").1;
    let mut node = Running::with_stderr(&directory, closed.into());
    let pod = json!({
        "metadata": {"name": "web"},
        "spec": {"nodeName": NODE, "containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "e", "emptyDir": {}}]},
    });
    let pods: Api<Pod> = Api::namespaced(server.client(), "default");
    let pod = pods.create(&PostParams::default(), &serde_json::from_value(pod).expect("a pod")).await.expect("created");
    let uid = pod.metadata.uid.expect("a uid");
    pods.delete("web", &DeleteParams::default()).await.expect("deleted");
    await_condition(pods, "web", is_deleted(&uid)).await.expect("the server can be watched");
    let terminated = Process::new("kill").arg(node.process.id().to_string()).status().expect("kill runs");
    assert!(terminated.success());
    assert_eq!(node.process.wait().expect("the process ends").code(), Some(0));
}

#[test]
fn mistakes_end_the_process_with_one_line_that_names_them() {
    for (flags, expected) in [
        (&["--node-name=n", "--root-dir=r", "--kubeconfig=absent"][..], "error: error loading kubeconfig absent: "),
        (&["--root-dir=r"], "--node-name"),
        (&["--node-name=n"], "--root-dir"),
    ] {
        let mut command = Command::cargo_bin("kubelet-volumes").expect("the binary is built");
        let output = command.args(flags).output().expect("the process runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(expected), "{flags:?}:\n{stderr}");
        assert_ne!(output.status.code(), Some(0), "{flags:?}");
    }
}
