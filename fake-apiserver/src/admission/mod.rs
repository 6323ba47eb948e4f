//! Admission: what may still change a write, or refuse it, once its author is known to be allowed to make it.
//!
//! ```text
//!   default ─▶ Chain::admit ─▶ prepare ─▶ validation ─▶ Chain::validate ─▶ store
//! ```
//! All plugins stand in one table in upstream's order (`plugins/mod.rs`), those that are always on among them. Where the verbs
//! call the chain is `api/admission.rs`.
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
use serde_json::Value;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

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
    pub(crate) objects: &'a (dyn Objects + Sync),
    pub(crate) store: &'a Store,
    pub(crate) ids: &'a Ids,
    pub(crate) authorizer: &'a dyn Authorizer,
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
    pub(crate) fn seen(&self, resource: ResourceId, name: &str) -> Option<Arc<Value>> {
        let snapshot = self.view.snapshot(self.store);
        let entry = snapshot.get(&Key::new(resource, self.namespace, name))?;
        Some(Arc::new(entry.object()))
    }

    /// 403 in the words of `NewForbidden`.
    pub(crate) fn forbidden(&self, object: &Value, why: impl std::fmt::Display) -> ApiError {
        ApiError::forbidden(self.version.qualified(), self.displayed_name(object), why)
    }

    /// The name that refusals call the object by (`extractResourceName`), which may not have one yet.
    fn displayed_name<'o>(&'o self, object: &'o Value) -> &'o str {
        let names = [self.name, meta::name(object), meta::generate_name(object)];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
    }
}

/// A plugin of the chain. Both phases see all writes, and let pass those that are none of their business.
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
                // In time or not: the plugin looks for itself.
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

/// How long an object that may be about to be created is waited for: as long as `getServiceAccount` sleeps between 10 attempts.
fn creation_timeout() -> Duration {
    9 * Duration::from_millis(fastrand::u64(100..200))
}

/// Resolves when there is an object under that key.
async fn wait_until_exists(store: &Store, key: &Key) {
    let scope =
        Scope { resource: key.resource, namespace: Some(key.namespace().into()), name: Some(key.name().into()) };
    let (snapshot, mut events) = store.subscribe(scope, None);
    if snapshot.get(key).is_none() {
        // The first thing that can happen to it is to be created; should that be forgotten already, it happened as well.
        poll_fn(|context| events.poll_next(context)).await;
    }
}
