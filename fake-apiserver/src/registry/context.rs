//! The context of a write, as the rules of its kind see it: upstream's strategies get a `context.Context` and find the same in it.

use super::resource::{Subresource, Version};
use crate::store::Store;
use crate::user::User;
use jiff::Timestamp;

/// The write that a rule is applied to; the objects are passed beside it.
#[derive(Clone, Copy)]
pub struct Context<'w> {
    /// The user who writes; `None` for the server itself.
    pub user: Option<&'w User>,
    /// The objects of the cluster.
    pub store: &'w Store,
    /// The time of the replica that serves the request.
    pub now: Timestamp,
    /// The version by which the resource is written.
    pub version: &'w Version,
    /// The subresource through which it is written; `None` for the object itself.
    pub subresource: Option<&'w Subresource>,
}

impl<'w> Context<'w> {
    /// The context of a write by the server itself, in the storage version.
    pub(crate) fn of_server(version: &'w Version, store: &'w Store, now: Timestamp) -> Self {
        Context { user: None, store, now, version, subresource: None }
    }
}
