//! Admission: what may still change a write, or refuse it, once its author is known to be allowed to make it.
//!
//! ```text
//!   decode ─▶ default ─▶ NamespaceLifecycle ─▶ Chain::admit ─▶ Strategy::admit ─▶ validation ─▶ Chain::validate ─▶ store
//! ```
//! Where the verbs call it is `api/admission.rs`. The plugins that are always on are compiled into the verbs
//! (NamespaceLifecycle) and the kinds (`Strategy::admit`); those of the chain are asked for by name.
//!
//! Follows `k8s.io/apiserver/pkg/admission` (v0.37.1).

mod node_restriction;
mod plugins;
mod service_account;

pub use plugins::PluginError;
pub(crate) use plugins::{Config, chain};
pub(crate) use service_account::Tokens;

use crate::auth::User;
use crate::cluster::Cluster;
use crate::error::ApiError;
use crate::object::meta;
use crate::registry::{Resource, Version};
use crate::store::Key;
use crate::view::View;
use serde_json::Value;
use std::sync::Arc;

/// What is done to an object. Nothing that is served is a `CONNECT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

/// A write, as plugins see it; the object itself is passed beside it. `Attributes` upstream.
pub(crate) struct Attributes<'a> {
    /// The cluster's live objects.
    pub(crate) cluster: &'a Cluster,
    /// How far the replica sees.
    pub(crate) view: &'a View,
    pub(crate) user: &'a User,
    pub(crate) operation: Operation,
    pub(crate) kind: &'a Resource,
    pub(crate) version: &'a Version,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: &'a str,
    /// Empty as long as it is to be generated, and for all objects of a deletecollection.
    pub(crate) name: &'a str,
    /// What is stored, unless it is being created.
    pub(crate) old: Option<&'a Value>,
}

impl Attributes<'_> {
    /// Whether the write is about that resource and subresource ("" for the object itself) of the core group.
    pub(crate) fn is_about(&self, resource: &str, subresource: &str) -> bool {
        self.kind.group.is_empty() && self.kind.resource == resource && self.subresource == subresource
    }

    /// An object of the core group, in the namespace of the write, as the replica's informers know it.
    pub(crate) fn seen(&self, resource: &str, name: &str) -> Option<Arc<Value>> {
        let catalog = self.cluster.catalog();
        let id = catalog.registry.path("", "v1", resource)?.resource.id;
        let snapshot = self.view.snapshot(&self.cluster.store);
        let entry = snapshot.get(&Key::new(id, self.namespace, name))?;
        serde_json::from_slice(entry.json()).ok().map(Arc::new)
    }

    /// 403 in the words of `NewForbidden`.
    pub(crate) fn forbidden(&self, object: &Value, why: impl std::fmt::Display) -> ApiError {
        ApiError::forbidden(self.version.qualified(), displayed_name(self.name, object), why)
    }
}

/// What the refusals of plugins call an object (`extractResourceName`): its name may be yet to be made.
pub(crate) fn displayed_name<'o>(name: &'o str, object: &'o Value) -> &'o str {
    let names = [name, meta::name(object), meta::generate_name(object)];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
}

/// A plugin's no.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: ApiError,
    /// An object that does not exist, and with which there might have been no refusal. It is worth waiting for a while.
    pub(crate) awaited: Option<Key>,
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Refusal { error, awaited: None }
    }
}

/// A plugin of the chain. Both phases see all writes, and say yes to those that are none of their business.
pub(crate) trait Plugin: Send + Sync {
    /// The mutating phase: changes the object, or refuses the write. A deletion has no object: it is null.
    fn admit(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Refusal>;

    /// The validating phase: sees the object as it will be stored.
    fn validate(&self, _attributes: &Attributes<'_>, _object: &Value) -> Result<(), Refusal> {
        Ok(())
    }
}

/// The plugins that were asked for, in upstream's order.
#[derive(Default)]
pub(crate) struct Chain(Vec<Box<dyn Plugin>>);

impl Chain {
    /// The mutating phase of all plugins.
    pub(crate) fn admit(&self, attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Refusal> {
        self.0.iter().try_for_each(|plugin| plugin.admit(attributes, object))
    }

    /// The validating phase of all plugins.
    pub(crate) fn validate(&self, attributes: &Attributes<'_>, object: &Value) -> Result<(), Refusal> {
        self.0.iter().try_for_each(|plugin| plugin.validate(attributes, object))
    }
}
