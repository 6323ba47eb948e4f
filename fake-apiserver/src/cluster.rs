//! The state that all replicas of one control plane share.

use crate::admission::Chain;
use crate::allocation::Allocations;
use crate::audit::RequestLog;
use crate::auth::authorizer::Authorizer;
use crate::auth::rbac::Rbac;
use crate::auth::{Authenticator, Objects, ParsedObjects};
use crate::commit::Commits;
use crate::discovery::{Catalog, Catalogs};
use crate::fault::Faults;
use crate::forms::Forms;
use crate::ids::Ids;
use crate::reconcile::Reconcilers;
use crate::registry::Description;
use crate::repeats::Repeats;
use crate::store::{Key, ResourceId, Store};
use crate::turns::Turns;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

pub(crate) struct Cluster {
    /// The store, for reads; writes go through `commits`.
    pub(crate) store: Store,
    pub(crate) commits: Commits,
    pub(crate) ids: Arc<Ids>,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Box<dyn Authorizer>,
    pub(crate) admission: Chain,
    /// The time limit of requests other than watches; `None` if only clients limit theirs.
    pub(crate) request_timeout: Option<Duration>,
    /// The turns of long computations.
    pub(crate) turns: Arc<Turns>,
    /// Whether containers may be privileged.
    pub(crate) allow_privileged: bool,
    /// The RBAC authorizer, if the mode is on.
    pub(crate) rbac: Option<Arc<Rbac>>,
    /// The pools of addresses and ports.
    pub(crate) allocations: Arc<Allocations>,
    /// The reconcilers, which react to writes.
    pub(crate) reconcilers: Arc<Reconcilers>,
    /// The objects that authentication depends on.
    pub(crate) parsed: ParsedObjects,
    /// Objects that webhooks have converted for readers.
    pub(crate) forms: Arc<Forms>,
    /// The applies that changed nothing.
    pub(crate) repeats: Repeats,
    pub(crate) faults: Faults,
    pub(crate) log: RequestLog,
    /// The served resources, and the documents about them.
    pub(crate) catalogs: Arc<Catalogs>,
}

impl Cluster {
    /// The catalog of the served resources. A request takes it once.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalogs.load()
    }

    /// Serves the resource from now on, and returns its id, which is never reused; `None` if another one is served there.
    pub(crate) fn add_resource(&self, description: Description) -> Option<ResourceId> {
        self.catalogs.add(description)
    }

    /// Stops serving an added resource: it is removed from paths and documents, its objects are removed, finalizers or not, and
    /// its watches end. The reconcilers react to the removals before the next request is answered.
    ///
    /// # Panics
    /// If the resource is built in.
    pub(crate) async fn remove_resource(&self, id: ResourceId) {
        self.catalogs.remove(id);
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
