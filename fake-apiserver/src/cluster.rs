//! What all replicas of one control plane share.

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
use crate::store::{Key, Store};
use arc_swap::ArcSwap;
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct Cluster {
    /// To be read; what is written goes through `commits`.
    pub(crate) store: Store,
    pub(crate) commits: Commits,
    pub(crate) ids: Arc<Ids>,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Box<dyn Authorizer>,
    pub(crate) admission: Chain,
    /// Whether containers may be privileged.
    pub(crate) allow_privileged: bool,
    /// Roles and bindings, if they mean anything here.
    pub(crate) rbac: Option<Arc<Rbac>>,
    /// What follows from a write.
    pub(crate) reconcilers: Arc<Reconcilers>,
    /// The objects that authentication depends on.
    pub(crate) parsed: ParsedObjects,
    pub(crate) faults: Faults,
    pub(crate) log: RequestLog,
    /// What is served, and the documents that say so. Replaced as a whole.
    pub(crate) catalog: Arc<ArcSwap<Catalog>>,
}

impl Cluster {
    /// What is served now. A request takes it once.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
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
