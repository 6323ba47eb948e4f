//! The sync of a service account: deletes the tokens of a deleted one, creates a token for one that exists.
//!
//! Follows kubernetes v1.24.17 `pkg/controller/serviceaccount/tokens_controller.go` (`syncServiceAccount`,
//! `deleteTokens`, `ensureReferencedToken`, `hasReferencedToken`).

use super::api::{Failure, Syncer, only_uid};
use super::belongs::{self, SERVICE_ACCOUNT_TOKEN};
use super::generate::{LegacyClaims, generate_name};
use super::keys::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY, ServiceAccountKey};
use super::{NAMESPACE_DATA_KEY, ROOT_CA_DATA_KEY, TOKEN_DATA_KEY};
use crate::client_go::api_errors::{NAMESPACE_TERMINATING_CAUSE, has_status_cause, is_conflict, is_not_found};
use crate::client_go::retry::DEFAULT_RETRY;
use crate::worker::Outcome;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::ResourceExt;
use kube::api::{ObjectMeta, PostParams};
use tracing::{debug, error, info};

impl Syncer {
    pub(super) async fn sync_service_account(&self, key: ServiceAccountKey) -> Outcome {
        if !key.is_valid() {
            error!(?key, "invalid serviceaccount key");
            return Outcome::Forget;
        }
        match self.cached_service_account(&key.namespace, &key.name, &key.uid) {
            None => self.delete_tokens(&key).await,
            Some(account) if self.auto_generate => {
                self.ensure_referenced_token(&account).await.unwrap_or_else(|failure| {
                    error!(namespace = key.namespace, name = key.name, %failure, "error synchronizing serviceaccount");
                    failure.outcome
                })
            }
            Some(_) => Outcome::Forget,
        }
    }

    /// Deletes the tokens of a deleted service account. If one deletion fails, the others are tried nevertheless.
    async fn delete_tokens(&self, key: &ServiceAccountKey) -> Outcome {
        debug!(?key, "service account deleted, removing tokens");
        let mut outcome = Outcome::Forget;
        for secret in self.token_secrets(&key.namespace, &key.name, &key.uid) {
            let (name, uid) = (secret.name_any(), secret.uid().unwrap_or_default());
            if let Err(failure) = self.delete_token(&key.namespace, &name, &uid).await {
                error!(?key, secret = name, %failure, "error deleting serviceaccount token");
                outcome = failure.outcome;
            }
        }
        outcome
    }

    /// Makes sure that the service account refers to a token of its own.
    async fn ensure_referenced_token(&self, cached: &ServiceAccount) -> Result<Outcome, Failure> {
        if self.has_referenced_token(cached) {
            return Ok(Outcome::Forget);
        }
        let namespace = cached.namespace().unwrap_or_default();
        // Not found: the live lookup or the cache is stale.
        let live = self.service_accounts_in(&namespace).get(&cached.name_any()).await.map_err(Failure::retriable)?;
        if live.resource_version() != cached.resource_version() {
            debug!(live = ?live.resource_version(), cached = ?cached.resource_version(), "service account is not up to date, retrying");
            return Ok(Outcome::Retry);
        }

        let secret = self.new_token_secret(cached)?;
        let created = match self.secrets_in(&namespace).create(&PostParams::default(), &secret).await {
            Ok(created) => created,
            // In a terminating namespace every create fails.
            Err(error) if has_status_cause(&error, NAMESPACE_TERMINATING_CAUSE) => {
                return Err(Failure::terminal(error));
            }
            Err(error) => return Err(Failure::retriable(error)),
        };
        // Before the service account is updated: otherwise the event of that update would find an unknown reference, and
        // create another token.
        self.secrets.mutation(created.clone());

        let added = self.add_reference(live, &created.name_any(), cached).await;
        if !matches!(added, Ok(true)) {
            self.discard(&created, &added).await;
        }
        match added {
            // After a conflict an update event comes; a deleted account needs no token.
            Err(error) if !is_conflict(&error) && !is_not_found(&error) => Err(Failure::retriable(error)),
            _ => Ok(Outcome::Forget),
        }
    }

    /// A new token secret of the service account, complete but for fields that the API server sets.
    fn new_token_secret(&self, account: &ServiceAccount) -> Result<Secret, Failure> {
        let namespace = account.namespace().unwrap_or_default();
        let name = generate_name(&account.name_any());
        let claims = LegacyClaims::new(account, &name);
        let token = self.token_generator.generate_token(&claims).map_err(Failure::retriable)?;
        let mut data = vec![(TOKEN_DATA_KEY, token.into_bytes()), (NAMESPACE_DATA_KEY, namespace.clone().into_bytes())];
        if !self.root_ca.is_empty() {
            data.push((ROOT_CA_DATA_KEY, self.root_ca.clone()));
        }
        let annotations = [
            (SERVICE_ACCOUNT_NAME_KEY, account.name_any()),
            (SERVICE_ACCOUNT_UID_KEY, account.uid().unwrap_or_default()),
        ];
        Ok(Secret {
            metadata: ObjectMeta {
                name: Some(name),
                namespace: Some(namespace),
                annotations: Some(annotations.map(|(key, value)| (key.to_owned(), value)).into()),
                ..ObjectMeta::default()
            },
            type_: Some(SERVICE_ACCOUNT_TOKEN.to_owned()),
            data: Some(data.into_iter().map(|(key, value)| (key.to_owned(), ByteString(value))).collect()),
            ..Secret::default()
        })
    }

    /// Adds a reference to the secret to the service account. False if it is no longer needed.
    async fn add_reference(
        &self,
        live: ServiceAccount,
        secret_name: &str,
        cached: &ServiceAccount,
    ) -> kube::Result<bool> {
        let mut conflicts = DEFAULT_RETRY.on_conflict();
        let mut fetched = Some(live);
        loop {
            let result = self.try_add_reference(fetched.take(), secret_name, cached).await;
            if !conflicts.again(&result).await {
                return result;
            }
        }
    }

    /// One attempt, with the fetched version or else with the latest.
    async fn try_add_reference(
        &self,
        fetched: Option<ServiceAccount>,
        secret_name: &str,
        cached: &ServiceAccount,
    ) -> kube::Result<bool> {
        let accounts = self.service_accounts_in(&cached.namespace().unwrap_or_default());
        let name = cached.name_any();
        let mut account = match fetched {
            Some(account) => account,
            None => {
                let account = accounts.get(&name).await?;
                if account.uid() != cached.uid() || self.has_referenced_token(&account) {
                    return Ok(false);
                }
                account
            }
        };
        belongs::add_reference(&mut account, secret_name);
        accounts.replace(&name, &PostParams::default(), &account).await.map(|_| true)
    }

    /// Deletes a created secret without a reference. If that fails too, the secret stays.
    async fn discard(&self, created: &Secret, added: &kube::Result<bool>) {
        let (namespace, name) = (created.namespace().unwrap_or_default(), created.name_any());
        info!(namespace, name, result = ?added, "deleting secret because reference couldn't be added");
        let params = only_uid(&created.uid().unwrap_or_default());
        if let Err(error) = self.secrets_in(&namespace).delete(&name, &params).await {
            error!(namespace, name, %error, "error deleting unreferenced secret");
        }
    }

    /// Whether the service account refers to an existing token secret of its own.
    fn has_referenced_token(&self, account: &ServiceAccount) -> bool {
        let namespace = account.namespace().unwrap_or_default();
        let uid = account.uid().unwrap_or_default();
        let tokens = self.token_secrets(&namespace, &account.name_any(), &uid);
        tokens.iter().any(|secret| belongs::refers_to(account, &secret.name_any()))
    }
}
