//! A program that is a client of a hostile server: its process, its folder, and its log.

use crate::attack::vitals::{Patient, Vitals};
use crate::credentials::{ADMINISTRATOR, SIGNING_KEY, static_token};
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

/// The number of lines of the log that are told of a failure.
const TOLD: usize = 3;

/// A running program; it is killed when this is dropped.
pub(super) struct Program {
    child: Child,
    patient: Patient,
    folder: TempDir,
    log: Lines<BufReader<ChildStderr>>,
    last: VecDeque<String>,
}

impl Program {
    /// Starts the program of that name, which lies beside this one, as a client of `server`.
    ///
    /// # Errors
    /// If it was not built, or does not start.
    pub(super) fn start(server: SocketAddr, name: &str) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        let own = std::env::current_exe()?;
        let program = own.parent().context("a program in no folder")?.join(name);
        ensure!(program.exists(), "{} was not built; `cargo xtask attack` does that", program.display());
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster:\n    server: http://{server}\n\
             contexts:\n- name: a\n  context:\n    cluster: a\n    user: a\nusers:\n- name: a\n  user:\n    token: {}\n",
            static_token(ADMINISTRATOR),
        );
        std::fs::write(path("kubeconfig"), kubeconfig)?;
        let mut command = Command::new(program);
        command.arg("--kubeconfig").arg(path("kubeconfig"));
        match name {
            "kubelet-volumes" => command.arg("--root-dir").arg(path("root")).args(["--node-name", "node-1"]),
            _ => command.args(["--leader-elect=false", "--service-account-private-key-file", SIGNING_KEY]),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| name.to_owned())?;
        let patient = Patient::new(child.id().context("it has just been started")?);
        let log = BufReader::new(child.stderr.take().context("a pipe")?).lines();
        Ok(Program { child, patient, folder, log, last: VecDeque::new() })
    }

    /// Reads the log up to a line that `is_it`.
    ///
    /// # Errors
    /// If the program ends before.
    pub(super) async fn logs(&mut self, is_it: impl Fn(&str) -> bool) -> Result<()> {
        while let Some(line) = self.log.next_line().await? {
            let found = is_it(&line);
            if self.last.len() == TOLD {
                self.last.pop_front();
            }
            self.last.push_back(line);
            if found {
                return Ok(());
            }
        }
        let status = self.child.wait().await?;
        bail!("it ended with {status}: {}", self.last_lines())
    }

    /// The last lines that were read of the log.
    pub(super) fn last_lines(&self) -> String {
        let lines: Vec<&str> = self.last.iter().map(String::as_str).collect();
        lines.join(" | ").chars().take(1000).collect()
    }

    /// The memory, descriptors and threads that the program has.
    ///
    /// # Errors
    /// If it has ended.
    pub(super) fn vitals(&self) -> Result<Vitals> {
        self.patient.vitals()
    }

    /// The folder in which it has its files.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The names of the files and folders in its folder.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn files(&self) -> Result<BTreeSet<String>> {
        std::fs::read_dir(self.folder())?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// Ends the program.
    ///
    /// # Errors
    /// If it cannot be ended.
    pub(super) async fn end(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }
}
