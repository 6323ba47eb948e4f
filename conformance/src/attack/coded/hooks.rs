//! Hostile webhooks, and writes that they are asked about.

use super::hostile::{Answer, say};
use crate::attack::answers::{described, tally};
use crate::attack::ground::Ground;
use crate::webhook::{Asked, Door, Manner, Reaction, Server};
use anyhow::{Context as _, Result};
use futures::future::try_join_all;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// The group of configurations.
pub(super) const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
/// The time in which a configuration has to be in force.
pub(super) const IN_FORCE: Duration = Duration::from_secs(30);
/// The label by which webhooks and policies select the objects of their attack.
pub(super) const LABEL: &str = "attack";

/// A hostile webhook, which ends when this is dropped.
pub(super) struct Hook {
    address: SocketAddr,
    ca_bundle: String,
    /// The number of requests.
    asked: watch::Receiver<usize>,
    _server: Running,
}

/// The way in which it is served.
enum Running {
    Raw { _task: AbortOnDropHandle<()> },
    Http { _server: Server },
}

/// The way in which a webhook is configured.
#[derive(Clone, Copy)]
pub(super) struct Configured {
    /// The resource of the configuration.
    pub(super) resource: &'static str,
    /// The meaning of a failure: `Fail` or `Ignore`.
    pub(super) policy: &'static str,
    /// The time for a call, in seconds.
    pub(super) timeout: u32,
}

/// A validating webhook that must not fail.
pub(super) const VALIDATING: Configured =
    Configured { resource: "validatingwebhookconfigurations", policy: "Fail", timeout: 1 };

impl Hook {
    /// A webhook that gives every request the same answer, which need not be HTTP.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) async fn raw(answer: Answer) -> Result<Hook> {
        let door = Door::open(Manner::Signed, &["http/1.1"]).await?;
        let (address, ca_bundle) = (door.address, door.ca_bundle());
        let (count, asked) = watch::channel(0);
        let serving = async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = door.listener.accept().await {
                let (tls, answer, count) = (door.tls.clone(), answer.clone(), count.clone());
                connections.spawn(async move {
                    if let Ok(stream) = tls.accept(stream).await {
                        say(stream, answer, count).await;
                    }
                });
            }
        };
        let task = AbortOnDropHandle::new(tokio::spawn(serving));
        Ok(Hook { address, ca_bundle, asked, _server: Running::Raw { _task: task } })
    }

    /// A webhook that reacts to a review, and to its number, as `react` says.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) async fn http<F, R>(react: F) -> Result<Hook>
    where
        F: Fn(Value) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<Reaction>> + Send + 'static,
    {
        let (count, asked) = watch::channel(0);
        let server = Server::start(Manner::Signed, move |Asked { body, .. }| {
            count.send_modify(|count| *count += 1);
            let review = serde_json::from_slice(&body).unwrap_or_default();
            react(review)
        });
        let server = server.await?;
        Ok(Hook {
            address: server.address,
            ca_bundle: server.ca_bundle.clone(),
            asked,
            _server: Running::Http { _server: server },
        })
    }

    /// The number of requests so far.
    pub(super) fn asked(&self) -> usize {
        *self.asked.borrow()
    }

    /// Completes when there were so many requests.
    pub(super) async fn asks(&self, count: usize) {
        // An error means that it has ended, so there are no more requests.
        let _ = self.asked.clone().wait_for(|asked| *asked >= count).await;
    }

    /// Has the server ask it about the config maps with a label of that value, and waits until it does.
    ///
    /// # Errors
    /// If the server does not.
    pub(super) async fn install(&self, ground: &Ground, name: &str, configured: Configured) -> Result<Installed> {
        let Configured { resource, policy, timeout } = configured;
        let webhook = json!({
            "name": "hook.example.com", "clientConfig": {"url": format!("https://{}/", self.address), "caBundle": self.ca_bundle},
            "rules": [rule()], "objectSelector": selector(name), "failurePolicy": policy, "timeoutSeconds": timeout,
            "sideEffects": "None", "admissionReviewVersions": ["v1"],
        });
        let installed = Installed::create(ground, resource, name, json!({ "webhooks": [webhook] })).await?;
        let begin = Instant::now();
        while self.asked() == 0 {
            anyhow::ensure!(begin.elapsed() < IN_FORCE, "the webhook is not called");
            ground.ask("POST", &dry(ground), &labelled(name, "probe", json!({}))).await?;
        }
        Ok(installed)
    }
}

/// Objects without a namespace that configure admission.
#[derive(Default)]
pub(super) struct Installed(Vec<String>);

impl Installed {
    /// Creates one. Its name is made of `name` and the ground's.
    ///
    /// # Errors
    /// If it is refused.
    pub(super) async fn create(ground: &Ground, resource: &str, name: &str, mut object: Value) -> Result<Installed> {
        let name = format!("{}-{name}", ground.namespace());
        object["metadata"] = json!({ "name": name });
        ground.must("POST", &format!("{GROUP}/{resource}"), &object).await?;
        Ok(Installed(vec![format!("{GROUP}/{resource}/{name}")]))
    }

    /// These and those.
    pub(super) fn and(mut self, more: Installed) -> Installed {
        self.0.extend(more.0);
        self
    }

    /// Changes the first of them to what `object` has.
    ///
    /// # Errors
    /// If it is refused.
    pub(super) async fn change(&self, ground: &Ground, object: &Value) -> Result<()> {
        let path = self.0.first().context("nothing is installed")?;
        let authorization = ("authorization", format!("Bearer {}", ground.names("admin")["token"]));
        let (code, answer) = ground.ask_with(&[authorization], "PATCH", path, object).await?;
        anyhow::ensure!(code == 200, "{code}: {}", answer["message"]);
        Ok(())
    }

    /// Deletes them.
    ///
    /// # Errors
    /// If it is refused.
    pub(super) async fn remove(self, ground: &Ground) -> Result<()> {
        try_join_all(self.0.iter().map(|path| ground.must("DELETE", path, &Value::Null))).await.map(drop)
    }
}

/// The config maps that are created, of any version.
pub(super) fn rule() -> Value {
    json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]})
}

/// The selector of the objects of an attack.
pub(super) fn selector(name: &str) -> Value {
    json!({"matchLabels": {LABEL: name}})
}

/// The path at which a config map is created and not stored.
pub(super) fn dry(ground: &Ground) -> String {
    format!("{}?dryRun=All", ground.path("configmaps"))
}

/// A config map of an attack.
pub(super) fn labelled(attack: &str, name: &str, data: Value) -> Value {
    json!({"metadata": {"name": name, "labels": {LABEL: attack}}, "data": data})
}

/// Has so many clients create `object` at once, and counts the answers.
///
/// # Errors
/// If there is no answer.
pub(super) async fn created(ground: &Ground, clients: usize, object: &Value) -> Result<String> {
    let path = dry(ground);
    let answers = try_join_all((0..clients).map(|_| ground.ask("POST", &path, object)));
    let answers = answers.await.context("a write without an answer")?;
    Ok(tally(answers.into_iter().map(|(code, answer)| {
        let why = answer["message"].as_str().and_then(|message| message.split_once("resulted in error: "));
        let told = described(code, answer.to_string().as_bytes());
        why.map_or(told.clone(), |(_, why)| format!("{told} {why}"))
    })))
}
