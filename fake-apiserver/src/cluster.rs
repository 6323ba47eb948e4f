//! What all replicas of one control plane share.

use crate::admission::Chain;
use crate::audit::RequestLog;
use crate::auth::authorizer::Authorizer;
use crate::auth::rbac::Rbac;
use crate::auth::{Authenticator, Objects, ParsedObjects};
use crate::commit::Commits;
use crate::fault::Faults;
use crate::http::Documents;
use crate::ids::Ids;
use crate::reconcile::Reconcilers;
use crate::registry;
use crate::store::{Key, Store};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

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
    /// Made when first asked for: most clients that are tests never are curious.
    pub(crate) documents: OnceLock<Documents>,
}

impl Cluster {
    /// Discovery and the like.
    pub(crate) fn documents(&self) -> &Documents {
        self.documents.get_or_init(|| Documents::new(registry::KINDS))
    }
}

impl Objects for Cluster {
    fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let id = registry::by_resource("", "v1", resource)?;
        let entry = self.store.get(&Key::new(id.into(), namespace, name))?;
        Some(self.parsed.object(&entry))
    }

    fn record_use(&self, secret: &Value, day: &str) {
        self.reconcilers.token_used(secret, day);
    }
}
