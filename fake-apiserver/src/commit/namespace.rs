//! The part of namespaces that the store has to know: they are parents of objects, and their content is deleted before them.
//!
//! ```text
//!   Active ── DELETE ──▶ Terminating ── content gone ──▶ spec.finalizers emptied ── no finalizers ──▶ removed
//! ```
//! While terminating a namespace takes no new content (`admission/plugins/namespace_lifecycle.rs`). Its content is deleted by
//! `reconcile/namespaces.rs`.

use crate::registry::{Closes, Resource, ids};
use crate::schema::{self, TypeRef};
use crate::store::{Entry, Key, Parent};
use tree::Value;

/// The field of a terminating namespace, and its value.
const TERMINATING: (&str, &str) = ("status.phase", "Terminating");

/// The key of a namespace.
pub(crate) fn key(name: &str) -> Key {
    Key::new(ids::NAMESPACES, "", name)
}

/// The Go type of namespaces.
///
/// # Panics
/// Never: the type is built in.
pub(crate) fn ty() -> TypeRef<'static> {
    schema::lookup("v1", "Namespace").expect("the type is built in")
}

/// Whether objects of that kind are namespaces.
pub(crate) fn is_namespace(resource: &Resource) -> bool {
    resource.rules.closes == Some(Closes::Namespace)
}

/// The parent of a new object in that namespace; `None` without a namespace.
pub(crate) fn parent(namespace: &str) -> Option<Parent> {
    (!namespace.is_empty()).then(|| Parent { key: key(namespace), closed_when: TERMINATING })
}

/// Whether a stored namespace is terminating.
pub(crate) fn is_terminating(namespace: &Entry) -> bool {
    namespace.meta.field(TERMINATING.0) == Some(TERMINATING.1)
}

/// Closes a namespace: from now on no object can be created in it.
pub(super) fn close(namespace: &mut Value) {
    namespace["status"]["phase"] = TERMINATING.1.into();
}

/// Whether an object is a namespace that waits for its content to go.
pub(crate) fn awaits_finalizers(resource: &Resource, object: &Value) -> bool {
    is_namespace(resource) && object["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty())
}
