//! A plugin, and a write as it sees it.

use super::kind::Kind;
use super::manifests::Reloaded;
use super::reinvocation::Reinvocation;
use super::surroundings::Surroundings;
use crate::auth::Notes;
use crate::auth::authorizer::{self, Authorizer as _, Decision, Target};
use crate::commit::namespace;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{Resource, Version};
use crate::store::{Entry, Key, ResourceId};
use crate::user::User;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::time::Instant;
use tree::Value;

/// The operation on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
    /// A request that is forwarded, or becomes a stream. The object is its options.
    Connect,
}

impl Operation {
    /// The name, as rules and reviews have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        }
    }
}

/// The options of a write: `CreateOptions`, `UpdateOptions` or `DeleteOptions`.
pub(crate) trait Options: Send + Sync {
    /// Whether nothing will be stored.
    fn dry_run(&self) -> bool;

    /// The options as an object of their kind in `meta.k8s.io/v1`; null, if there are none.
    fn object(&self, operation: Operation) -> Value;
}

/// A write, as plugins see it; the object itself is passed beside it, in the storage version, and `version.built_in_from_storage` is that of the request.
/// `Attributes` upstream.
pub(crate) struct Attributes<'a> {
    /// The state and the means of the server, whatever is written.
    pub(crate) server: Surroundings<'a>,
    pub(crate) user: &'a User,
    pub(crate) operation: Operation,
    pub(crate) resource: &'a Resource,
    pub(crate) version: &'a Version,
    /// The subresource; empty for the object itself.
    pub(crate) subresource: &'a str,
    /// The kind of the object, which is another one than the resource's for some subresources.
    pub(crate) kind: Kind<'a>,
    /// The namespace; empty for cluster-scoped objects, and the name for a namespace itself.
    pub(crate) namespace: &'a str,
    /// The name; empty until it is generated, and for a deletecollection.
    pub(crate) name: &'a str,
    /// The stored object; `None` for a create.
    pub(crate) old: Option<&'a Value>,
    /// The options of the request.
    pub(crate) options: &'a dyn Options,
    /// The state of the mutating phase that outlasts its rounds.
    pub(crate) reinvocation: &'a Reinvocation,
    /// The end of the request's time, if that is limited.
    pub(crate) ends: Option<Instant>,
    /// The deadline of the request.
    pub(crate) deadline: &'a Deadline,
}

impl Attributes<'_> {
    /// Whether the write is about that resource and subresource ("" for the object itself) of the core group.
    pub(crate) fn is_about(&self, resource: &str, subresource: &str) -> bool {
        self.resource.group.is_empty() && self.resource.plural == resource && self.subresource == subresource
    }

    /// An object of the core group, in the namespace of the write, as the replica's informers know it.
    pub(crate) fn seen(&self, resource: ResourceId, name: &str) -> Option<Arc<Value>> {
        self.seen_at(&Key::new(resource, self.namespace, name))
    }

    /// A cluster-scoped object, as the replica's informers know it.
    pub(crate) fn seen_cluster_wide(&self, resource: ResourceId, name: &str) -> Option<Arc<Value>> {
        self.seen_at(&Key::new(resource, "", name))
    }

    /// The namespace of the write, as the replica's informers know it, or else as it is stored.
    pub(crate) fn own_namespace(&self) -> Option<Arc<Entry>> {
        let key = namespace::key(self.namespace);
        let seen = self.server.view.held().and_then(|held| held.get(&key).cloned());
        seen.or_else(|| self.server.store.get(&key))
    }

    /// A cluster-scoped object as it is stored, as the replica's informers know it.
    pub(crate) fn seen_entry(&self, resource: ResourceId, name: &str) -> Option<Arc<Entry>> {
        self.server.view.snapshot(self.server.store).get(&Key::new(resource, "", name)).cloned()
    }

    /// The decision about something else that the user might do.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(crate) fn may(&self, verb: &str, target: Target<'_>) -> ApiResult<Decision> {
        let deadline = &self.deadline;
        let attributes = authorizer::Attributes { deadline, ..authorizer::Attributes::new(self.user, verb, target) };
        self.server.authorizer.authorize(self.server.store, &attributes)
    }

    fn seen_at(&self, key: &Key) -> Option<Arc<Value>> {
        let snapshot = self.server.view.snapshot(self.server.store);
        let entry = snapshot.get(key)?;
        Some(Arc::new(entry.object()))
    }

    /// 403 in the words of `NewForbidden`.
    pub(crate) fn forbidden(&self, object: &Value, why: impl std::fmt::Display) -> ApiError {
        ApiError::forbidden(self.version.qualified(), self.displayed_name(object), why)
    }

    /// Tells operators which plugin refuses the write.
    pub(super) fn log_refusal(&self, plugin: &str, refusal: &ApiError) {
        tracing::debug!(
            plugin,
            user = self.user.name,
            operation = ?self.operation,
            resource = &*self.version.plural,
            subresource = self.subresource,
            namespace = self.namespace,
            name = self.name,
            dry_run = self.options.dry_run(),
            options = %self.options.object(self.operation),
            %refusal,
            "admission refuses a write"
        );
    }

    /// The object's name in refusals (`extractResourceName`), which may not have one yet.
    pub(super) fn displayed_name<'o>(&'o self, object: &'o Value) -> &'o str {
        let names = [self.name, meta::name(object), meta::generate_name(object)];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
    }
}

/// A plugin of the chain. Both phases see all writes, and ignore those that the plugin is not about. They may wait, write notes for the
/// client and the audit log, and have to come to an end when the deadline passes.
pub(crate) trait Plugin: Send + Sync {
    /// The mutating phase: changes the object, or refuses the write. A deletion has no object: it is null.
    fn mutate<'a>(&'a self, _write: &'a Attributes<'a>, _object: &'a mut Value, _notes: &'a mut Notes) -> Verdict<'a> {
        Verdict::Now(Ok(()))
    }

    /// The validating phase: sees the object as it will be stored.
    fn validate<'a>(&'a self, _write: &'a Attributes<'a>, _object: &'a Value, _notes: &'a mut Notes) -> Verdict<'a> {
        Verdict::Now(Ok(()))
    }

    /// The folder that it reads again when that changes.
    fn folder(&self) -> Option<Arc<dyn Reloaded>> {
        None
    }
}

/// The verdict of a plugin: permission, or a refusal.
pub(crate) enum Verdict<'a> {
    Now(ApiResult<()>),
    /// The plugin has to wait first.
    Later(BoxFuture<'a, ApiResult<()>>),
}

/// A plugin that never waits and has no notes.
pub(crate) trait Immediate: Send + Sync {
    /// [`Plugin::mutate`].
    fn admit(&self, _write: &Attributes<'_>, _object: &mut Value) -> ApiResult<()> {
        Ok(())
    }

    /// [`Plugin::validate`].
    fn check(&self, _write: &Attributes<'_>, _object: &Value) -> ApiResult<()> {
        Ok(())
    }
}

impl<P: Immediate> Plugin for P {
    fn mutate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a mut Value, _: &'a mut Notes) -> Verdict<'a> {
        Verdict::Now(self.admit(write, object))
    }

    fn validate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a Value, _: &'a mut Notes) -> Verdict<'a> {
        Verdict::Now(self.check(write, object))
    }
}
