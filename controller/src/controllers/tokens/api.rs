//! Lookups and deletions of the controller: in the caches, and live.
//!
//! Follows kubernetes v1.24.17 `pkg/controller/serviceaccount/tokens_controller.go` (`getServiceAccount`, `getSecret`,
//! `listTokenSecrets`, `deleteToken`). Caches cannot fail here, so the branches for their errors are gone.

use super::belongs;
use super::generate::TokenGenerator;
use crate::client_go::api_errors::{is_conflict, is_not_found};
use crate::client_go::informer::{Informer, ObjectKey};
use crate::client_go::mutation_cache::MutationCache;
use crate::client_go::objects::Objects;
use crate::keys::SigningError;
use crate::worker::Outcome;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::api::{DeleteParams, Preconditions};
use kube::{Client, ResourceExt};
use std::sync::Arc;

/// The syncs of the controller's keys.
pub(super) struct Syncer {
    pub(super) client: Client,
    pub(super) token_generator: Arc<dyn TokenGenerator>,
    pub(super) root_ca: Vec<u8>,
    pub(super) auto_generate: bool,
    pub(super) service_accounts: Arc<Informer<ServiceAccount>>,
    pub(super) secrets: Arc<MutationCache<Secret>>,
}

/// The error of a failed sync.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub(super) struct Failure {
    pub(super) cause: Cause,
    pub(super) outcome: Outcome,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Cause {
    #[error(transparent)]
    Api(#[from] kube::Error),
    #[error(transparent)]
    Signing(#[from] SigningError),
}

impl Failure {
    /// A failure that is retried.
    pub(super) fn retriable(cause: impl Into<Cause>) -> Self {
        Failure { cause: cause.into(), outcome: Outcome::Retry }
    }

    /// A failure that is not retried: it is permanent, or an event will come.
    pub(super) fn terminal(cause: impl Into<Cause>) -> Self {
        Failure { cause: cause.into(), outcome: Outcome::Forget }
    }
}

impl Syncer {
    pub(super) fn service_accounts_in(&self, namespace: &str) -> Objects<ServiceAccount> {
        Objects::namespaced(self.client.clone(), namespace)
    }

    pub(super) fn secrets_in(&self, namespace: &str) -> Objects<Secret> {
        Objects::namespaced(self.client.clone(), namespace)
    }

    /// The cached service account of that name and, if one is given, of that uid.
    pub(super) fn cached_service_account(&self, namespace: &str, name: &str, uid: &str) -> Option<Arc<ServiceAccount>> {
        let cached = self.service_accounts.get(&ObjectKey::new(namespace, name))?;
        has_uid(&*cached, uid).then_some(cached)
    }

    /// The service account, looked up in the cache and then, as that may be stale, on the API server.
    pub(super) async fn service_account(
        &self,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> kube::Result<Option<Arc<ServiceAccount>>> {
        if let Some(cached) = self.cached_service_account(namespace, name, uid) {
            return Ok(Some(cached));
        }
        match self.service_accounts_in(namespace).get(name).await {
            Ok(live) => Ok(has_uid(&live, uid).then(|| Arc::new(live))),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The cached or just created secret of that name and uid.
    pub(super) fn cached_secret(&self, namespace: &str, name: &str, uid: &str) -> Option<Arc<Secret>> {
        let cached = self.secrets.get(&ObjectKey::new(namespace, name))?;
        has_uid(&*cached, uid).then_some(cached)
    }

    /// The cached and just created token secrets of the service account of that name and uid.
    pub(super) fn token_secrets(&self, namespace: &str, account_name: &str, account_uid: &str) -> Vec<Arc<Secret>> {
        let mut secrets = self.secrets.in_namespace(namespace);
        secrets.retain(|secret| belongs::is_token_of(secret, account_name, account_uid));
        secrets
    }

    /// Deletes the secret if it still has that uid. If it does not exist, or is another one, that is a success.
    pub(super) async fn delete_token(&self, namespace: &str, name: &str, uid: &str) -> Result<(), Failure> {
        match self.secrets_in(namespace).delete(name, &only_uid(uid)).await {
            Err(error) if !is_not_found(&error) && !is_conflict(&error) => Err(Failure::retriable(error)),
            _ => Ok(()),
        }
    }
}

/// The parameters of a delete with the uid as precondition, unless it is empty.
pub(super) fn only_uid(uid: &str) -> DeleteParams {
    match uid {
        "" => DeleteParams::default(),
        uid => {
            DeleteParams::default().preconditions(Preconditions { uid: Some(uid.to_owned()), resource_version: None })
        }
    }
}

/// Whether `uid` is empty, or the object's.
fn has_uid(object: &impl ResourceExt, uid: &str) -> bool {
    uid.is_empty() || object.meta().uid.as_deref() == Some(uid)
}
