//! The reconcilers: built-in controllers that react to writes, because clients take them for granted.
//!
//! ```text
//!   commit ── After ──▶ noted ── settle, before the writer is answered ──▶ done, or an error in the log
//! ```
//! A stored write has succeeded: errors here are logged, and do not change the response. The reconcilers' own writes are not
//! noted, so that settling ends.

pub(crate) mod bootstrap;
mod cluster_roles;
mod definitions;
mod kubernetes_service;
mod legacy_tokens;
mod namespaces;

use crate::allocation::{Access, Allocations, Release, addresses_of};
pub(crate) use crate::commit::server::MANAGER;
use crate::commit::{After, Commits, namespace};
use crate::discovery::{Catalog, Catalogs};
use crate::error::ApiResult;
use crate::ids::Ids;
use crate::object::meta;
use crate::registry::{ids, is_added};
use crate::store::{Entry, Key, ResourceId, Store};
use definitions::Definitions;
use jiff::Timestamp;
use legacy_tokens::{LegacyTokens, Use};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tree::Value;

/// The optional reconcilers of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Deleted namespaces are emptied and removed.
    pub(crate) namespaces: bool,
    /// Cluster roles with an `aggregationRule` are filled.
    pub(crate) cluster_roles: bool,
    /// The address and port by which the service `kubernetes` reaches the server.
    pub(crate) advertised: SocketAddr,
}

/// The reconcilers of a cluster, with their outstanding work.
pub(crate) struct Reconcilers {
    options: Options,
    store: Store,
    commits: Commits,
    ids: Arc<Ids>,
    catalogs: Arc<Catalogs>,
    allocations: Arc<Allocations>,
    noted: Mutex<BTreeSet<Work>>,
    /// The number of works that are noted or in progress.
    outstanding: AtomicUsize,
    /// The lock of the one worker, with state that only the worker uses.
    worker: tokio::sync::Mutex<Worker>,
    legacy_tokens: LegacyTokens,
}

/// The state that only the worker uses.
#[derive(Default)]
struct Worker {
    definitions: Definitions,
}

/// A work to do, once however often it was noted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    TokenTracking,
    TokenUse(Use),
    ClusterRoles,
    /// A definition of custom resources was written or removed.
    Definition(Box<str>),
    /// An object of a custom resource was removed.
    LeaveDefinition(ResourceId),
    /// A namespace began to terminate.
    CloseNamespace(Box<str>),
    /// An object in that namespace was removed.
    LeaveNamespace(Box<str>),
    /// A service that had the address was removed.
    ReleaseAddress(Box<str>),
    /// The service `kubernetes`, or an object that belongs to it, was changed.
    KubernetesService,
}

impl Reconcilers {
    /// Reconcilers of the objects in `store`.
    pub(crate) fn new(
        store: Store,
        ids: Arc<Ids>,
        catalogs: Arc<Catalogs>,
        allocations: Arc<Allocations>,
        options: Options,
    ) -> Self {
        Reconcilers {
            options,
            commits: Commits::new(store.clone(), None),
            store,
            ids,
            catalogs,
            allocations,
            noted: Mutex::default(),
            outstanding: AtomicUsize::new(0),
            worker: tokio::sync::Mutex::default(),
            legacy_tokens: LegacyTokens::default(),
        }
    }

    /// The catalog of the served resources.
    fn catalog(&self) -> Arc<Catalog> {
        self.catalogs.load()
    }

    /// Does the work of a new cluster.
    async fn begin(&self, now: Timestamp) {
        self.note(Work::TokenTracking);
        self.note(Work::KubernetesService);
        self.settle(now).await;
    }

    /// Notes that the legacy token in that secret was used on that day.
    pub(crate) fn token_used(&self, secret: &Value, day: &str) {
        self.note(Work::TokenUse(Use {
            namespace: meta::namespace(secret).into(),
            name: meta::name(secret).into(),
            uid: meta::uid(secret).into(),
            day: day.into(),
        }));
    }

