//! The fleet: several controllers of one process that share informers, as those of kube-controller-manager do.

use crate::client_go::informer::Informer;
use crate::client_go::mutation_cache::MutationCache;
use crate::client_go::workqueue::metrics::QueueMetrics;
use crate::clock::Clock;
use crate::controller::{Controller, Source};
use crate::controllers::legacy_token_cleaner::{self, OptionsError, Stores};
use crate::controllers::{root_ca, service_accounts, tokens};
use crate::manager::catalogue::Kind;
use futures::future::join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret, ServiceAccount};
use kube::Client;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Controllers that run together.
pub struct Fleet {
    client: Client,
    service_accounts: Arc<Informer<ServiceAccount>>,
    secrets: Arc<Informer<Secret>>,
    config_maps: Arc<Informer<ConfigMap>>,
    namespaces: Arc<Informer<Namespace>>,
    pods: Arc<Informer<Pod>>,
    members: BTreeMap<Kind, Member>,
}

struct Member {
    controller: Controller,
    workers: usize,
}

impl Fleet {
    /// An empty fleet, whose informers watch through `client`.
    pub fn new(client: Client) -> Self {
        Fleet {
            client,
            service_accounts: Arc::default(),
            secrets: Arc::default(),
            config_maps: Arc::default(),
            namespaces: Arc::default(),
            pods: Arc::default(),
            members: BTreeMap::new(),
        }
    }

    /// Adds the [`tokens`] controller, with `workers` workers on each of its queues.
    pub fn add_tokens(&mut self, client: Client, options: tokens::Options, workers: usize) {
        let secrets = Arc::new(MutationCache::new(self.secrets.clone()));
        let controller = tokens::controller(client, self.service_accounts.clone(), secrets, options);
        self.members.insert(Kind::ServiceAccountToken, Member { controller, workers });
    }

    /// Adds the [`service_accounts`] controller.
    pub fn add_service_accounts(&mut self, client: Client, options: service_accounts::Options) {
        let (accounts, namespaces) = (self.service_accounts.clone(), self.namespaces.clone());
        let controller = service_accounts::controller(client, accounts, namespaces, options);
        self.members.insert(Kind::ServiceAccount, Member { controller, workers: 1 });
    }

    /// Adds the publisher of the [`root_ca`].
    pub fn add_root_ca(&mut self, client: Client, root_ca: String, metrics: root_ca::Metrics) {
        let (config_maps, namespaces) = (self.config_maps.clone(), self.namespaces.clone());
        let controller = root_ca::controller(client, config_maps, namespaces, root_ca, metrics);
        self.members.insert(Kind::RootCaPublisher, Member { controller, workers: 1 });
    }

    /// Adds the [`legacy_token_cleaner`].
    ///
    /// # Errors
    /// If an option is invalid.
    pub fn add_legacy_token_cleaner(
        &mut self,
        client: Client,
        clock: Clock,
        options: legacy_token_cleaner::Options,
    ) -> Result<(), OptionsError> {
        let stores = Stores {
            service_accounts: self.service_accounts.clone(),
            secrets: self.secrets.clone(),
            pods: self.pods.clone(),
        };
        let controller = legacy_token_cleaner::controller(client, stores, clock, options)?;
        self.members.insert(Kind::LegacyTokenCleaner, Member { controller, workers: 1 });
        Ok(())
    }

    /// Records metrics of the queues from now on.
    pub fn measure(&self, metrics: &QueueMetrics) {
        self.members.values().for_each(|member| member.controller.measure(metrics));
    }

    /// The kinds of the members.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.members.keys().copied()
    }

    /// The member of that kind.
    pub fn get(&self, kind: Kind) -> Option<&Controller> {
        self.members.get(&kind).map(|member| &member.controller)
    }

    /// Runs all members and their informers until `stop`. Returns when the syncs in progress have ended.
    pub async fn run(&self, stop: CancellationToken) {
        let watching = join_all(self.informers().into_iter().map(|informer| informer.follow(self.client.clone())));
        let watching = async {
            watching.await;
            // Only an empty set of informers ends.
            std::future::pending().await
        };
        let working =
            join_all(self.members.values().map(|member| member.controller.work(member.workers, stop.clone())));
        let working = async {
            working.await;
            stop.cancelled().await;
        };
        tokio::select! {
            () = watching => {}
            () = working => {}
        }
    }

    /// The informers of all members, each once.
    fn informers(&self) -> Vec<&dyn Source> {
        let mut known = BTreeSet::new();
        let informers = self.members.values().flat_map(|member| member.controller.informers());
        informers
            .filter(|informer| known.insert(Arc::as_ptr(informer).cast::<()>()))
            .map(|informer| &**informer)
            .collect()
    }

    /// Waits until all members that are not paused are quiet; see [`Controller::quiet`].
    ///
    /// # Errors
    /// If `client` cannot list the informers' objects.
    pub async fn quiet(&self, client: &Client) -> kube::Result<()> {
        let done = || self.members.values().map(|member| member.controller.handed_out()).sum::<u64>();
        loop {
            let before = done();
            for member in self.members.values().filter(|member| !member.controller.is_paused()) {
                member.controller.quiet(client).await?;
            }
            if done() == before {
                return Ok(());
            }
        }
    }
}
