//! The sync of a token secret: deletes one without a service account, fills an incomplete one, and removes the references
//! to a deleted one.
//!
//! Follows kubernetes v1.24.17 `pkg/controller/serviceaccount/tokens_controller.go` (`syncSecret`,
//! `generateTokenIfNeeded`, `secretUpdateNeeded`, `removeSecretReference`).

use super::api::{Failure, Syncer};
use super::belongs;
use super::generate::LegacyClaims;
use super::keys::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY, SecretKey};
use super::{NAMESPACE_DATA_KEY, ROOT_CA_DATA_KEY, TOKEN_DATA_KEY};
use crate::client_go::api_errors::{is_conflict, is_not_found};
use crate::client_go::retry::Backoff;
use crate::worker::Outcome;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::ResourceExt;
use kube::api::PostParams;
use std::time::Duration;
use tracing::{debug, error, info};

/// The backoff of removing references to a deleted secret (`RemoveTokenBackoff`). With a factor of 0 all waits are equal.
pub const REMOVE_TOKEN_BACKOFF: Backoff =
    Backoff { steps: 10, duration: Duration::from_millis(100), factor: 0.0, jitter: 1.0 };

impl Syncer {
    pub(super) async fn sync_secret(&self, key: SecretKey) -> Outcome {
        if !key.is_valid() {
            error!(?key, "invalid secret key");
            return Outcome::Forget;
        }
        match self.cached_secret(&key.namespace, &key.name, &key.uid) {
            None => {
                self.remove_dangling_references(&key).await;
                Outcome::Forget
            }
            Some(secret) => self.fill_or_delete(&key, &secret).await.map_or_else(
                |failure| {
                    error!(?key, %failure, "error synchronizing serviceaccount token");
                    failure.outcome
                },
                |()| Outcome::Forget,
            ),
        }
    }

    /// Removes the references to a deleted secret, if the service account is in the cache. A failure here is not retried by the
    /// queue.
    async fn remove_dangling_references(&self, key: &SecretKey) {
        if self.cached_service_account(&key.namespace, &key.account_name, &key.account_uid).is_none() {
            return;
        }
        let mut conflicts = REMOVE_TOKEN_BACKOFF.on_conflict();
        let result = loop {
            let result = self.remove_secret_reference(key).await;
            if !conflicts.again(&result).await {
                break result;
            }
        };
        if let Err(error) = result {
            error!(?key, %error, "error removing the reference to a deleted secret");
        }
    }

    async fn remove_secret_reference(&self, key: &SecretKey) -> kube::Result<()> {
        let accounts = self.service_accounts_in(&key.namespace);
        let mut account = match accounts.get(&key.account_name).await {
            Err(error) if is_not_found(&error) => return Ok(()),
            result => result?,
        };
        let other_account = !key.account_uid.is_empty() && account.uid().as_ref() != Some(&key.account_uid);
        if other_account || !belongs::refers_to(&account, &key.name) {
            return Ok(());
        }
        belongs::remove_references(&mut account, &key.name);
        match accounts.replace(&key.account_name, &PostParams::default(), &account).await {
            Err(error) if is_not_found(&error) => Ok(()),
            result => result.map(|_| ()),
        }
    }

    async fn fill_or_delete(&self, key: &SecretKey, secret: &Secret) -> Result<(), Failure> {
        let account = self.service_account(&key.namespace, &key.account_name, &key.account_uid).await;
        match account.map_err(Failure::retriable)? {
            Some(account) => self.generate_token_if_needed(&account, secret).await,
            None => {
                debug!(?key, "service account does not exist, deleting token");
                self.delete_token(&key.namespace, &key.name, &key.uid).await
            }
        }
    }

