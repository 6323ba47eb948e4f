//! What all replicas of one control plane share.

use crate::admission::Chain;
use crate::api::{self, TokenTracking};
use crate::audit::RequestLog;
use crate::auth::authorizer::Authorizer;
use crate::auth::rbac::Rbac;
use crate::auth::{Authenticator, Objects, ParsedObjects};
use crate::fault::Faults;
use crate::http::Documents;
use crate::ids::Ids;
use crate::registry;
use crate::store::{Key, Scope, Store};
use serde_json::Value;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};

pub(crate) struct Cluster {
    pub(crate) store: Store,
    pub(crate) ids: Ids,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Box<dyn Authorizer>,
    /// The admission plugins that were asked for.
    pub(crate) admission: Chain,
    /// Roles and bindings, if they mean anything here.
    pub(crate) rbac: Option<Arc<Rbac>>,
    /// The objects that authentication depends on.
    pub(crate) parsed: ParsedObjects,
    pub(crate) faults: Faults,
    pub(crate) log: RequestLog,
    pub(crate) token_tracking: TokenTracking,
    /// Whether deleted namespaces are emptied and removed.
    pub(crate) namespace_controller: bool,
    /// Fills cluster roles with the rules of others, if anybody does.
    pub(crate) aggregator: Option<api::Aggregator>,
    /// Made when first asked for: most clients that are tests never are curious.
    pub(crate) documents: OnceLock<Documents>,
}

impl Cluster {
    /// Discovery and the like.
    pub(crate) fn documents(&self) -> &Documents {
        self.documents.get_or_init(|| Documents::new(registry::KINDS))
    }

    /// Resolves when there is an object under that key.
    pub(crate) async fn appearance(&self, key: Key) {
        let scope =
            Scope { resource: key.resource, namespace: Some(key.namespace().into()), name: Some(key.name().into()) };
        let (snapshot, mut events) = self.store.subscribe(scope, None);
        if snapshot.get(&key).is_none() {
            // The first thing that can happen to it is to be made; should that be forgotten already, it happened as well.
            poll_fn(|context| events.poll_next(context)).await;
        }
    }
}

impl Objects for Cluster {
    fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let id = registry::by_resource("", "v1", resource)?;
        let entry = self.store.get(&Key::new(id.into(), namespace, name))?;
        Some(self.parsed.object(&entry))
    }

    fn record_use(&self, secret: &Value, day: &str) {
        api::record_token_use(self, secret, day);
    }
}
