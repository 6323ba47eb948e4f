//! How soon the token controller makes up for a deleted token: from the deletion's being sent to the arrival of the event that
//! shows the new secret. Server and controller are processes of their own.

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
/// How many tokens are deleted.
const DELETIONS: usize = 50;
/// How soon a controller has to react at all.
const PATIENCE: Duration = Duration::from_secs(10);

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

/// The time that each deletion took to be made up for, on a new server.
pub(super) async fn recreations(
    target: &Target,
    program: &Path,
    kubeconfig: &Path,
    key: &Path,
) -> anyhow::Result<Vec<Duration>> {
    let mut secrets = Events::open(target, SECRETS).await?;
    let mut accounts = Events::open(target, ACCOUNTS).await?;
    let mut writer = target.connect().await?;
    let _controller = Controller::start(program, kubeconfig, key)?;
    writer.exchange(Call::new(Method::POST, ACCOUNTS, json!({"metadata": {"name": "bench"}}).to_string())).await?;
    let mut name = secrets.next_secret().await?;
    let mut durations = Vec::with_capacity(DELETIONS);
    for _ in 0..DELETIONS {
        // A token that is deleted before its maker has seen it is taken to exist for a minute, as upstream.
        accounts.reference_to(&name).await?;
        let start = Instant::now();
        writer.exchange(Call::new(Method::DELETE, format!("{SECRETS}/{name}"), "")).await?;
        name = secrets.next_secret().await?;
        durations.push(start.elapsed());
    }
    Ok(durations)
}

/// A watch, read line by line.
struct Events {
    body: Incoming,
    rest: Vec<u8>,
}

impl Events {
    async fn open(target: &Target, resource: &str) -> anyhow::Result<Self> {
        let watch = Call::get(format!("{resource}?watch=true"));
        Ok(Events { body: target.connect_http2().await?.open(watch).await?, rest: Vec::new() })
    }

    /// The name of the next secret that appears.
    async fn next_secret(&mut self) -> anyhow::Result<String> {
        let event = self.find(|event| event["type"] == "ADDED").await?;
        Ok(event["object"]["metadata"]["name"].as_str().context("a secret without a name")?.to_string())
    }

    /// Waits until an account refers to a secret.
    async fn reference_to(&mut self, secret: &str) -> anyhow::Result<()> {
        let refers = |event: &Value| {
            let references = event["object"]["secrets"].as_array();
            references.is_some_and(|list| list.iter().any(|reference| reference["name"] == secret))
        };
        self.find(refers).await.map(drop)
    }

    async fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let search = async {
            loop {
                let event = serde_json::from_slice(&self.line().await?)?;
                if wanted(&event) {
                    return Ok(event);
                }
            }
        };
        tokio::time::timeout(PATIENCE, search).await.context("the controller does nothing")?
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
