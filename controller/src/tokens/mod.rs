//! The controller that keeps service accounts and the secrets with their tokens consistent.
//!
//! Two queues, of service accounts and of token secrets, are fed by the events of two informers and emptied by workers:
//!
//! | what happened | what the sync does |
//! |---|---|
//! | a service account exists | with [`Options::auto_generate`]: makes a token secret and refers to it, if it refers to none |
//! | a service account is gone | deletes its token secrets |
//! | a token secret exists | fills in token, namespace and root CA; deletes it if its service account does not exist |
//! | a token secret is gone | removes the references to it |
//!
//! The order of the API calls is part of the contract: it is what upstream's own tests check.
//!
//! A sync that asks for it is retried with growing delays, [`Options::max_retries`] times; new events do not reset the
//! count, only a sync that asks for no retry does. Periodic resyncs are left out, since kube-controller-manager does not
//! use them either.
//!
//! Follows kubernetes v1.24.17 `pkg/controller/serviceaccount/tokens_controller.go`, the last to know both modes: with
//! `auto_generate` it does what v1.23 did, without it what v1.37.1 does.

mod api;
mod belongs;
mod generate;
mod keys;
mod secret_sync;
mod service_account_sync;

pub use belongs::SERVICE_ACCOUNT_TOKEN;
pub use generate::{LEGACY_ISSUER, LegacyClaims, TokenGenerator};
pub use keys::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY, SecretKey, ServiceAccountKey};
pub use secret_sync::REMOVE_TOKEN_BACKOFF;

use crate::informer::{Event, Informer};
use crate::mutation_cache::MutationCache;
use crate::workqueue::RateLimitingQueue;
use api::{Outcome, Syncer};
use futures::future::join_all;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::{Api, Client, ResourceExt};
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

/// Where a token secret keeps the token (`v1.ServiceAccountTokenKey`).
pub const TOKEN_DATA_KEY: &str = "token";
/// Where a token secret keeps the namespace of its service account (`v1.ServiceAccountNamespaceKey`).
pub const NAMESPACE_DATA_KEY: &str = "namespace";
/// Where a token secret keeps the certificates to trust the API server by (`v1.ServiceAccountRootCAKey`).
pub const ROOT_CA_DATA_KEY: &str = "ca.crt";

/// How often a failing key is retried if nobody says otherwise.
pub const DEFAULT_MAX_RETRIES: u32 = 10;

/// How the controller works (`TokensControllerOptions`).
#[derive(Clone)]
pub struct Options {
    /// Makes the tokens.
    pub token_generator: Arc<dyn TokenGenerator>,
    /// What every token secret gets as root CA, verbatim. Empty: root CAs are left alone.
    pub root_ca: Vec<u8>,
    /// How often a failing key is retried before it is given up; N retries are N+1 attempts.
    pub max_retries: u32,
    /// Whether every service account gets a token secret, as up to Kubernetes 1.23. Otherwise, as from 1.24 on, only
    /// the secrets that users make are cared for.
    pub auto_generate: bool,
}

impl Options {
    /// The defaults: no root CA, [`DEFAULT_MAX_RETRIES`], tokens for every service account.
    pub fn new(token_generator: Arc<dyn TokenGenerator>) -> Self {
        Options { token_generator, root_ca: Vec::new(), max_retries: DEFAULT_MAX_RETRIES, auto_generate: true }
    }
}

/// The controller. It does nothing until it is [`run`](Self::run), but queues what its informers report from the start.
pub struct TokensController {
    syncer: Syncer,
    max_retries: u32,
    secrets: Arc<Informer<Secret>>,
    service_account_queue: Arc<RateLimitingQueue<ServiceAccountKey>>,
    secret_queue: Arc<RateLimitingQueue<SecretKey>>,
}

impl TokensController {
    /// A controller that acts through `client` on what the informers report.
    pub fn new(
        client: Client,
        service_accounts: Arc<Informer<ServiceAccount>>,
        secrets: Arc<Informer<Secret>>,
        options: Options,
    ) -> Self {
        let service_account_queue = Arc::new(RateLimitingQueue::new());
        let secret_queue = Arc::new(RateLimitingQueue::new());
        let auto_generate = options.auto_generate;
        service_accounts.add_handler({
            let queue = service_account_queue.clone();
            move |event| queue_service_account(&queue, event, auto_generate)
        });
        secrets.add_handler({
            let queue = secret_queue.clone();
            move |event| queue_secret(&queue, event)
        });
        let syncer = Syncer {
            client,
            token_generator: options.token_generator,
            root_ca: options.root_ca,
            auto_generate,
            service_accounts,
            secrets: MutationCache::new(secrets.clone()),
        };
        TokensController { syncer, max_retries: options.max_retries, secrets, service_account_queue, secret_queue }
    }