    /// Does all work noted so far, also by other requests, and returns when it is done.
    pub(crate) async fn settle(&self, now: Timestamp) {
        if self.legacy_tokens.is_due(now) {
            self.note(Work::TokenTracking);
        }
        if self.outstanding.load(Ordering::Acquire) == 0 {
            return;
        }
        // Boxed, for it is rare and large.
        Box::pin(self.work(now)).await;
    }

    async fn work(&self, now: Timestamp) {
        let mut worker = self.worker.lock().await;
        while let Some(work) = self.next() {
            if let Err(error) = self.perform(&work, &mut worker, now).await {
                tracing::error!(?work, %error, "Reconciling failed");
            }
            self.outstanding.fetch_sub(1, Ordering::Release);
        }
    }

    async fn perform(&self, work: &Work, worker: &mut Worker, now: Timestamp) -> ApiResult<()> {
        match work {
            Work::TokenTracking => self.legacy_tokens.sync(self, now).await,
            Work::TokenUse(token_use) => legacy_tokens::record(self, token_use, now).await,
            Work::ClusterRoles => cluster_roles::aggregate(self, now).await,
            Work::Definition(name) => worker.definitions.sync(self, name, now).await,
            Work::LeaveDefinition(id) => worker.definitions.leave(self, *id, now).await,
            Work::CloseNamespace(name) => namespaces::close(self, name, now).await,
            Work::LeaveNamespace(name) => namespaces::leave(self, name, now).await,
            Work::ReleaseAddress(address) => {
                Release::new(self.access(&self.catalog(), now)).all(&[address.to_string()]).await;
                Ok(())
            }
            Work::KubernetesService => kubernetes_service::sync(self, now).await,
        }
    }

    /// Queues the work that follows from a change of any kind.
    fn changed(&self, key: &Key) {
        let resource = key.resource;
        if resource == ids::CLUSTER_ROLES && self.options.cluster_roles {
            self.note(Work::ClusterRoles);
        }
        if resource == ids::CUSTOM_RESOURCE_DEFINITIONS {
            self.note(Work::Definition(key.name().into()));
        }
        if resource == ids::CONFIG_MAPS && legacy_tokens::is_tracking(key) {
            self.note(Work::TokenTracking);
        }
        if kubernetes_service::is_about(key) {
            self.note(Work::KubernetesService);
        }
    }

    /// The access of allocations to the cluster's state.
    fn access<'a>(&'a self, catalog: &'a Catalog, now: Timestamp) -> Access<'a> {
        Access {
            store: &self.store,
            commits: &self.commits,
            ids: &self.ids,
            registry: &catalog.registry,
            now,
            dry_run: false,
        }
    }

    fn note(&self, work: Work) {
        let mut noted = self.noted.lock().expect("no code that runs under this lock panics");
        if noted.insert(work) {
            self.outstanding.fetch_add(1, Ordering::Release);
        }
    }

    fn next(&self) -> Option<Work> {
        self.noted.lock().expect("no code that runs under this lock panics").pop_first()
    }
}

impl After for Reconcilers {
    fn stored(&self, entry: &Entry) {
        let (key, resource) = (&entry.key, entry.key.resource);
        if self.options.namespaces && resource == ids::NAMESPACES && namespace::is_terminating(entry) {
            self.note(Work::CloseNamespace(key.name().into()));
        }
        self.changed(key);
    }

    fn removed(&self, entry: &Entry) {
        let (key, resource) = (&entry.key, entry.key.resource);
        if resource == ids::SERVICES {
            let addresses = addresses_of(&entry.object());
            addresses.into_iter().for_each(|address| self.note(Work::ReleaseAddress(address.into())));
        }
        if self.options.namespaces && !key.namespace().is_empty() {
            self.note(Work::LeaveNamespace(key.namespace().into()));
        }
        if is_added(resource) {
            self.note(Work::LeaveDefinition(resource));
        }
        self.changed(key);
    }
}
