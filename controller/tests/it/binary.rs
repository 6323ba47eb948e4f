//! The binary `controller-manager` as a process.

use crate::objects::{ACCOUNT, NAMESPACE, account};
use assert_cmd::Command;
use fake_apiserver::FakeApiServer;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use kube::runtime::wait::await_condition;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use tempfile::TempDir;

fn pem(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pem").join(name)
}

/// A directory with a server's kubeconfig, and the path of that.
fn kubeconfig(server: &FakeApiServer) -> (TempDir, PathBuf) {
    let directory = TempDir::new().expect("a temporary directory");
    let path = directory.path().join("kubeconfig");
    server.write_kubeconfig(&path).expect("the kubeconfig is written");
    (directory, path)
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_end_the_process_with_one_line_that_names_them() {
    let server = FakeApiServer::builder().insecure().start().await.expect("a server starts on any free port");
    let (directory, kubeconfig) = kubeconfig(&server);
    let with_key = |key: PathBuf| vec![format!("--service-account-private-key-file={}", key.display())];
    let with_ca =
        |ca: PathBuf| [with_key(pem("rsa-pkcs1.pem")), vec![format!("--root-ca-file={}", ca.display())]].concat();
    let absent = directory.path().join("absent");
    let quoted = |path: &Path| path.display().to_string();
    for (flags, expected) in [
        (
            with_key(pem("ca.pem")),
            format!(
                "error: error reading key for service account token controller: error reading private key file {}: \
                 data does not contain a valid RSA or ECDSA private key\n",
                quoted(&pem("ca.pem"))
            ),
        ),
        (
            with_key(absent.clone()),
            format!(
                "error: error reading key for service account token controller: open {}: No such file or directory (os error 2)\n",
                quoted(&absent)
            ),
        ),
        (
            with_ca(pem("rsa-pkcs1.pem")),
            format!(
                "error: error parsing root-ca-file at {}: data does not contain any valid RSA or ECDSA certificates\n",
                quoted(&pem("rsa-pkcs1.pem"))
            ),
        ),
        (
            vec!["--leader-elect-lease-duration=1s".into()],
            "error: leaseDuration must be greater than renewDeadline\n".into(),
        ),
    ] {
        let mut command = Command::cargo_bin("controller-manager").expect("the binary is built");
        let output = command.arg("--kubeconfig").arg(&kubeconfig).args(&flags).output().expect("the process runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.ends_with(&expected), "{flags:?}:\n{stderr}");
        assert_eq!(output.status.code(), Some(1), "{flags:?}");
    }
}

#[test]
fn a_controller_that_does_not_exist_is_named() {
    let mut command = Command::cargo_bin("controller-manager").expect("the binary is built");
    let output = command.arg("--controllers=*,-deployment").output().expect("the process runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(r#""deployment" is not in the list of known controllers"#), "{stderr}");
    assert_ne!(output.status.code(), Some(0));
}

// Waiting for the process must not keep the server from answering it.
#[tokio::test(flavor = "multi_thread")]
async fn it_leads_makes_tokens_and_releases_the_lease_when_terminated() {
    for stderr in [Stdio::null(), closed_pipe()] {
        lead_and_end(stderr).await;
    }
}

/// A pipe whose other end is closed.
fn closed_pipe() -> Stdio {
    std::io::pipe().expect("a pipe").1.into()
}

async fn lead_and_end(stderr: Stdio) {
    let server = FakeApiServer::builder().start().await.expect("a server starts on any free port");
    let (_directory, kubeconfig) = kubeconfig(&server);
    let mut process = Process::new(assert_cmd::cargo::cargo_bin("controller-manager"))
        .arg("--kubeconfig")
        .arg(&kubeconfig)
        .arg("--service-account-private-key-file")
        .arg(pem("ec-p256-sec1.pem"))
        .arg("-v=8")
        .stderr(stderr)
        .spawn()
        .expect("the process starts");

    let accounts: Api<ServiceAccount> = Api::namespaced(server.client(), NAMESPACE);
    let mut account = account(&[]);
    (account.metadata.uid, account.metadata.resource_version) = (None, None);
    accounts.create(&PostParams::default(), &account).await.expect("the service account is created");
    let refers = |account: Option<&ServiceAccount>| account.is_some_and(|account| account.secrets.is_some());
    await_condition(accounts, ACCOUNT, refers).await.expect("the server can be watched");

    let terminated = Process::new("kill").arg(process.id().to_string()).status().expect("kill runs");
    assert!(terminated.success());
    assert_eq!(process.wait().expect("the process ends").code(), Some(0));
    let leases: Api<Lease> = Api::namespaced(server.client(), "kube-system");
    let lease = leases.get("controller-manager").await.expect("the lease exists");
    assert_eq!(lease.spec.and_then(|spec| spec.holder_identity).as_deref(), Some(""));
}
