//! The sentinel: detects that a tokens controller in another process has handled all events so far.
//!
//! With one worker per queue the controller handles the events of service accounts, and those of token secrets, in order. So
//! what it does to the sentinel's own objects shows how far it is:
//!
//! ```text
//! create account, create secret kept for it ──▶ kept is filled: it knows both
//! create secret orphan, without an account  ──▶ orphan is deleted: done with all secrets until then
//! delete account                            ──▶ kept is deleted: done with all accounts until then
//! ```
//!
//! The account goes last: as long as `kept` is news, its deletion could be that of a secret without account. A controller that
//! lists all accounts anew just then may never hear of this one; then another attempt is made.
//! If several such controllers run, this speaks for the quickest.

use anyhow::{Context as _, Result, bail};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Namespace, Secret, ServiceAccount};
use kube::api::{DeleteParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, Client, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

/// The namespace of the sentinel's objects.
const NAMESPACE: &str = "sentinel";

/// Time after which another attempt is made. An idle controller reacts within milliseconds.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(4);
/// The type of token secrets.
pub(crate) const TOKEN_TYPE: &str = "kubernetes.io/service-account-token";
/// The annotation with the name of the secret's service account.
pub(crate) const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
/// The annotation with the uid of the secret's service account.
pub(crate) const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// A sentinel on one API server, with a namespace of its own.
pub struct Sentinel {
    accounts: Api<ServiceAccount>,
    secrets: Api<Secret>,
}

impl Sentinel {
    /// Creates the namespace. `client` needs full access to it, as another user than the controller's.
    ///
    /// # Errors
    /// If the namespace cannot be created, or exists.
    pub async fn new(client: &Client) -> Result<Sentinel> {
        let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": NAMESPACE}}))?;
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
        let (accounts, secrets) =
            (Api::namespaced(client.clone(), NAMESPACE), Api::namespaced(client.clone(), NAMESPACE));
        Ok(Sentinel { accounts, secrets })
    }

    /// Waits until the controller has handled all events so far; for ever without a controller.
    ///
    /// # Errors
    /// If the API server refuses a request.
    pub async fn pass(&self) -> Result<()> {
        loop {
            if let Ok(passed) = tokio::time::timeout(ATTEMPT_TIMEOUT, self.attempt()).await {
                return passed;
            }
        }
    }

    async fn attempt(&self) -> Result<()> {
        let account = serde_json::from_value(json!({"metadata": {"generateName": "account-"}}))?;
        let account = self.accounts.create(&PostParams::default(), &account).await?.name_any();
        let kept = self.token_secret("kept-", &account).await?;
        let filled = until(&self.secrets, &kept.name_any(), revision(&kept), is_filled).await?;
        let orphan = self.token_secret("orphan-", "nobody").await?;
        until(&self.secrets, &orphan.name_any(), revision(&orphan), is_deletion).await?;
        self.accounts.delete(&account, &DeleteParams::default()).await?;
        until(&self.secrets, &kept.name_any(), filled, is_deletion).await?;
        Ok(())
    }

    async fn token_secret(&self, prefix: &str, account: &str) -> Result<Secret> {
        Ok(self
            .secrets
            .create(&PostParams::default(), &token_secret(json!({"generateName": prefix}), account)?)
            .await?)
    }
}

/// A token secret of that service account, without a token.
///
/// # Errors
/// If `metadata` is not an `ObjectMeta`.
pub fn token_secret(mut metadata: Value, account: &str) -> Result<Secret> {
    metadata["annotations"][ACCOUNT_NAME] = account.into();
    Ok(serde_json::from_value(json!({"metadata": metadata, "type": TOKEN_TYPE}))?)
}

/// Waits for an event of the object called `name` after `revision` and returns its revision.
///
/// # Errors
/// If the watch is refused.
pub async fn until<K>(
    api: &Api<K>,
    name: &str,
    mut revision: String,
    is: impl Fn(&WatchEvent<K>) -> bool,
) -> Result<String>
where
    K: kube::Resource + Clone + Debug + DeserializeOwned,
{
    let parameters = WatchParams::default().fields(&format!("metadata.name={name}"));
    loop {
        let mut events = pin!(api.watch(&parameters, &revision).await?);
        // A stream that ends is resumed.
        while let Some(event) = events.next().await {
            let event = event?;
            match &event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => {
                    revision = object.resource_version().context("an object without revision")?;
                }
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(status) => bail!("watching {name}: {status:?}"),
            }
            if is(&event) {
                return Ok(revision);
            }
        }
    }
}

fn is_filled(event: &WatchEvent<Secret>) -> bool {
    let WatchEvent::Modified(secret) = event else { return false };
    secret.data.as_ref().is_some_and(|data| data.contains_key("token"))
}

fn is_deletion<K>(event: &WatchEvent<K>) -> bool {
    matches!(event, WatchEvent::Deleted(_))
}

fn revision(secret: &Secret) -> String {
    secret.resource_version().unwrap_or_default()
}