    /// Runs both informers and, once they know everything, `workers` workers on each queue, until `stop`. Returns when
    /// the syncs in progress have ended.
    pub async fn run(&self, workers: usize, stop: CancellationToken) {
        tokio::select! {
            () = self.syncer.service_accounts.run(Api::all(self.syncer.client.clone())) => {}
            () = self.secrets.run(Api::all(self.syncer.client.clone())) => {}
            () = self.work(workers, stop) => {}
        }
    }

    /// [`run`](Self::run) without the informers, which somebody else runs or fills.
    pub async fn work(&self, workers: usize, stop: CancellationToken) {
        let synced = async {
            self.syncer.service_accounts.synced().await;
            self.secrets.synced().await;
        };
        if stop.run_until_cancelled(synced).await.is_none() {
            return;
        }
        debug!(workers, "starting workers");
        let service_account_workers = (0..workers)
            .map(|_| self.drain(&self.service_account_queue, &stop, |key| self.syncer.sync_service_account(key)));
        let secret_workers =
            (0..workers).map(|_| self.drain(&self.secret_queue, &stop, |key| self.syncer.sync_secret(key)));
        let shut_down = async {
            stop.cancelled().await;
            info!("shutting down");
            self.service_account_queue.shut_down();
            self.secret_queue.shut_down();
        };
        tokio::join!(join_all(service_account_workers), join_all(secret_workers), shut_down);
    }

    /// One worker: syncs one key after the other, until `stop`.
    async fn drain<K: Clone + Debug + Eq + Hash, F: Future<Output = Outcome>>(
        &self,
        queue: &RateLimitingQueue<K>,
        stop: &CancellationToken,
        sync: impl Fn(K) -> F,
    ) {
        while !stop.is_cancelled()
            && let Some(key) = queue.get().await
        {
            match sync(key.clone()).await {
                Outcome::Retry if queue.num_requeues(&key) < self.max_retries => queue.add_rate_limited(key.clone()),
                Outcome::Retry => {
                    debug!(?key, retries = queue.num_requeues(&key), "retried too often, giving up");
                    queue.forget(&key);
                }
                Outcome::Forget => queue.forget(&key),
            }
            queue.done(&key);
        }
    }

    /// Remembers `secret` as an own write, as if the controller had just created it and the watch had not told yet.
    pub fn assume_created(&self, secret: Secret) {
        self.syncer.secrets.mutation(secret);
    }

    /// Waits until nothing is queued, delayed or being synced. What the informers have yet to report is not waited for.
    pub async fn idle(&self) {
        self.idle_activity().await;
    }

    /// Waits until the controller has done all it will do, if nobody else changes anything: it is idle, and the
    /// informers have reported all that `client` sees. Never ends if the controller and its informers do not run. Give it
    /// another client than the controller's own, to tell these lists from the controller's calls.
    ///
    /// # Errors
    /// If `client` cannot list service accounts and secrets.
    pub async fn quiet(&self, client: &Client) -> kube::Result<()> {
        loop {
            let before = self.idle_activity().await;
            self.syncer.service_accounts.caught_up(&Api::all(client.clone())).await?;
            self.secrets.caught_up(&Api::all(client.clone())).await?;
            if self.idle_activity().await == before {
                return Ok(());
            }
        }
    }

    /// Waits for a moment in which both queues are idle; returns how many keys they ever handed out.
    async fn idle_activity(&self) -> (u64, u64) {
        loop {
            let service_accounts = self.service_account_queue.idle().await;
            let secrets = self.secret_queue.idle().await;
            if self.service_account_queue.activity() == service_accounts {
                return (service_accounts.handed_out, secrets.handed_out);
            }
        }
    }
}

/// Up to v1.23 a missed deletion went unnoticed here (the handlers did not know `DeletedFinalStateUnknown`); v1.37.1
/// treats it like any other.
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

/// Only token secrets count. The filter lets no missed deletion pass, to this day.
fn queue_secret(queue: &RateLimitingQueue<SecretKey>, event: &Event<Secret>) {
    match event.filter(belongs::is_token) {
        Some(Event::Added(secret) | Event::Updated { new: secret, .. } | Event::Deleted(secret)) => {
            queue.add(SecretKey::of(&secret));
        }
        Some(Event::MissedDeletion(secret)) => debug!(name = secret.name_any(), "ignoring a missed deletion"),
        None => {}
    }
}
