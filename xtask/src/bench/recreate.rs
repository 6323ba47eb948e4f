//! Measurement of the tokens controller's delay in replacing a deleted token: from the sending of the deletion to the event
//! of the new secret. Server and controller are processes of their own.

use super::client::{Call, Target};
use anyhow::Context;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
/// Number of tokens that are deleted, each of another service account: like upstream's, the controller believes that a
/// secret it created exists until its informer has seen it.
const DELETIONS: usize = 50;
/// Time in which the controller has to react.
const REACTION_TIMEOUT: Duration = Duration::from_secs(10);

/// A controller manager that ends when this is dropped.
struct Controller(Child);

impl Controller {
    fn start(program: &Path, kubeconfig: &Path, key: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.args(["--leader-elect=false", "--kubeconfig"]).arg(kubeconfig);
        command.arg("--service-account-private-key-file").arg(key);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Controller(child.with_context(|| format!("unable to start {}", program.display()))?))
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        for ended in [self.0.kill(), self.0.wait().map(drop)] {
            if let Err(error) = ended {
                eprintln!("unable to stop the controller manager: {error}");
            }
        }
    }
}

/// The delay of each replacement, on a new server.
pub(super) async fn recreations(
    target: &Target,
    program: &Path,
    kubeconfig: &Path,
    key: &Path,
) -> anyhow::Result<Vec<Duration>> {
    let mut accounts = Events::of(target, ACCOUNTS).await?;
    let mut writer = target.connect().await?;
    let _controller = Controller::start(program, kubeconfig, key)?;
    for number in 0..DELETIONS {
        let account = json!({"metadata": {"name": format!("bench-{number}")}}).to_string();
        writer.exchange(Call::new(Method::POST, ACCOUNTS, account)).await?;
    }
    let mut names = Vec::with_capacity(DELETIONS);
    while names.len() < DELETIONS {
        names.push(accounts.next(|event| Some(event["object"]["secrets"][0]["name"].as_str()?.to_string())).await?);
    }
    let mut secrets = Events::of(target, SECRETS).await?;
    for _ in 0..DELETIONS {
        secrets.next(is_added).await?;
    }
    let mut durations = Vec::with_capacity(DELETIONS);
    for name in names {
        let start = Instant::now();
        writer.exchange(Call::new(Method::DELETE, format!("{SECRETS}/{name}"), "")).await?;
        secrets.next(is_added).await?;
        durations.push(start.elapsed());
    }
    Ok(durations)
}

fn is_added(event: &Value) -> Option<()> {
    (event["type"] == "ADDED").then_some(())
}

/// A watch, read line by line.
struct Events {
    body: Incoming,
    rest: Vec<u8>,
}

impl Events {
    async fn of(target: &Target, resource: &str) -> anyhow::Result<Self> {
        let watch = Call::get(format!("{resource}?watch=true"));
        Ok(Events { body: target.connect_http2().await?.open(watch).await?, rest: Vec::new() })
    }

    /// The first `Some` that `look` returns for the coming events.
    async fn next<T>(&mut self, look: impl Fn(&Value) -> Option<T>) -> anyhow::Result<T> {
        let next = async {
            loop {
                let event = serde_json::from_slice(&self.line().await?)?;
                if let Some(found) = look(&event) {
                    return Ok(found);
                }
            }
        };
        tokio::time::timeout(REACTION_TIMEOUT, next).await.context("the controller does nothing")?
    }

    async fn line(&mut self) -> anyhow::Result<Vec<u8>> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                return Ok(self.rest.drain(..=end).collect());
            }
            let frame = self.body.frame().await.context("the watch has ended")??;
            self.rest.extend_from_slice(frame.data_ref().map_or(&[][..], AsRef::as_ref));
        }
    }
}
