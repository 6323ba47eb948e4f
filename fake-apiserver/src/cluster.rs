//! The state that all replicas of one control plane share.

use crate::admission::Chain;
use crate::allocation::Allocations;
use crate::audit::{Auditor, RequestLog};
use crate::auth::chain::Authorizers;
use crate::auth::rbac::Rbac;
use crate::auth::{Authenticator, Objects, Others, ParsedObjects};
use crate::discovery::{Catalog, Catalogs};
use crate::fault::Faults;
use crate::forms::Forms;
use crate::ids::Ids;
use crate::measures::Measures;
use crate::reconcile::{Event, Reconcilers, Ticket};
use crate::registry::Description;
use crate::reloads::Reloads;
use crate::repeats::Repeats;
use crate::store::{Key, ResourceId, Store};
use crate::turns::Turns;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

pub(crate) struct Cluster {
    /// The store, for reads; writes go through the commits of a [`Ticket`].
    pub(crate) store: Store,
    pub(crate) ids: Arc<Ids>,
    pub(crate) authenticator: Authenticator,
    /// Those who are asked about tokens that it does not know.
    pub(crate) others: Others,
    pub(crate) authorizer: Arc<Authorizers>,
    pub(crate) admission: Chain,
    /// The time limit of requests other than watches; `None` if only clients limit theirs.
    pub(crate) request_timeout: Option<Duration>,
    /// The time that each write of a client is held before it is committed.
    pub(crate) write_latency: Duration,
    /// The time that a watch without a time limit lasts at least, and at most twice.
    pub(crate) min_request_timeout: Duration,
    /// The turns of long computations.
    pub(crate) turns: Arc<Turns>,
    /// Whether the names of webhooks and policies in files are reserved for these.
    pub(crate) reserves_names: bool,
    /// The measures of those who are asked about users.
    pub(crate) measures: Arc<Measures>,
    /// The counts of reloads of configurations.
    pub(crate) reloads: Vec<Arc<Reloads>>,
    /// Whether containers may be privileged.
    pub(crate) allow_privileged: bool,
    /// The RBAC authorizer, if the mode is on.
    pub(crate) rbac: Option<Arc<Rbac>>,
    /// The pools of addresses and ports.
    pub(crate) allocations: Arc<Allocations>,
    /// The reconcilers, which react to writes.
    pub(crate) reconcilers: Reconcilers,
    /// The objects that authentication depends on.
    pub(crate) parsed: ParsedObjects,
    /// Objects that webhooks have converted for readers.
    pub(crate) forms: Arc<Forms>,
    /// The applies that changed nothing.
    pub(crate) repeats: Repeats,
    pub(crate) faults: Faults,
    /// The auditor; `None` if nothing is audited.
    pub(crate) auditor: Option<Arc<Auditor>>,
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
    /// its watches end. The reconcilers have reacted to the removals when this returns.
    ///
    /// # Panics
    /// If the resource is built in.
    pub(crate) async fn remove_resource(&self, id: ResourceId) {
        self.catalogs.remove(id);
        let ticket = self.reconcilers.ticket();
        ticket.commits(&self.store).close(id).await;
        ticket.done().await;
    }
}

/// The live objects as authentication sees them for a request. The use of a token is a consequence of that request.
#[derive(Clone, Copy)]
pub(crate) struct LiveObjects<'c> {
    pub(crate) cluster: &'c Cluster,
    pub(crate) ticket: &'c Ticket<'c>,
}

impl Objects for LiveObjects<'_> {
    fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let id = self.cluster.catalog().registry.path("", "v1", resource)?.resource.id;
        let entry = self.cluster.store.get(&Key::new(id, namespace, name))?;
        Some(self.cluster.parsed.object(&entry))
    }

    fn record_use(&self, secret: &Value, day: &str) {
        self.ticket.note(&Event::Used(secret, day));
    }
}
