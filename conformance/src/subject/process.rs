//! The target `process`: the fake as a program, over TLS; a fresh process for each scenario. It is told and asked by its control port.

use super::calls;
use super::{Cluster, START, Setup, Target, audit, own_namespace, with_rbac};
use crate::client::Endpoint;
use crate::credentials::{ADMINISTRATOR, SIGNING_KEY, USERS, static_token};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use conformance_judge::history::Call;
use conformance_judge::scenario::power::Power;
use control::{Order, Request};
use fake_apiserver::{Clock as _, ManualClock};
use futures::future::BoxFuture;
use jiff::SignedDuration;
use serde::Deserialize as _;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};

/// Time for the process to start, and to stop.
const DEADLINE: Duration = Duration::from_secs(10);

/// The target `process`.
pub struct Process {
    binary: PathBuf,
}

struct Running {
    process: Child,
    /// The standard input of the process, which stops when this is closed. So it cannot outlive this process.
    stdin: ChildStdin,
    endpoints: Vec<Endpoint>,
    namespace: String,
    ca_pem: String,
    folder: TempDir,
    control: Control,
    /// The process's clock, if it moves only when it is told to: told the same.
    clock: Option<ManualClock>,
}

/// The control port of a process.
struct Control {
    endpoint: Endpoint,
    token: String,
}

impl Control {
    /// Reads the file that `--write-control` names.
    fn read(path: &Path) -> Result<Control> {
        let file: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let text = |field: &str| file[field].as_str().with_context(|| format!("no {field} in {file}"));
        Ok(Control { endpoint: Endpoint::new(text("url")?, None)?, token: text("token")?.to_owned() })
    }

    async fn requests(&self) -> Result<Vec<Request>> {
        let recorded = self.endpoint.ask(Some(&self.token), "GET", "/_fake/v1/requests", &Value::Null).await?;
        Ok(Vec::deserialize(&recorded["items"])?)
    }

    async fn obey(&self, order: &Order) -> Result<()> {
        let orders = serde_json::to_value([order])?;
        self.endpoint.ask(Some(&self.token), "POST", "/_fake/v1/orders", &orders).await.map(|_| ())
    }
}

impl Process {
    /// Finds the release build in the target folder of this program.
    pub fn find() -> Result<Process> {
        let name = format!("release/fake-apiserver{}", std::env::consts::EXE_SUFFIX);
        let own = std::env::current_exe()?;
        let target = own.parent().and_then(Path::parent).context("a program in no folder")?;
        let binary = target.join(name);
        ensure!(binary.exists(), "{} was not built; `cargo xtask conformance` does that", binary.display());
        if let Some(source) = newer_source(&binary)? {
            let (binary, source) = (binary.display(), source.display());
            bail!("{binary} is older than {source}; `cargo xtask conformance` builds it");
        }
        Ok(Process { binary })
    }

    /// The program.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    async fn launch(&self, setup: &Setup) -> Result<Running> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        let user = |(user, groups): &(&str, &[&str])| {
            format!("{},{user},{user},\"{}\"\n", static_token(user), groups.join(","))
        };
        std::fs::write(path("tokens.csv"), USERS.iter().map(user).collect::<String>())?;
        let mut process = Command::new(&self.binary)
            .args(["--secure-port", "0", "--exit-with-stdin", "-v", "1"])
            .args(["--service-account-signing-key-file", SIGNING_KEY])
            .args(["--replicas", &setup.replicas.to_string()])
            .args(with_rbac(&setup.flags))
            .arg("--token-auth-file")
            .arg(path("tokens.csv"))
            .arg("--audit-log-path")
            .arg(path("audit.log"))
            .arg("--write-kubeconfig")
            .arg(path("kubeconfig"))
            .arg("--write-control")
            .arg(path("control"))
            .args(setup.manual_clock.then(|| format!("--clock={START}")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(path("server.log"))?)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| self.binary.display().to_string())?;
        let stdin = process.stdin.take().context("its standard input is piped")?;
        let stdout = process.stdout.take().context("its standard output is piped")?;
        let mut lines = BufReader::new(stdout).lines();
        let ready = tokio::time::timeout(DEADLINE, lines.next_line()).await.context("it did not get ready")??;
        let log = || std::fs::read_to_string(path("server.log")).unwrap_or_default();
        let ready = ready.with_context(|| format!("it ended before it was ready: {}", log()))?;
        let ca_pem = certificate_authority(&std::fs::read_to_string(path("kubeconfig"))?)?;
        let urls = ready.strip_prefix("ready ").with_context(|| format!("unexpected: {ready:?}"))?.split(' ');
        let endpoints: Vec<Endpoint> = urls.map(|url| Endpoint::new(url, Some(&ca_pem))).collect::<Result<_>>()?;
        let namespace = own_namespace(&endpoints[0], &static_token(ADMINISTRATOR), &setup.scenario).await?;
        let control = Control::read(&path("control"))?;
        let clock = setup.manual_clock.then(|| ManualClock::new(START));
        Ok(Running { process, stdin, endpoints, namespace, ca_pem, folder, control, clock })
    }
}

