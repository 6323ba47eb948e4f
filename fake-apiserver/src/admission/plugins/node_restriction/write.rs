//! A write of a node, and its refusal.

use crate::admission::{Attributes, Operation};
use crate::auth::authorizer::{Decision, Target};
use crate::error::{ApiError, ApiResult, Qualified};
use crate::registry::{Compared, ids};
use crate::store::{Key, ResourceId};
use tree::Value;

/// A write of a node.
pub(super) struct Write<'a> {
    pub(super) node: &'a str,
    pub(super) attributes: &'a Attributes<'a>,
    /// The new object; null for a delete.
    pub(super) object: &'a Value,
}

/// A kind of the core group.
pub(super) fn core(resource: &str) -> Qualified<'_> {
    Qualified { group: "", resource }
}

impl Write<'_> {
    /// The old object; null for a create.
    pub(super) fn old(&self) -> &Value {
        self.attributes.old.unwrap_or(&Value::Null)
    }

    pub(super) fn operation(&self) -> Operation {
        self.attributes.operation
    }

    /// `NewForbidden`.
    pub(super) fn refuse<T>(&self, why: impl std::fmt::Display) -> ApiResult<T> {
        Err(self.attributes.forbidden(self.object, why))
    }

    /// Refuses an operation that the rule does not know.
    pub(super) fn refuse_operation<T>(&self) -> ApiResult<T> {
        self.refuse(format!("unexpected operation \"{}\"", self.operation().name()))
    }

    /// An object as it is now; `kind` names it in the 404, as upstream's listers do.
    pub(super) fn live(
        &self,
        resource: ResourceId,
        kind: Qualified<'_>,
        namespace: &str,
        name: &str,
    ) -> ApiResult<Value> {
        let entry = self.attributes.server.store.get(&Key::new(resource, namespace, name));
        entry.map(|entry| entry.object()).ok_or_else(|| ApiError::not_found(kind, name))
    }

    /// A pod in the namespace of the write.
    pub(super) fn pod(&self, name: &str) -> ApiResult<Value> {
        self.live(ids::PODS, core("pod"), self.attributes.namespace, name)
    }

    /// A node.
    pub(super) fn node_named(&self, name: &str) -> ApiResult<Value> {
        self.live(ids::NODES, core("node"), "", name)
    }

    /// The decision about a verb of its own on something in the group of the write (`buildAuthorizerAttributes`).
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(super) fn may(&self, verb: &str, resource: &str, name: &str) -> ApiResult<Decision> {
        let version = self.attributes.version;
        let (group, version, namespace) = (&version.group, &version.name, self.attributes.namespace);
        self.attributes.may(verb, Target::Resource { group, version, resource, subresource: "", namespace, name })
    }

    /// Whether a field of the object is unchanged; dots descend.
    pub(super) fn leaves(&self, kind: &'static str, field: &str) -> bool {
        Compared("v1", kind).has_same(field, self.object, self.old())
    }
}
