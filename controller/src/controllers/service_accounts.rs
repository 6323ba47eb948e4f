//! The controller that gives every active namespace its service accounts, in production just `default`.
//!
//! | what happened | what the sync of the namespace does |
//! |---|---|
//! | a namespace is new or changed | creates what is missing, if the namespace is active |
//! | a service account is gone, wanted or not | the same |
//!
//! What exists is never touched. A namespace that fails is retried for ever, with growing delays.
//!
//! Follows kubernetes v1.37.1 `pkg/controller/serviceaccount/serviceaccounts_controller.go`, without resyncs, which
//! kube-controller-manager does not use.

use crate::client_go::api_errors::{NAMESPACE_TERMINATING_CAUSE, aggregate, has_status_cause, is_already_exists};
use crate::client_go::informer::{Event, Informer, ObjectKey};
use crate::client_go::workqueue::RateLimitingQueue;
use crate::controller::{Controller, Source};
use crate::worker::{Outcome, Worker};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, ResourceExt};
use std::fmt::{self, Display};
use std::sync::Arc;

/// What the controller wants (`ServiceAccountsControllerOptions`).
#[derive(Debug, Clone)]
pub struct Options {
    /// What every namespace has to have; created in this order.
    pub service_accounts: Vec<ServiceAccount>,
}

impl Default for Options {
    /// Just the service account `default`.
    fn default() -> Self {
        let metadata = ObjectMeta { name: Some("default".to_owned()), ..ObjectMeta::default() };
        Options { service_accounts: vec![ServiceAccount { metadata, ..ServiceAccount::default() }] }
    }
}

/// The controller: acts through `client` on what the informers report. Its keys are names of namespaces.
pub fn controller(
    client: Client,
    service_accounts: Arc<Informer<ServiceAccount>>,
    namespaces: Arc<Informer<Namespace>>,
    options: Options,
) -> Controller {
    let queue = Arc::new(RateLimitingQueue::new());
    service_accounts.add_handler({
        let queue = queue.clone();
        move |event| match event {
            Event::Deleted(account) | Event::MissedDeletion(account) => {
                queue.add(account.namespace().unwrap_or_default());
            }
            Event::Added(_) | Event::Updated { .. } => {}
        }
    });
    namespaces.add_handler({
        let queue = queue.clone();
        move |event| match event {
            Event::Added(namespace) | Event::Updated { new: namespace, .. } => queue.add(namespace.name_any()),
            Event::Deleted(_) | Event::MissedDeletion(_) => {}
        }
    });
    let informers: Vec<Arc<dyn Source>> = vec![service_accounts.clone(), namespaces.clone()];
    let syncer = Arc::new(Syncer { client: client.clone(), service_accounts, namespaces, options });
    let worker = Worker::new("serviceaccount", queue, None, move |namespace: String| {
        let syncer = syncer.clone();
        async move { Outcome::of(&namespace, syncer.sync(&namespace).await) }
    });
    Controller::new(client, informers, vec![Box::new(worker)])
}

struct Syncer {
    client: Client,
    service_accounts: Arc<Informer<ServiceAccount>>,
    namespaces: Arc<Informer<Namespace>>,
    options: Options,
}

impl Syncer {
    /// Creates what the namespace lacks. One that fails does not keep the others from being tried.
    async fn sync(&self, namespace: &str) -> Result<(), CreateFailures> {
        let known = self.namespaces.get(&ObjectKey::new("", namespace));
        if !known.is_some_and(|namespace| is_active(&namespace)) {
            return Ok(());
        }
        let api: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let mut failures = Vec::new();
        for wanted in &self.options.service_accounts {
            if self.service_accounts.get(&ObjectKey::new(namespace, wanted.name_any())).is_some() {
                continue;
            }
            let mut account = wanted.clone();
            account.metadata.namespace = Some(namespace.to_owned());
            match api.create(&PostParams::default(), &account).await {
                Ok(_) => {}
                Err(error) if is_already_exists(&error) => {}
                Err(error) if has_status_cause(&error, NAMESPACE_TERMINATING_CAUSE) => {}
                Err(error) => failures.push(error),
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(CreateFailures(failures)) }
    }
}

/// The namespace is not being deleted.
pub(crate) fn is_active(namespace: &Namespace) -> bool {
    let phase = namespace.status.as_ref().and_then(|status| status.phase.as_deref());
    phase == Some("Active")
}

/// What kept service accounts from being created, all of it (`utilerrors.NewAggregate`): each message once.
#[derive(Debug, thiserror::Error)]
struct CreateFailures(Vec<kube::Error>);

impl Display for CreateFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&aggregate(&Vec::from_iter(self.0.iter().map(ToString::to_string))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_go::api_errors::tests::{CONFLICT, FORBIDDEN, api_error};

    #[test]
    fn failures_are_told_together_and_each_once() {
        let told = |answers: &[(u16, &str)]| {
            CreateFailures(answers.iter().map(|answer| api_error(*answer)).collect()).to_string()
        };
        let (conflict, forbidden) = (told(&[CONFLICT]), told(&[FORBIDDEN]));
        assert_eq!(told(&[CONFLICT, CONFLICT]), conflict);
        assert_eq!(told(&[CONFLICT, FORBIDDEN, CONFLICT]), format!("[{conflict}, {forbidden}]"));
    }
}
