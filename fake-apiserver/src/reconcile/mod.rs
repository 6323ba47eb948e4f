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
mod shared;
mod work;

pub(crate) use crate::commit::server::MANAGER;
pub(crate) use shared::Options;

use crate::allocation::{Allocations, Release, addresses_of};
use crate::commit::{After, Commits, namespace};
use crate::discovery::Catalogs;
use crate::error::ApiResult;
use crate::ids::Ids;
use crate::object::meta;
use crate::registry::{ids, is_added};
use crate::store::{Entry, Key, Store};
use definitions::Definitions;
use jiff::Timestamp;
use legacy_tokens::LegacyTokens;
use shared::Shared;
use std::sync::Arc;
use tree::Value;
use work::{Noted, Use, Work};

/// The reconcilers of a cluster, with their outstanding work.
pub(crate) struct Reconcilers {
    shared: Shared,
    /// The lock of the one worker, with state that only the worker uses.
    worker: tokio::sync::Mutex<Worker>,
    legacy_tokens: LegacyTokens,
}

/// The state that only the worker uses.
#[derive(Default)]
struct Worker {
    definitions: Definitions,
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
            shared: Shared {
                options,
                commits: Commits::new(store.clone(), None),
                store,
                ids,
                catalogs,
                allocations,
                noted: Noted::default(),
            },
            worker: tokio::sync::Mutex::default(),
            legacy_tokens: LegacyTokens::default(),
        }
    }

    /// Does the work of a new cluster.
    async fn begin(&self, now: Timestamp) {
        self.shared.note(Work::TokenTracking);
        self.shared.note(Work::KubernetesService);
        self.settle(now).await;
    }

    /// Notes that the legacy token in that secret was used on that day.
    pub(crate) fn token_used(&self, secret: &Value, day: &str) {
        self.shared.note(Work::TokenUse(Use {
            namespace: meta::namespace(secret).into(),
            name: meta::name(secret).into(),
            uid: meta::uid(secret).into(),
            day: day.into(),
        }));
    }

    /// Does all work noted so far, also by other requests, and returns when it is done.
    pub(crate) async fn settle(&self, now: Timestamp) {
        if self.legacy_tokens.is_due(now) {
            self.shared.note(Work::TokenTracking);
        }
        if self.shared.noted.is_empty() {
            return;
        }
        // Boxed, for it is rare and large.
        Box::pin(self.work(now)).await;
    }

    async fn work(&self, now: Timestamp) {
        let mut worker = self.worker.lock().await;
        while let Some(work) = self.shared.noted.next() {
            if let Err(error) = self.perform(&work, &mut worker, now).await {
                tracing::error!(?work, %error, "Reconciling failed");
            }
            self.shared.noted.done();
        }
    }

    async fn perform(&self, work: &Work, worker: &mut Worker, now: Timestamp) -> ApiResult<()> {
        let shared = &self.shared;
        match work {
            Work::TokenTracking => self.legacy_tokens.sync(shared, now).await,
            Work::TokenUse(token_use) => legacy_tokens::record(shared, token_use, now).await,
            Work::ClusterRoles => cluster_roles::aggregate(shared, now).await,
            Work::Definition(name) => worker.definitions.sync(shared, name, now).await,
            Work::LeaveDefinition(id) => worker.definitions.leave(shared, *id, now).await,
            Work::CloseNamespace(name) => namespaces::close(shared, name, now).await,
            Work::LeaveNamespace(name) => namespaces::leave(shared, name, now).await,
            Work::ReleaseAddress(address) => {
                Release::new(shared.access(&shared.catalog(), now)).all(&[address.to_string()]).await;
                Ok(())
            }
            Work::KubernetesService => kubernetes_service::sync(shared, now).await,
        }
    }

    /// Queues the work that follows from a change of any kind.
    fn changed(&self, key: &Key) {
        let resource = key.resource;
        if resource == ids::CLUSTER_ROLES && self.shared.options.cluster_roles {
            self.shared.note(Work::ClusterRoles);
        }
        if resource == ids::CUSTOM_RESOURCE_DEFINITIONS {
            self.shared.note(Work::Definition(key.name().into()));
        }
        if resource == ids::CONFIG_MAPS && legacy_tokens::is_tracking(key) {
            self.shared.note(Work::TokenTracking);
        }
        if kubernetes_service::is_about(key) {
            self.shared.note(Work::KubernetesService);
        }
    }
}

impl After for Reconcilers {
    fn stored(&self, entry: &Entry) {
        let (key, resource) = (&entry.key, entry.key.resource);
        if self.shared.options.namespaces && resource == ids::NAMESPACES && namespace::is_terminating(entry) {
            self.shared.note(Work::CloseNamespace(key.name().into()));
        }
        self.changed(key);
    }

    fn removed(&self, entry: &Entry) {
        let (key, resource) = (&entry.key, entry.key.resource);
        if resource == ids::SERVICES {
            let addresses = addresses_of(&entry.object());
            addresses.into_iter().for_each(|address| self.shared.note(Work::ReleaseAddress(address.into())));
        }
        if self.shared.options.namespaces && !key.namespace().is_empty() {
            self.shared.note(Work::LeaveNamespace(key.namespace().into()));
        }
        if is_added(resource) {
            self.shared.note(Work::LeaveDefinition(resource));
        }
        self.changed(key);
    }
}
