//! An act: who does what to which resource, when, noting what. It knows no wire: requests are acts with a query and a body.

use super::server::Server;
use crate::audit::Annotation;
use crate::auth::User;
use crate::deadline::Deadline;
use crate::registry::Located;
use crate::store::Entry;
use jiff::Timestamp;
use std::sync::Arc;
use tokio::time::Instant;

/// An authorized act on a served resource.
pub(crate) struct Act<'r> {
    pub(crate) server: Server<'r>,
    pub(crate) target: Located<'r>,
    /// The time of the server's clock when it began, or after its last wait.
    pub(crate) now: Timestamp,
    pub(crate) user: Arc<User>,
    /// Whether the server sends it to itself: no authorizer is asked what its user may do.
    pub(crate) is_own: bool,
    /// The `User-Agent` of the user, or "": the field manager, if none is named.
    pub(crate) user_agent: &'r str,
    /// The verb, as authorizers know it.
    pub(crate) verb: &'r str,
    /// The end of its time, if that is limited.
    pub(crate) ends: Option<Instant>,
    /// The deadline of its computations.
    pub(crate) deadline: Deadline,
    /// The warnings for the user.
    pub(crate) warnings: Vec<String>,
    /// The annotations of the audit event.
    pub(crate) annotations: &'r mut Vec<Annotation>,
}

impl Act<'_> {
    /// Its object, as it is stored.
    pub(super) fn stored(&self) -> Option<Arc<Entry>> {
        self.server.cluster.store.get(&self.target.key())
    }

    /// Whether its resource is served as it was when it began.
    pub(super) fn is_current(&self) -> bool {
        let (catalog, resource) = (self.server.cluster.catalog(), self.target.resource);
        catalog.registry.get(resource.id).is_some_and(|served| Arc::ptr_eq(served, resource))
    }
}
