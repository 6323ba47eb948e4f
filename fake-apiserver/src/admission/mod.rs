//! Admission: plugins that change or refuse an authorized write.
//!
//! ```text
//!   default ─▶ Chain::admit ─▶ prepare ─▶ validation ─▶ Chain::validate ─▶ store
//! ```
//! All plugins, also those that are always on, are in one table in upstream's order (`plugins/mod.rs`). The verbs call the
//! chain in `api/admission.rs`.
//!
//! Follows `k8s.io/apiserver/pkg/admission` (v0.37.1).

mod plugins;

pub use plugins::PluginError;
pub(crate) use plugins::{Config, Tokens, chain, namespace_missing, namespace_terminating};

use crate::auth::authorizer::Authorizer;
use crate::auth::{Objects, User};
use crate::error::{ApiError, ApiResult};
use crate::ids::Ids;
use crate::object::meta;
use crate::registry::{Resource, Version};
use crate::store::{Key, ResourceId, Scope, Store};
use crate::view::View;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tree::Value;

/// The operation on an object. No served request is a `CONNECT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

/// A write, as plugins see it; the object itself is passed beside it. `Attributes` upstream.
pub(crate) struct Attributes<'a> {
    /// The cluster's live objects.
    pub(crate) objects: &'a (dyn Objects + Sync),
    pub(crate) store: &'a Store,
    pub(crate) ids: &'a Ids,
    pub(crate) authorizer: &'a dyn Authorizer,
    /// The replica's view of the store.
    pub(crate) view: &'a View,
    pub(crate) user: &'a User,
    pub(crate) operation: Operation,
    pub(crate) kind: &'a Resource,
    pub(crate) version: &'a Version,
    /// The subresource; empty for the object itself.
    pub(crate) subresource: &'a str,
    /// The namespace; empty for cluster-scoped objects.
    pub(crate) namespace: &'a str,
    /// The name; empty until it is generated, and for a deletecollection.
    pub(crate) name: &'a str,
    /// The stored object; `None` for a create.
    pub(crate) old: Option<&'a Value>,
}

impl Attributes<'_> {
    /// Whether the write is about that resource and subresource ("" for the object itself) of the core group.
    pub(crate) fn is_about(&self, resource: &str, subresource: &str) -> bool {
        self.kind.group.is_empty() && self.kind.resource == resource && self.subresource == subresource
    }

    /// An object of the core group, in the namespace of the write, as the replica's informers know it.
    pub(crate) fn seen(&self, resource: ResourceId, name: &str) -> Option<Arc<Value>> {
        let snapshot = self.view.snapshot(self.store);
        let entry = snapshot.get(&Key::new(resource, self.namespace, name))?;
        Some(Arc::new(entry.object()))
    }

    /// 403 in the words of `NewForbidden`.
    pub(crate) fn forbidden(&self, object: &Value, why: impl std::fmt::Display) -> ApiError {
        ApiError::forbidden(self.version.qualified(), self.displayed_name(object), why)
    }

    /// The object's name in refusals (`extractResourceName`), which may not have one yet.
    fn displayed_name<'o>(&'o self, object: &'o Value) -> &'o str {
        let names = [self.name, meta::name(object), meta::generate_name(object)];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
    }
}

/// A plugin of the chain. Both phases see all writes, and ignore those that the plugin is not about.
pub(crate) trait Plugin: Send + Sync {
    /// An object that the plugin is about to ask for, if it does not exist and may be about to be created: it is waited for
    /// before [`Plugin::admit`].
    fn awaits(&self, _attributes: &Attributes<'_>, _object: &Value) -> Option<Key> {
        None
    }

    /// The mutating phase: changes the object, or refuses the write. A deletion has no object: it is null.
    fn admit(&self, _attributes: &Attributes<'_>, _object: &mut Value) -> ApiResult<()> {
        Ok(())
    }

    /// The validating phase: sees the object as it will be stored.
    fn validate(&self, _attributes: &Attributes<'_>, _object: &Value) -> ApiResult<()> {
        Ok(())
    }
}

/// The plugins of a server, in upstream's order.
pub(crate) struct Chain(Vec<Box<dyn Plugin>>);

impl Chain {
    /// The mutating phase of all plugins. Waits no longer than until `shutdown`.
    ///
    /// # Errors
    /// The first plugin's refusal.
    pub(crate) async fn admit(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        shutdown: &CancellationToken,
    ) -> ApiResult<()> {
        for plugin in &self.0 {
            if let Some(key) = plugin.awaits(attributes, object) {
                let deadline = Instant::now() + creation_timeout();
                let creation = timeout_at(deadline, wait_until_exists(attributes.store, &key));
                // The plugin looks for the object itself, whether it was created in time or not.
                shutdown.run_until_cancelled(creation).await;
            }
            plugin.admit(attributes, object)?;
        }
        Ok(())
    }

    /// The validating phase of all plugins.
    ///
    /// # Errors
    /// The first plugin's refusal.
    pub(crate) fn validate(&self, attributes: &Attributes<'_>, object: &Value) -> ApiResult<()> {
        self.0.iter().try_for_each(|plugin| plugin.validate(attributes, object))
    }
}

/// Time to wait for an object that may be about to be created: the sum of the pauses in `getServiceAccount`'s 10 attempts.
fn creation_timeout() -> Duration {
    9 * Duration::from_millis(fastrand::u64(100..200))
}

/// Waits until an object with that key exists.
async fn wait_until_exists(store: &Store, key: &Key) {
    let scope =
        Scope { resource: key.resource, namespace: Some(key.namespace().into()), name: Some(key.name().into()) };
    let (snapshot, mut events) = store.subscribe(scope, None);
    if snapshot.get(key).is_none() {
        // The first event can only be its creation; if that event has expired already, it was created as well.
        poll_fn(|context| events.poll_next(context)).await;
    }
}
