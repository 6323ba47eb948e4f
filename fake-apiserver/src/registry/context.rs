//! The context of a write, as the rules of its kind see it: upstream's strategies get a `context.Context` and find the same in it.

use crate::deadline::Deadline;
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
    /// `apiVersion` of the version by which the resource is written.
    pub api_version: &'w str,
    /// The subresource through which it is written; "" for the object itself.
    pub subresource: &'w str,
    /// Whether the object had labels before its defaults were set; true if it is not created.
    pub has_labels: bool,
    /// The time until which the rules may compute.
    pub deadline: &'w Deadline,
}

impl<'w> Context<'w> {
    /// The context of a write by the server itself, in the storage version.
    pub(crate) fn of_server(api_version: &'w str, store: &'w Store, now: Timestamp, deadline: &'w Deadline) -> Self {
        Context { user: None, store, now, api_version, subresource: "", has_labels: true, deadline }
    }
}
