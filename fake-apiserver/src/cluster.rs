//! A cluster: the state that all replicas of one control plane share, and the policy by which they serve it.

use crate::admission::Chain;
use crate::aggregation::Remotes;
use crate::allocation::Allocations;
use crate::audit::{Auditor, RequestLog};
use crate::auth::authorizer::{Attributes, AuthorizerOf, Decision};
use crate::auth::chain::Authorizers;
use crate::auth::{Authenticator, Objects, Others, OwnKeys, ParsedObjects, User};
use crate::commit::Hold;
use crate::coverage::Coverage;
use crate::discovery::{Catalog, Catalogs, Merged};
use crate::error::ApiResult;
use crate::fault::Faults;
use crate::forms::Forms;
use crate::ids::Ids;
use crate::index::{Current, Index};
use crate::kubelets::KubeletsPlace;
use crate::measures::Measures;
use crate::reconcile::{Event, Loopback, Reconcilers, Shared, Ticket};
use crate::registry::Description;
use crate::reloads::Reloads;
use crate::repeats::Repeats;
use crate::service_addresses::{Known, ServiceAddresses};
use crate::store::{Frozen, Key, ResourceId, Store, Takeover};
use crate::turns::Turns;
use crate::webhook::Network;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tree::Value;

/// The behaviour of a control plane: what stays as it is while it runs, whatever is stored. Forks of a seed share it.
pub(crate) struct Policy {
    pub(crate) authenticator: Authenticator,
    /// Those who are asked about tokens that it does not know.
    pub(crate) others: Others,
    pub(crate) authorizer: Arc<Authorizers>,
    /// Whether RBAC is one of the authorizers.
    pub(crate) has_rbac: bool,
    pub(crate) admission: Chain,
    /// Whether the names of webhooks and policies in files are reserved for these.
    pub(crate) reserves_names: bool,
    /// Whether containers may be privileged.
    pub(crate) allow_privileged: bool,
    /// The addresses of services that do not depend on what is stored.
    pub(crate) services: Arc<Known>,
    /// The pools of addresses and ports.
    pub(crate) allocations: Arc<Allocations>,
    /// The time limit of requests other than watches; `None` if only clients limit theirs.
    pub(crate) request_timeout: Option<Duration>,
    /// The time that each write of a client is held before it is committed.
    pub(crate) write_hold: Hold,
    /// The time that a watch without a time limit lasts at least, and at most twice.
    pub(crate) min_request_timeout: Duration,
    /// The turns of long computations.
    pub(crate) turns: Arc<Turns>,
    /// The measures of those who are asked about users.
    pub(crate) measures: Arc<Measures>,
    /// The counts of reloads of configurations.
    pub(crate) reloads: Vec<Arc<Reloads>>,
    /// The counts of what rules decide; `None` if they are not counted.
    pub(crate) coverage: Option<Arc<Coverage>>,
    /// The auditor; `None` if nothing is audited.
    pub(crate) auditor: Option<Arc<Auditor>>,
}

/// The state that all replicas of one control plane share.
pub(crate) struct Cluster {
    pub(crate) policy: Arc<Policy>,
    /// The store, for reads; writes go through the commits of a [`Ticket`].
    pub(crate) store: Store,
    pub(crate) ids: Arc<Ids>,
    /// The network of webhooks.
    pub(crate) network: Arc<Network>,
    /// The reconcilers, which react to writes.
    pub(crate) reconcilers: Reconcilers,
    /// The objects that authentication depends on.
    pub(crate) parsed: ParsedObjects,
    /// Objects that webhooks have converted for readers.
    pub(crate) forms: Arc<Forms>,
    /// The applies that changed nothing.
    pub(crate) repeats: Repeats,
    pub(crate) faults: Faults,
    pub(crate) log: RequestLog,
    /// Who answers for pods.
    pub(crate) kubelets: KubeletsPlace,
    /// The served resources, and the documents about them.
    pub(crate) catalogs: Arc<Catalogs>,
    /// The users whose tokens are good in this cluster alone, by these.
    pub(crate) users: OnceLock<HashMap<String, Arc<User>>>,
    /// The keys of its tokens, if it is not the first cluster.
    pub(crate) keys: Option<OwnKeys>,
}

impl Cluster {
    /// Another cluster of that name with that content, which was this one's at some time, and reaches itself so. The reconcilers have no work in
    /// either.
    pub(crate) fn fork(
        &self,
        content: &Frozen,
        ids: u64,
        name: &str,
        loopback: Arc<dyn Loopback>,
        stop: &CancellationToken,
    ) -> Cluster {
        let (store, ids) = (content.fork(), Arc::new(Ids::seeded(ids)));
        let catalogs = Arc::new(self.catalogs.fork());
        let recorder = self.log.recorder().of_cluster(name, &store, &catalogs);
        let known = self.policy.services.clone();
        let network = self.network.beside(ServiceAddresses { store: store.clone(), known });
        let shared = Shared {
            store: store.clone(),
            ids: ids.clone(),
            catalogs: catalogs.clone(),
            network: network.clone(),
            extensions: Arc::new(self.reconcilers.cluster().extensions.fork()),
            ..self.reconcilers.cluster().clone()
        };
        Cluster {
            reconcilers: self.reconcilers.fork(shared, loopback, stop),
            policy: self.policy.clone(),
            parsed: ParsedObjects::default(),
            forms: Arc::default(),
            repeats: Repeats::default(),
            faults: Faults::recorded(recorder.clone()),
            log: RequestLog::new(self.log.is_on(), recorder),
            kubelets: KubeletsPlace::default(),
            store,
            ids,
            network,
            catalogs,
            users: OnceLock::new(),
            // A seed has no name: it signs nothing, and what begins from it begins from its cluster.
            keys: if name.is_empty() { self.keys.clone() } else { Some(OwnKeys::behind(self.keys.as_ref())) },
        }
    }

    /// Goes back to that content, whose definitions are served. What was made of later objects is forgotten.
    pub(crate) fn rewind(&self, content: Takeover) {
        self.store.rewind(content);
        self.parsed.clear();
        self.forms.clear();
        self.repeats.clear();
        self.reconcilers.cluster().extensions.renew();
    }

    /// The catalog of the served resources. A request takes it once.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalogs.load()
    }

    /// The API services that other servers are behind.
    pub(crate) fn remotes(&self) -> Current<Remotes> {
        Remotes::current(&self.store)
    }

    /// Discovery with what these servers serve; `None` if there are none.
    pub(crate) fn merged(&self, catalog: &Catalog) -> Option<Arc<Merged>> {
        if self.remotes().is_empty() {
            return None;
        }
        let own = catalog.groups();
        Some(self.reconcilers.cluster().extensions.merged(&self.store, own))
    }

    /// The decision of the authorizers about a request.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(crate) fn authorize(&self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        self.authorizer().authorize(attributes)
    }

    /// The authorizers, which decide by the store of this cluster.
    pub(crate) fn authorizer(&self) -> AuthorizerOf<'_> {
        AuthorizerOf { authorizer: &*self.policy.authorizer, store: &self.store }
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

    fn user(&self, token: &str) -> Option<Arc<User>> {
        self.cluster.users.get()?.get(token).cloned()
    }

    fn keys(&self) -> Option<&OwnKeys> {
        self.cluster.keys.as_ref()
    }

    fn record_use(&self, secret: &Value, day: &str) {
        self.ticket.note(&Event::Used(secret, day));
    }
}
