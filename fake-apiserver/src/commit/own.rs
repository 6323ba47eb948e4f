//! Writes of the server itself that are no requests: of the objects of a first start, of what belongs to a write of a client (addresses, quotas,
//! budgets, namespaces that are provided), of its own endpoints, and about definitions. Reconcilers send requests otherwise (`reconcile/client.rs`).
//!
//! ```text
//!   create ── complete ─────────────┐
//!   change ── what is wanted ─▶ managers ─▶ encode, or remove ─▶ commit
//!   delete ── plan ───────────────────────────────────────────────┘
//! ```
//! Here neither admission nor validation sees them (`docs/internals/consequences-follow-a-write.md` lists them).
//!
//! GAP: admission plugins: requests of the server to itself about the objects of its first start, its own endpoints, addresses of services, what
//! quotas have used, disruptions by evictions, provisioned namespaces and the status of definitions, which webhooks and policies do not see

use super::deletion::{self, DeleteOptions};
use super::{Change, Commits, draft, size};
use crate::clock::format_seconds;
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::ids::Ids;
use crate::object::meta;
use crate::registry::managers::Writer;
use crate::registry::{Context, Resource};
use crate::store::{CreateError, Draft, Entry, Key, Parent};
use jiff::Timestamp;
use std::sync::Arc;
use tree::Value;

/// The field manager of these writes.
const MANAGER: &str = "kube-apiserver";

/// A part of the server that writes objects of a resource.
#[derive(Clone, Copy)]
pub(crate) struct Own<'o> {
    pub(crate) resource: &'o Resource,
    commits: Commits<'o>,
    ids: &'o Ids,
    now: Timestamp,
    /// The subresource through which it writes; empty for the object itself.
    subresource: &'static str,
}

impl<'o> Own<'o> {
    /// The server itself, at that time.
    pub(crate) fn new(resource: &'o Resource, commits: Commits<'o>, ids: &'o Ids, now: Timestamp) -> Self {
        Own { resource, commits, ids, now, subresource: "" }
    }

    /// This one through a subresource.
    pub(crate) fn through(self, subresource: &'static str) -> Self {
        Own { subresource, ..self }
    }

    /// Completes a new object as every create does: uid, time, defaults, field managers, generation.
    pub(crate) fn complete(&self, object: &mut Value) {
        let (resource, time) = (self.resource, format_seconds(self.now));
        meta::set(object, "uid", self.ids.uid());
        meta::set(object, "creationTimestamp", time.as_str());
        (resource.rules.strategy.default)(object);
        resource.track(self.writer(&time), None, object);
        if resource.rules.owns_generation {
            meta::set(object, "generation", 1);
        }
        let deadline = Deadline::default();
        let (api_version, store) = (&resource.storage().api_version, self.commits.store());
        (resource.rules.strategy.prepare)(&Context::of_server(api_version, store, self.now, &deadline), object, None);
    }

    /// The draft of a new object.
    ///
    /// # Errors
    /// 500, if the object is invalid.
    pub(crate) fn created(&self, mut object: Value) -> ApiResult<Draft> {
        self.complete(&mut object);
        draft(self.resource, &object)
    }

    /// Creates an object, in a parent if there is one. The inner error is the store's.
    ///
    /// # Errors
    /// As [`Self::created`].
    pub(crate) async fn create(
        &self,
        object: Value,
        parent: Option<&Parent>,
    ) -> ApiResult<Result<Arc<Entry>, CreateError>> {
        let draft = self.created(object)?;
        Ok(self.commits.create(draft, parent).await)
    }

    /// Makes of a stored object what `wanted` returns, which gets its tree, too, and is called again whenever another writer was faster; `None`
    /// leaves the object as it is. One that is being deleted is removed once nothing keeps it. Returns the entry, and whether this was another
    /// one before; `None` if the object does not exist.
    ///
    /// # Errors
    /// The errors of `wanted`; 500, if the object is invalid, or too large.
    pub(crate) async fn change(
        &self,
        key: &Key,
        mut wanted: impl FnMut(&Entry, &Value) -> ApiResult<Option<Value>>,
    ) -> ApiResult<Option<(Arc<Entry>, bool)>> {
        let changed = self.commits.change(key, |entry| {
            let old = entry.object();
            let Some(mut new) = wanted(entry, &old)? else { return Ok((Change::Leave, false)) };
            Ok((self.changed(entry, &old, &mut new)?, true))
        });
        changed.await
    }

    /// The change of a stored object, whose tree is `old`, to another one, which gets its managers.
    ///
    /// # Errors
    /// As those of [`Self::change`].
    pub(crate) fn changed(&self, entry: &Entry, old: &Value, new: &mut Value) -> ApiResult<Change> {
        if deletion::ends(self.resource, old, new) {
            return Ok(Change::Remove);
        }
        if new == old {
            return Ok(Change::Leave);
        }
        self.resource.track(self.writer(&format_seconds(self.now)), Some(old), new);
        let draft = draft(self.resource, new)?;
        size::check(self.resource, &draft, Some(entry.revision))?;
        Ok(Change::Put(draft))
    }

    /// Deletes an object, or takes the next step of its deletion. Returns whether it is gone.
    ///
    /// # Errors
    /// 500, if the object is invalid.
    pub(crate) async fn delete(&self, key: &Key, options: &DeleteOptions) -> ApiResult<bool> {
        let deletion = self.commits.change(key, |entry| {
            let plan = deletion::plan(self.resource, entry, options, self.now)?;
            Ok((plan.change, plan.removes))
        });
        Ok(deletion.await?.is_none_or(|(_, removes)| removes))
    }

    fn writer<'w>(&self, now: &'w str) -> Writer<'w> {
        Writer { manager: MANAGER, subresource: self.subresource, now }
    }
}
