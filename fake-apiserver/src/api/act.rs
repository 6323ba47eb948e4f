//! An act: who does what to which resource, when, noting what. It knows no wire: requests are acts with a query and a body.

use crate::audit::Annotation;
use crate::auth::User;
use crate::clock::Clock;
use crate::cluster::{Cluster, LiveObjects};
use crate::commit::Commits;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::measures::Measures;
use crate::registry::{Registry, Resource, Subresource, Version};
use crate::store::Key;
use crate::view::View;
use jiff::Timestamp;
use std::sync::Arc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// An authorized act on a served resource.
pub(crate) struct Act<'r> {
    pub(crate) cluster: &'r Cluster,
    /// The objects that authentication depends on.
    pub(crate) objects: LiveObjects<'r>,
    /// Its writes to the store.
    pub(crate) commits: Commits<'r>,
    /// The view of the replica.
    pub(crate) view: &'r View,
    /// The clock of the replica that serves it.
    pub(crate) clock: &'r Arc<dyn Clock>,
    /// The time of that clock when it began, or after its last wait.
    pub(crate) now: Timestamp,
    pub(crate) user: Arc<User>,
    /// Whether the server sends it to itself: no authorizer is asked what its user may do.
    pub(crate) is_own: bool,
    /// The `User-Agent` of the user, or "": the field manager, if none is named.
    pub(crate) user_agent: &'r str,
    /// The verb, as authorizers know it.
    pub(crate) verb: &'r str,
    /// The resources that are served.
    pub(crate) registry: &'r Registry,
    /// The resource, as it is stored.
    pub(crate) resource: &'r Arc<Resource>,
    /// The served version of the resource.
    pub(crate) version: &'r Arc<Version>,
    /// The namespace; empty for cluster-scoped resources, and for all namespaces.
    pub(crate) namespace: &'r str,
    /// The name; empty for the collection.
    pub(crate) name: &'r str,
    pub(crate) subresource: Option<&'r Subresource>,
    /// The end of its time, if that is limited.
    pub(crate) ends: Option<Instant>,
    /// The deadline of its computations.
    pub(crate) deadline: Deadline,
    /// The warnings for the user.
    pub(crate) warnings: Vec<String>,
    /// The annotations of the audit event.
    pub(crate) annotations: &'r mut Vec<Annotation>,
    /// The replica's counts.
    pub(crate) measures: &'r Measures,
    /// The token that is cancelled when the replica stops; an act must not wait any longer then.
    pub(crate) shutdown: &'r CancellationToken,
}

impl Act<'_> {
    pub(super) fn key(&self) -> Key {
        Key::new(self.resource.id, self.namespace, self.name)
    }

    /// Whether its resource is served as it was when it began.
    pub(super) fn is_current(&self) -> bool {
        let catalog = self.cluster.catalog();
        catalog.registry.get(self.resource.id).is_some_and(|served| Arc::ptr_eq(served, self.resource))
    }

    pub(super) fn not_found(&self) -> ApiError {
        ApiError::not_found(self.version.qualified(), self.name)
    }
}
