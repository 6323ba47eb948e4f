//! The writes of a soak test: a seeded mix of all kinds of writes that the tokens controller reacts to.

use crate::control_plane::sentinel::{TOKEN_TYPE, token_secret};
use anyhow::Result;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

/// Number of account names.
const ACCOUNTS: usize = 50;
/// Number of names that secrets refer to without such an account ever existing.
const MISSING_ACCOUNTS: usize = 5;
/// Number of secret names, without those that the controller generates.
const SECRETS: usize = 200;

/// One write. It is skipped if its object does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Write {
    CreateAccount(String),
    DeleteAccount(String),
    /// Creates a token secret with this name for this account: the controller fills it, or deletes it if the account does not exist.
    CreateToken(String, String),
    CreatePlain(String),
    Annotate(String),
    /// Removes the token from a secret: the controller puts another in.
    Empty(String),
    Delete(String),
    /// Deletes the first secret that the account refers to.
    DeleteReferenced(String),
}

/// An endless sequence of writes.
pub(super) struct Script(fastrand::Rng);

impl Script {
    pub(super) fn new(seed: u64) -> Script {
        Script(fastrand::Rng::with_seed(seed))
    }

    pub(super) fn next_write(&mut self) -> Write {
        let account = format!("account-{}", self.0.usize(..ACCOUNTS));
        let any_account = format!("account-{}", self.0.usize(..ACCOUNTS + MISSING_ACCOUNTS));
        let secret = format!("secret-{}", self.0.usize(..SECRETS));
        match self.0.usize(..100) {
            0..8 => Write::CreateAccount(account),
            8..11 => Write::DeleteAccount(account),
            11..41 => Write::CreateToken(secret, any_account),
            41..46 => Write::CreatePlain(secret),
            46..56 => Write::Annotate(secret),
            56..66 => Write::Empty(secret),
            66..84 => Write::Delete(secret),
            _ => Write::DeleteReferenced(account),
        }
    }
}

/// The collections that are written to.
pub(super) struct Places {
    accounts: Api<ServiceAccount>,
    secrets: Api<Secret>,
}

impl Places {
    pub(super) fn new(client: &Client, namespace: &str) -> Places {
        let (accounts, secrets) =
            (Api::namespaced(client.clone(), namespace), Api::namespaced(client.clone(), namespace));
        Places { accounts, secrets }
    }

    pub(super) fn account_api(&self) -> &Api<ServiceAccount> {
        &self.accounts
    }

    pub(super) fn secret_api(&self) -> &Api<Secret> {
        &self.secrets
    }

    pub(super) async fn accounts(&self) -> Result<Vec<ServiceAccount>> {
        Ok(self.accounts.list(&ListParams::default()).await?.items)
    }

    pub(super) async fn secrets(&self) -> Result<Vec<Secret>> {
        Ok(self.secrets.list(&ListParams::default()).await?.items)
    }

    pub(super) async fn account_names(&self) -> Result<Vec<String>> {
        Ok(self.accounts().await?.iter().map(ServiceAccount::name_any).collect())
    }

    pub(super) async fn token_names(&self) -> Result<Vec<String>> {
        let mut secrets = self.secrets().await?;
        secrets.retain(|secret| secret.type_.as_deref() == Some(TOKEN_TYPE));
        Ok(secrets.iter().map(Secret::name_any).collect())
    }

    /// Makes a write. Returns whether it changed a secret.
    pub(super) async fn make(&self, write: Write) -> Result<bool> {
        let result = match write {
            Write::CreateAccount(name) => {
                let account = serde_json::from_value(json!({"metadata": {"name": name}}))?;
                self.accounts.create(&PostParams::default(), &account).await.map(|_| false)
            }
            Write::DeleteAccount(name) => self.accounts.delete(&name, &DeleteParams::default()).await.map(|_| false),
            Write::CreateToken(name, account) => self.create(&token_secret(json!({"name": name}), &account)?).await,
            Write::CreatePlain(name) => {
                self.create(&serde_json::from_value(json!({"metadata": {"name": name}}))?).await
            }
            Write::Annotate(name) => self.patch(&name, json!({"metadata": {"annotations": {"seen": name}}})).await,
            Write::Empty(name) => self.patch(&name, json!({"data": {"token": null}})).await,
            Write::Delete(name) => self.delete(&name).await,
            Write::DeleteReferenced(account) => match self.accounts.get(&account).await {
                Ok(account) => match account.secrets.into_iter().flatten().find_map(|reference| reference.name) {
                    Some(name) => self.delete(&name).await,
                    None => Ok(false),
                },
                Err(error) => Err(error),
            },
        };
        match result {
            // Another write, or the controller, was first.
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => Ok(false),
            result => Ok(result?),
        }
    }

    async fn create(&self, secret: &Secret) -> kube::Result<bool> {
        self.secrets.create(&PostParams::default(), secret).await.map(|_| true)
    }

    async fn patch(&self, name: &str, patch: Value) -> kube::Result<bool> {
        self.secrets.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.map(|_| true)
    }

    async fn delete(&self, name: &str) -> kube::Result<bool> {
        self.secrets.delete(name, &DeleteParams::default()).await.map(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_tells_the_same_story() {
        let story = |seed| {
            let mut script = Script::new(seed);
            (0..1000).map(|_| script.next_write()).collect::<Vec<_>>()
        };
        assert_eq!(story(1), story(1));
        assert_ne!(story(1), story(2));
        assert!(story(1).iter().any(|write| matches!(write, Write::DeleteReferenced(_))));
    }
}
