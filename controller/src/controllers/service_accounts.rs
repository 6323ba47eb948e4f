//! The controller that creates the service accounts of every active namespace, by default just `default`.
//!
//! | event | sync of the namespace |
//! |---|---|
//! | a namespace was added or updated | creates missing service accounts, if the namespace is active |
//! | a service account was deleted, whatever its name | the same |
//!
//! Existing accounts are not changed. A namespace that fails is retried for ever, with growing delays.
//!
//! Follows kubernetes v1.37.1 `pkg/controller/serviceaccount/serviceaccounts_controller.go`, without resyncs, which
//! kube-controller-manager does not use.

use crate::client_go::api_errors::{NAMESPACE_TERMINATING_CAUSE, aggregate, has_status_cause, is_already_exists};
use crate::client_go::informer::{Event, Informer, ObjectKey};
use crate::client_go::objects::Objects;
use crate::client_go::workqueue::RateLimitingQueue;
use crate::controller::{Controller, Source};
use crate::worker::{Outcome, Worker};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{ObjectMeta, PostParams};
use kube::{Client, ResourceExt};
use std::fmt::{self, Display};
use std::sync::Arc;

/// The options of the controller (`ServiceAccountsControllerOptions`).
#[derive(Debug, Clone)]
pub struct Options {
    /// The service accounts of every namespace, created in this order.
    pub service_accounts: Vec<ServiceAccount>,
}

impl Default for Options {
    /// Just the service account `default`.
    fn default() -> Self {
        let metadata = ObjectMeta { name: Some("default".to_owned()), ..ObjectMeta::default() };
        Options { service_accounts: vec![ServiceAccount { metadata, ..ServiceAccount::default() }] }
    }
}

/// The controller, which acts through `client` on the informers' events. Its keys are names of namespaces.
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
    /// Creates the missing service accounts. If one fails, the others are tried nevertheless.
    async fn sync(&self, namespace: &str) -> Result<(), CreateFailures> {
        let known = self.namespaces.get(&ObjectKey::new("", namespace));
        if !known.is_some_and(|namespace| is_active(&namespace)) {
            return Ok(());
        }
        let api = Objects::<ServiceAccount>::namespaced(self.client.clone(), namespace);
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

/// Whether the namespace is in the phase `Active`.
pub(crate) fn is_active(namespace: &Namespace) -> bool {
    let phase = namespace.status.as_ref().and_then(|status| status.phase.as_deref());
    phase == Some("Active")
}

/// The errors of all creates, each message once (`utilerrors.NewAggregate`).
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