impl Target for Process {
    fn name(&self) -> &'static str {
        "process"
    }

    fn powers(&self) -> &'static [Power] {
        &Power::ALL
    }

    fn start<'a>(&'a self, setup: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>> {
        Box::pin(async move { Ok(Box::new(self.launch(setup).await?) as Box<dyn Cluster>) })
    }
}

/// A source that was changed or removed after a program was built, if there is one. Cargo lists the sources in a file beside the program.
fn newer_source(binary: &Path) -> Result<Option<PathBuf>> {
    let list = binary.with_extension("d");
    let text = std::fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    let built = binary.metadata()?.modified()?;
    let is_older = |source: &Path| source.metadata().and_then(|data| data.modified()).is_ok_and(|time| time <= built);
    Ok(sources(&text).into_iter().find(|source| !is_older(source)))
}

/// The paths behind the colon of a line like that of `make`: a space in a path has a backslash.
fn sources(list: &str) -> Vec<PathBuf> {
    const SPACE: &str = "\0";
    let line = list.lines().next().unwrap_or_default().replace("\\ ", SPACE);
    let (_, paths) = line.split_once(": ").unwrap_or_default();
    paths.split_ascii_whitespace().map(|path| path.replace(SPACE, " ").into()).collect()
}

impl Running {
    /// The audit log so far.
    fn events(&self) -> Result<Vec<Value>> {
        audit::read(&self.folder.path().join("audit.log"))
    }
}

impl Cluster for Running {
    fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    fn ca_pem(&self) -> Option<String> {
        Some(self.ca_pem.clone())
    }

    fn process(&self) -> Option<u32> {
        self.process.id()
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn token(&self, user: &str) -> Option<String> {
        USERS.iter().any(|(known, _)| *known == user).then(|| static_token(user))
    }

    fn signing_key_pem(&self) -> Result<String> {
        Ok(std::fs::read_to_string(SIGNING_KEY)?)
    }

    fn calls<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<Call>>> {
        Box::pin(async move { Ok(calls::of(self.control.requests().await?, user, &self.namespace)) })
    }

    fn clock(&self) -> controller::clock::Clock {
        match self.clock.clone() {
            Some(clock) => Arc::new(move || clock.now()),
            None => controller::clock::system_clock(),
        }
    }

    fn control(&self) -> Result<(String, String)> {
        Ok((self.control.endpoint.url.clone(), self.control.token.clone()))
    }

    fn obey(&self, order: Order) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.control.obey(&order).await?;
            match (&self.clock, order) {
                (Some(clock), Order::AdvanceClock { seconds }) => clock.advance(SignedDuration::from_secs(seconds)),
                (Some(clock), Order::SetClock { now: Some(now), .. }) => clock.set(now),
                _ => {}
            }
            Ok(())
        })
    }

    fn audit_events(&self, id: &str) -> Result<Vec<Value>> {
        audit::of_request(&self.folder.path().join("audit.log"), id)
    }

    fn authentication_failures(&self, replica: usize) -> Result<Vec<String>> {
        let events = self.events()?;
        let number = (replica - 1).to_string();
        let here = |event: &&Value| event["annotations"]["fake-apiserver/replica"].as_str() == Some(&number);
        let error =
            |event: &Value| event["annotations"]["fake-apiserver/authentication-error"].as_str().map(str::to_owned);
        Ok(events.iter().filter(here).filter_map(error).collect())
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move {
            let Running { mut process, stdin, folder, .. } = *self;
            drop(stdin);
            let status = tokio::time::timeout(DEADLINE, process.wait()).await.context("it did not stop")??;
            let read = |name: &str| std::fs::read_to_string(folder.path().join(name));
            let log = format!("{}{}", read("server.log")?, read("audit.log")?);
            ensure!(status.success(), "it ended with {status}: {log}");
            Ok(log)
        })
    }
}

/// The certificate authority in a kubeconfig.
fn certificate_authority(kubeconfig: &str) -> Result<String> {
    let key = "certificate-authority-data: ";
    let line = kubeconfig.lines().find_map(|line| line.trim().strip_prefix(key));
    let data = line.ok_or_else(|| anyhow!("no {key}in the kubeconfig"))?;
    Ok(String::from_utf8(BASE64.decode(data.trim_matches('"'))?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_listed_beside_a_program() {
        let list = "/target/server: /src/lib.rs /with\\ space/main.rs\n";
        assert_eq!(sources(list), [Path::new("/src/lib.rs"), Path::new("/with space/main.rs")]);
        assert_eq!(sources(""), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn a_source_that_changed_later_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let [source, binary] = ["main.rs", "server"].map(|name| folder.path().join(name));
        let write = |path: &Path, seconds| {
            let file = File::create(path).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        std::fs::write(folder.path().join("server.d"), format!("{}: {}\n", binary.display(), source.display()))
            .unwrap();
        write(&source, 1);
        write(&binary, 2);
        assert_eq!(newer_source(&binary).unwrap(), None);
        write(&source, 3);
        assert_eq!(newer_source(&binary).unwrap(), Some(source.clone()));
        std::fs::remove_file(&source).unwrap();
        assert_eq!(newer_source(&binary).unwrap(), Some(source));
    }
}
