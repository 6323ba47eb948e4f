//! The context of a write, as the rules of its kind see it: upstream's strategies get a `context.Context` and find the same in it.

use crate::coverage::Coverage;
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
    /// Whether the names of webhooks and policies in files are reserved for these.
    pub reserves_names: bool,
    /// The counts of what rules decide, if they are counted.
    pub coverage: Option<&'w Coverage>,
    /// The permissions of the user; `None` for the server itself.
    pub permissions: Option<&'w dyn Permissions>,
}

/// The permissions of the user who writes, in the request that the rules belong to.
pub trait Permissions {
    /// The verb of the request.
    fn verb(&self) -> &str;

    /// Whether the user may do something else, too.
    ///
    /// # Errors
    /// The message of a refusal.
    fn may(&self, asked: &Asked<'_>) -> Result<(), String>;

    /// The plural of the resource that serves a kind, if there is one.
    fn plural(&self, api_version: &str, kind: &str) -> Option<String>;
}

/// An act that takes a permission. Unknown parts are empty.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The verb.
    pub verb: &'a str,
    /// API group.
    pub group: &'a str,
    /// API version, `*` for any.
    pub version: &'a str,
    /// The resource.
    pub resource: &'a str,
    /// The subresource.
    pub subresource: &'a str,
    /// The namespace; empty for all.
    pub namespace: &'a str,
    /// The name; empty for all.
    pub name: &'a str,
}

impl<'w> Context<'w> {
    /// The verb of the request; "" without one.
    pub(super) fn verb(&self) -> &'w str {
        self.permissions.map(Permissions::verb).unwrap_or_default()
    }

    /// Whether the user may do something beyond the write itself. The server may do everything.
    ///
    /// # Errors
    /// The message of a refusal.
    pub(super) fn may(&self, asked: &Asked<'_>) -> Result<(), String> {
        self.permissions.map_or(Ok(()), |permissions| permissions.may(asked))
    }

    /// The plural of the resource that serves a kind, if there is one; none for the server itself.
    pub(super) fn plural(&self, api_version: &str, kind: &str) -> Option<String> {
        self.permissions.and_then(|permissions| permissions.plural(api_version, kind))
    }

    /// The context of a write by the server itself, in the storage version.
    pub(crate) fn of_server(api_version: &'w str, store: &'w Store, now: Timestamp, deadline: &'w Deadline) -> Self {
        Context {
            user: None,
            store,
            now,
            api_version,
            subresource: "",
            has_labels: true,
            deadline,
            reserves_names: false,
            coverage: None,
            permissions: None,
        }
    }
}
