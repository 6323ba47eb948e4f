//! Checks of kube-rs: a line a check, on the server of `KUBECONFIG`.

mod api;
mod runtime;
mod stories;

use anyhow::{Context as _, Result, ensure};
use futures::future::{BoxFuture, FutureExt as _};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// Time for a check.
const DEADLINE: Duration = Duration::from_secs(30);

/// The environment of a check: a client, and a namespace of its own.
#[derive(Clone)]
pub struct Scene {
    pub client: Client,
    pub namespace: String,
}

/// A check: its name, and a function that must not fail.
pub type Check = (&'static str, fn(Scene) -> BoxFuture<'static, Result<()>>);

/// The checks of these functions, by their names.
#[macro_export]
macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), |scene| Box::pin($name(scene)))),*]
    };
}

impl Scene {
    pub fn maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub fn deployments(&self) -> Api<Deployment> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub async fn map(&self, name: &str, labels: Value) -> Result<ConfigMap> {
        let map = serde_json::from_value(
            json!({"metadata": {"name": name, "labels": labels}, "data": {"k": "v"}}),
        )?;
        Ok(self.maps().create(&PostParams::default(), &map).await?)
    }

    pub async fn deployment(&self) -> Result<Deployment> {
        let labels = json!({"app": "d"});
        let pod = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
        let spec = json!({"selector": {"matchLabels": labels}, "template": pod});
        let object = serde_json::from_value(json!({"metadata": {"name": "d"}, "spec": spec}))?;
        Ok(self
            .deployments()
            .create(&PostParams::default(), &object)
            .await?)
    }
}

/// Fails unless both are equal.
pub fn same<T: PartialEq + Debug>(actual: T, expected: T) -> Result<()> {
    ensure!(actual == expected, "expected {expected:?}, was {actual:?}");
    Ok(())
}

/// Fails unless the server refused it for that reason.
pub fn refused<T>(result: kube::Result<T>, reason: &str) -> Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.reason == reason => Ok(()),
        Err(error) => Err(error).with_context(|| format!("expected {reason}")),
        Ok(_) => anyhow::bail!("expected {reason}, was no error"),
    }
}

async fn perform(client: Client, namespace: String, check: Check) -> Result<()> {
    let body: Namespace = serde_json::from_value(json!({"metadata": {"name": namespace}}))?;
    let created = Api::all(client.clone())
        .create(&PostParams::default(), &body)
        .await?;
    let running = check.1(Scene {
        client,
        namespace: created.name_any(),
    });
    let ended = tokio::time::timeout(DEADLINE, AssertUnwindSafe(running).catch_unwind()).await;
    ended
        .context("it did not end")?
        .map_err(|_| anyhow::anyhow!("it panicked"))?
}

#[tokio::main]
async fn main() -> Result<()> {
    let client = Client::try_default().await?;
    let lock = include_str!("../Cargo.lock");
    let version = lock
        .split("name = \"kube\"\nversion = \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    println!(
        "client kube {}",
        version.context("no kube in the lock file")?
    );
    // Only the fake can be told what to do.
    let told = match std::env::var_os("FAKE_APISERVER_CONTROL_URL") {
        Some(_) => stories::CHECKS,
        None => &[],
    };
    let checks = api::CHECKS.iter().chain(runtime::CHECKS).chain(told);
    for (number, check) in checks.enumerate() {
        let name = check.0.replace('_', "-");
        match perform(client.clone(), format!("c-{number}"), *check).await {
            Ok(()) => println!("ok {name}"),
            Err(error) => println!("FAIL {name}: {}", format!("{error:#}").replace('\n', " ")),
        }
    }
    Ok(())
}
