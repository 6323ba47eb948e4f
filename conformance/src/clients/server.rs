//! The servers that suites are run against: each with RBAC, and a kubeconfig for its administrator. Suites that start servers of their own are
//! told the program.

use crate::control_plane::{ControlPlane, Options, cache};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Time for the fake to start.
const DEADLINE: Duration = Duration::from_secs(10);

/// kube-apiserver's flags, and values of flags, that the fake refuses, among those that suites start servers with: it does not have all versions,
/// and not all gates.
const LACKS: &str =
    "--runtime-config=admissionregistration.k8s.io/v1beta1=true --feature-gates=AllAlpha=true,AllBeta=true";

/// The file that tells where the control port is.
const CONTROL: &str = "control";

/// The content of that file.
#[derive(Deserialize)]
struct Control {
    url: String,
    token: String,
}

/// A server that runs until it is dropped.
pub(super) enum Server {
    /// The fake's program.
    Process { _process: Box<Child>, program: PathBuf, folder: TempDir },
    /// A real kube-apiserver.
    Real(Box<ControlPlane>),
}

impl Server {
    /// Starts the program that was built beside this one, with a control port if it is to be told something.
    ///
    /// # Errors
    /// If it was not built, or does not get ready.
    pub(super) async fn process(control: bool) -> Result<Server> {
        let program =
            std::env::current_exe()?.with_file_name(format!("fake-apiserver{}", std::env::consts::EXE_SUFFIX));
        ensure!(program.exists(), "{} was not built; `cargo xtask clients` does that", program.display());
        let folder = tempfile::tempdir()?;
        let mut process = Command::new(&program)
            .args(["--secure-port", "0", "--authorization-mode", "RBAC", "--exit-with-stdin", "--write-kubeconfig"])
            .arg(folder.path().join("kubeconfig"))
            .args(
                control
                    .then(|| ["--write-control".into(), folder.path().join(CONTROL).into_os_string()])
                    .into_iter()
                    .flatten(),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| program.display().to_string())?;
        let stdout = process.stdout.take().context("its standard output is piped")?;
        let mut lines = BufReader::new(stdout).lines();
        let ready = tokio::time::timeout(DEADLINE, lines.next_line()).await.context("it did not get ready")??;
        ensure!(ready.is_some(), "it ended before it was ready");
        Ok(Server::Process { _process: Box::new(process), program, folder })
    }

    /// Starts the program, and lets the suite have a cluster beside its first one, which is reached by that
    /// endpoint of `fake-apiserver ensure`.
    ///
    /// # Errors
    /// If the program was not built, does not get ready, or makes no cluster.
    pub(super) async fn cluster(endpoint: &str) -> Result<Server> {
        let server = Server::process(true).await?;
        if let Server::Process { program, folder, .. } = &server {
            let mut ensure = Command::new(program);
            ensure.args(["ensure", "--name", "clients", "--idle", "0", "--endpoint", endpoint, "--control"]);
            let made = ensure.arg(folder.path().join(CONTROL)).stderr(Stdio::inherit()).output().await?;
            ensure!(made.status.success(), "fake-apiserver ensure failed: {}", made.status);
            std::fs::write(folder.path().join("kubeconfig"), made.stdout)?;
            // Suites would tell the first cluster.
            std::fs::remove_file(folder.path().join(CONTROL))?;
        }
        Ok(server)
    }

    /// Starts a real control plane.
    ///
    /// # Errors
    /// If it was not built, or does not start.
    pub(super) async fn real() -> Result<Server> {
        Ok(Server::Real(Box::new(ControlPlane::start(Options::default()).await?)))
    }

    /// The environment variables of a suite: the administrator's kubeconfig, and the program with its needs and missing features.
    ///
    /// # Errors
    /// If a program was not built.
    pub(super) fn environment(&self) -> Result<Vec<(&'static str, OsString)>> {
        let mut environment = self.programs()?;
        if let Server::Process { folder, .. } = self
            && let Ok(text) = std::fs::read(folder.path().join(CONTROL))
        {
            let Control { url, token } = serde_json::from_slice(&text)?;
            environment
                .extend([("FAKE_APISERVER_CONTROL_URL", url.into()), ("FAKE_APISERVER_CONTROL_TOKEN", token.into())]);
        }
        Ok(environment)
    }

    fn programs(&self) -> Result<Vec<(&'static str, OsString)>> {
        Ok(match self {
            Server::Process { program, folder, .. } => vec![
                ("KUBECONFIG", folder.path().join("kubeconfig").into()),
                ("KUBE_APISERVER", program.into()),
                ("KUBE_APISERVER_LACKS", LACKS.into()),
            ],
            Server::Real(plane) => vec![
                ("KUBECONFIG", plane.kubeconfig().into()),
                ("KUBE_APISERVER", cache::program(cache::VERSION, "kube-apiserver")?.into()),
                ("ETCD", cache::program(cache::VERSION, "etcd")?.into()),
            ],
        })
    }
}
