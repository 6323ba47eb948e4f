//! The controller that keeps service accounts and the secrets with their tokens consistent.
//!
//! Two queues, of service accounts and of token secrets, are filled by the events of two informers and emptied by workers:
//!
//! | object | sync |
//! |---|---|
//! | a service account that exists | with [`Options::auto_generate`]: creates a token secret and a reference to it, if there is none |
//! | a service account that was deleted | deletes its token secrets |
//! | a token secret that exists | fills in token, namespace and root CA; deletes it if its service account does not exist |
//! | a token secret that was deleted | removes the references to it |
//!
//! The order of the API calls is part of the contract: upstream's own tests check it.
//!
//! A sync that asks for it is retried with growing delays, [`Options::max_retries`] times; new events do not reset the
//! count, only a sync that does not ask for a retry does. Periodic resyncs are left out, as kube-controller-manager does not
//! use them.
//!
//! Follows kubernetes v1.24.17 `pkg/controller/serviceaccount/tokens_controller.go`, the last to know both modes: with
//! `auto_generate` it does what v1.23 did, without it what v1.37.1 does.

mod api;
pub(crate) mod belongs;
mod generate;
pub(crate) mod keys;
mod secret_sync;
mod service_account_sync;

pub use belongs::SERVICE_ACCOUNT_TOKEN;
pub use generate::{LEGACY_ISSUER, LegacyClaims, TokenGenerator};
pub use keys::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY, SecretKey, ServiceAccountKey};
pub use secret_sync::REMOVE_TOKEN_BACKOFF;

use crate::client_go::informer::{Event, Informer};
use crate::client_go::mutation_cache::MutationCache;
use crate::client_go::workqueue::RateLimitingQueue;
use crate::controller::{Controller, Source};
use crate::worker::Worker;
use api::Syncer;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::{Client, ResourceExt};
use std::sync::Arc;
use tracing::debug;

/// The data key of the token (`v1.ServiceAccountTokenKey`).
pub const TOKEN_DATA_KEY: &str = "token";
/// The data key of the service account's namespace (`v1.ServiceAccountNamespaceKey`).
pub const NAMESPACE_DATA_KEY: &str = "namespace";
/// The data key of the API server's certificate authority (`v1.ServiceAccountRootCAKey`).
pub const ROOT_CA_DATA_KEY: &str = "ca.crt";

/// The name of both queues in metrics, as upstream.
const QUEUES: &str = "serviceaccount_tokens_service";

/// Default number of retries of a failing key.
pub const DEFAULT_MAX_RETRIES: u32 = 10;

/// The options of the controller (`TokensControllerOptions`).
#[derive(Clone)]
pub struct Options {
    /// The generator of the tokens.
    pub token_generator: Arc<dyn TokenGenerator>,
    /// The root CA of every token secret, verbatim. If empty, root CAs are left alone.
    pub root_ca: Vec<u8>,
    /// The number of retries of a failing key; N retries are N+1 attempts.
    pub max_retries: u32,
    /// Whether every service account gets a token secret, as up to Kubernetes 1.23. Otherwise, as from 1.24 on, only
    /// secrets that users create are filled.
    pub auto_generate: bool,
}

impl Options {
    /// The defaults: no root CA, [`DEFAULT_MAX_RETRIES`], tokens for every service account.
    pub fn new(token_generator: Arc<dyn TokenGenerator>) -> Self {
        Options { token_generator, root_ca: Vec::new(), max_retries: DEFAULT_MAX_RETRIES, auto_generate: true }
    }
}

/// The controller, which acts through `client` on the informers' events. `secrets` is the informer of secrets, in a cache
/// for the controller's own writes.
pub fn controller(
    client: Client,
    service_accounts: Arc<Informer<ServiceAccount>>,
    secrets: Arc<MutationCache<Secret>>,
    options: Options,
) -> Controller {
    let service_account_queue = Arc::new(RateLimitingQueue::new());
    let secret_queue = Arc::new(RateLimitingQueue::new());
    let auto_generate = options.auto_generate;
    service_accounts.add_handler({
        let queue = service_account_queue.clone();
        move |event| queue_service_account(&queue, event, auto_generate)
    });
    secrets.backing().add_handler({
        let queue = secret_queue.clone();
        move |event| queue_secret(&queue, event)
    });
    let informers: Vec<Arc<dyn Source>> = vec![service_accounts.clone(), secrets.backing().clone()];
    let syncer = Arc::new(Syncer {
        client: client.clone(),
        token_generator: options.token_generator,
        root_ca: options.root_ca,
        auto_generate,
        service_accounts,
        secrets,
    });
    let max_retries = Some(options.max_retries);
    let service_account_worker = Worker::new(QUEUES, service_account_queue, max_retries, {
        let syncer = syncer.clone();
        move |key| {
            let syncer = syncer.clone();
            async move { syncer.sync_service_account(key).await }
        }
    });
    let secret_worker = Worker::new(QUEUES, secret_queue, max_retries, move |key| {
        let syncer = syncer.clone();
        async move { syncer.sync_secret(key).await }
    });
    Controller::new(client, informers, vec![Box::new(service_account_worker), Box::new(secret_worker)])
}

/// Queues the service account of an event. With `auto_generate`, as up to v1.23, missed deletions are ignored (the handlers
/// did not know `DeletedFinalStateUnknown`); otherwise, as in v1.37.1, they are treated like others.
fn queue_service_account(
    queue: &RateLimitingQueue<ServiceAccountKey>,
    event: &Event<ServiceAccount>,
    auto_generate: bool,
) {
    match event {
        Event::MissedDeletion(account) if auto_generate => {
            debug!(name = account.name_any(), "ignoring a missed deletion")
        }
        Event::Added(account)
        | Event::Updated { new: account, .. }
        | Event::Deleted(account)
        | Event::MissedDeletion(account) => queue.add(ServiceAccountKey::of(account)),
    }
}

/// Queues the secret of an event, if it is a token secret. As upstream, missed deletions are ignored.
fn queue_secret(queue: &RateLimitingQueue<SecretKey>, event: &Event<Secret>) {
    match event.filter(belongs::is_token) {
        Some(Event::Added(secret) | Event::Updated { new: secret, .. } | Event::Deleted(secret)) => {
            queue.add(SecretKey::of(&secret));
        }
        Some(Event::MissedDeletion(secret)) => debug!(name = secret.name_any(), "ignoring a missed deletion"),
        None => {}
    }
}
