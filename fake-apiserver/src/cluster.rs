//! The state that all replicas of one control plane share.

use crate::admission::Chain;
use crate::audit::RequestLog;
use crate::auth::authorizer::Authorizer;
use crate::auth::rbac::Rbac;
use crate::auth::{Authenticator, Objects, ParsedObjects};
use crate::commit::Commits;
use crate::discovery::Catalog;
use crate::fault::Faults;
use crate::ids::Ids;
use crate::reconcile::Reconcilers;
use crate::registry::{Description, Version};
use crate::store::{Key, ResourceId, Store};
use arc_swap::ArcSwap;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

pub(crate) struct Cluster {
    /// The store, for reads; writes go through `commits`.
    pub(crate) store: Store,
    pub(crate) commits: Commits,
    pub(crate) ids: Arc<Ids>,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Box<dyn Authorizer>,
    pub(crate) admission: Chain,
    /// The most time that a request may take, unless it is a watch.
    pub(crate) request_timeout: Duration,
    /// One permit for each long computation that may be under way.
    pub(crate) workers: Arc<Semaphore>,
    /// Whether containers may be privileged.
    pub(crate) allow_privileged: bool,
    /// The authorizer by roles and bindings, in mode RBAC.
    pub(crate) rbac: Option<Arc<Rbac>>,
    /// The reconcilers, which react to writes.
    pub(crate) reconcilers: Arc<Reconcilers>,
    /// The objects that authentication depends on.
    pub(crate) parsed: ParsedObjects,
    pub(crate) faults: Faults,
    pub(crate) log: RequestLog,
    /// The served resources, and the documents about them. Replaced as a whole.
    pub(crate) catalog: Arc<ArcSwap<Catalog>>,
    /// The number of resources that were ever added.
    pub(crate) added: AtomicU32,
}

/// The id of the first resource that is added at run time; built-in ones have smaller ids.
const FIRST_ADDED: u32 = 0x1_0000;

impl Cluster {
    /// The catalog of the served resources. A request takes it once.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    /// Serves the resource from now on, and returns its id, which is never reused; `None` if another resource is served there.
    pub(crate) fn add_resource(&self, description: Description) -> Option<ResourceId> {
        let id = ResourceId(FIRST_ADDED + self.added.fetch_add(1, Ordering::Relaxed));
        let resource = Arc::new(description.resource(id));
        let mut taken = false;
        self.catalog.rcu(|catalog| {
            let registry = &catalog.registry;
            let is_served = |version: &Arc<Version>| {
                registry.path(&version.group, &version.name, &version.resource).is_some()
                    || registry.kind(&version.api_version, &version.kind).is_some()
            };
            taken = resource.versions.iter().any(is_served);
            match taken {
                true => catalog.clone(),
                false => Catalog::new(registry.with(resource.clone())).into(),
            }
        });
        (!taken).then_some(id)
    }

    /// Stops serving an added resource: it is removed from paths and documents, its objects are removed, finalizers or not, and
    /// its watches end. The reconcilers react to the removals before the next request is answered.
    ///
    /// # Panics
    /// If the resource is built in.
    pub(crate) async fn remove_resource(&self, id: ResourceId) {
        assert!(id.0 >= FIRST_ADDED, "built-in resources are always served");
        self.catalog.rcu(|catalog| Catalog::new(catalog.registry.without(id)));
        self.commits.close(id).await;
    }
}

impl Objects for Cluster {
    fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let id = self.catalog().registry.path("", "v1", resource)?.resource.id;
        let entry = self.store.get(&Key::new(id, namespace, name))?;
        Some(self.parsed.object(&entry))
    }

    fn record_use(&self, secret: &Value, day: &str) {
        self.reconcilers.token_used(secret, day);
    }
}
