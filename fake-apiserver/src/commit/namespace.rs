//! Namespaces, as the store must know them: what namespaced objects live in, and what they wait for when they go.
//!
//! ```text
//!   Active ── DELETE ──▶ Terminating ── content gone ──▶ spec.finalizers emptied ── no finalizers ──▶ removed
//! ```
//! While terminating a namespace takes no new content (`admission/plugins/namespace_lifecycle.rs`). Its content is deleted by
//! `reconcile/namespaces.rs`.

use crate::registry::{Resource, ids};
use crate::store::{Entry, Key, Parent};
use serde_json::Value;

/// The field of a namespace that says so, and what it says while the namespace terminates.
const TERMINATING: (&str, &str) = ("status.phase", "Terminating");

/// The key of a namespace.
pub(crate) fn key(name: &str) -> Key {
    Key::new(ids::NAMESPACES, "", name)
}

/// Whether objects of that kind are namespaces.
pub(crate) fn is_namespace(kind: &Resource) -> bool {
    kind.id == ids::NAMESPACES
}

/// What a new object in that namespace must live in; `None` without a namespace.
pub(crate) fn parent(namespace: &str) -> Option<Parent> {
    (!namespace.is_empty()).then(|| Parent { key: key(namespace), closed_when: TERMINATING })
}

/// Whether a stored namespace takes no new content.
pub(crate) fn is_terminating(namespace: &Entry) -> bool {
    namespace.meta.field(TERMINATING.0) == Some(TERMINATING.1)
}

/// Closes a namespace: from here on it takes no new content.
pub(super) fn close(namespace: &mut Value) {
    namespace["status"]["phase"] = TERMINATING.1.into();
}

/// Whether an object is a namespace that waits for its content to go.
pub(crate) fn awaits_finalizers(kind: &Resource, object: &Value) -> bool {
    is_namespace(kind) && object["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty())
}