    /// Fills in missing data, if the cached secret is the latest version; otherwise an event is on its way.
    async fn generate_token_if_needed(&self, account: &ServiceAccount, cached: &Secret) -> Result<(), Failure> {
        if !Needs::of(cached, &self.root_ca).any() {
            return Ok(());
        }
        let secrets = self.secrets_in(&cached.namespace().unwrap_or_default());
        let name = cached.name_any();
        let mut live = match secrets.get(&name).await {
            Err(error) if is_not_found(&error) => return Err(Failure::terminal(error)),
            result => result.map_err(Failure::retriable)?,
        };
        if live.resource_version() != cached.resource_version() {
            info!(name, "secret is not up to date, skipping token population");
            return Ok(());
        }
        let needs = Needs::of(&live, &self.root_ca);
        if !needs.any() {
            return Ok(());
        }
        self.fill(&mut live, needs, account)?;
        match secrets.replace(&name, &PostParams::default(), &live).await {
            // After a conflict an update event comes; a deleted secret needs no token.
            Err(error) if !is_conflict(&error) && !is_not_found(&error) => Err(Failure::retriable(error)),
            _ => Ok(()),
        }
    }

    /// Fills in the needed data and the uid of the service account.
    fn fill(&self, secret: &mut Secret, needs: Needs, account: &ServiceAccount) -> Result<(), Failure> {
        let name = secret.name_any();
        let namespace = secret.namespace().unwrap_or_default();
        let data = secret.data.get_or_insert_default();
        if needs.root_ca {
            data.insert(ROOT_CA_DATA_KEY.to_owned(), ByteString(self.root_ca.clone()));
        }
        if needs.namespace {
            data.insert(NAMESPACE_DATA_KEY.to_owned(), ByteString(namespace.into_bytes()));
        }
        if needs.token {
            let claims = LegacyClaims::new(account, &name);
            let token = self.token_generator.generate_token(&claims).map_err(Failure::terminal)?;
            data.insert(TOKEN_DATA_KEY.to_owned(), ByteString(token.into_bytes()));
        }
        let annotations = secret.annotations_mut();
        annotations.insert(SERVICE_ACCOUNT_NAME_KEY.to_owned(), account.name_any());
        annotations.insert(SERVICE_ACCOUNT_UID_KEY.to_owned(), account.uid().unwrap_or_default());
        Ok(())
    }
}

/// The data that a token secret lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Needs {
    root_ca: bool,
    namespace: bool,
    token: bool,
}

impl Needs {
    /// A root CA is needed if one is configured and the secret has not the same. A namespace or a token is needed if it is
    /// absent; existing ones are not checked.
    fn of(secret: &Secret, root_ca: &[u8]) -> Needs {
        let data = |key| secret.data.as_ref().and_then(|data| data.get(key)).map_or(&[][..], |value| &value.0);
        Needs {
            root_ca: !root_ca.is_empty() && data(ROOT_CA_DATA_KEY) != root_ca,
            namespace: data(NAMESPACE_DATA_KEY).is_empty(),
            token: data(TOKEN_DATA_KEY).is_empty(),
        }
    }

    fn any(self) -> bool {
        self.root_ca || self.namespace || self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_needs_what_it_lacks() {
        let b64 = |text: &str| json!(ByteString(text.into()));
        // data, configured root CA; needs root CA, namespace, token
        for (data, root_ca, root_ca_needed, namespace, token) in [
            (json!({"ca.crt": b64("ca"), "namespace": b64("ns"), "token": b64("t")}), "ca", false, false, false),
            (json!({"ca.crt": b64("ca"), "namespace": b64("custom"), "token": b64("junk")}), "ca", false, false, false),
            (json!({"ca.crt": b64("other"), "namespace": b64("ns"), "token": b64("t")}), "ca", true, false, false),
            (json!({"ca.crt": b64("other"), "namespace": b64("ns"), "token": b64("t")}), "", false, false, false),
            (json!({"namespace": b64("ns"), "token": b64("t")}), "ca", true, false, false),
            (json!({"namespace": b64(""), "token": b64("")}), "", false, true, true),
            (json!(null), "ca", true, true, true),
        ] {
            let secret: Secret = serde_json::from_value(json!({ "data": data })).expect("a secret");
            let expected = Needs { root_ca: root_ca_needed, namespace, token };
            assert_eq!(Needs::of(&secret, root_ca.as_bytes()), expected, "{data} with root CA {root_ca:?}");
        }
    }
}
