//! What all replicas of one control plane share.

use crate::audit::RequestLog;
use crate::auth::{Authenticator, Authorizer, Objects};
use crate::fault::Faults;
use crate::ids::Ids;
use crate::registry;
use crate::store::{Key, Store};
use serde_json::Value;

pub(crate) struct Cluster {
    pub(crate) store: Store,
    pub(crate) ids: Ids,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Box<dyn Authorizer>,
    pub(crate) faults: Faults,
    pub(crate) log: RequestLog,
}

impl Objects for Cluster {
    fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let (id, _) = registry::by_resource("", "v1", resource)?;
        let entry = self.store.get(&Key::new(id, namespace, name))?;
        serde_json::from_slice(entry.json()).ok()
    }
}
