//! A request for a served resource: its parts, and decoding them.

pub(super) mod audited;
pub(crate) mod decode;
pub(crate) mod empty_lists;
mod identity;
pub(crate) mod media;
mod mime;
pub(crate) mod options;
pub(crate) mod query;

pub(crate) use identity::{check_identity, ensure_namespace, undeterminable_name};
pub(crate) use query::Query;

use crate::audit::{Annotation, Audited};
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
use bytes::Bytes;
use jiff::Timestamp;
use std::sync::Arc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The complete body of a request.
pub(crate) struct Body<'r> {
    /// The `Content-Type` header, or "".
    pub(crate) content_type: &'r str,
    pub(crate) bytes: Bytes,
}

/// The parts of a request that matter only if it is forwarded to another server.
#[derive(Debug)]
pub(crate) struct Forward<'r> {
    /// Its path, without escapes.
    pub(crate) path: &'r str,
    /// Its query, as it was sent.
    pub(crate) query: &'r str,
    /// Whether nothing follows the subresource in its path, not even a slash.
    pub(crate) is_root: bool,
    /// Whether it asks for another protocol (`IsUpgradeRequest`).
    pub(crate) upgrades: bool,
}

/// A request for a served resource: routed, authenticated and authorized.
pub(crate) struct Request<'r> {
    pub(crate) cluster: &'r Cluster,
    /// The objects that authentication depends on.
    pub(crate) objects: LiveObjects<'r>,
    /// Its writes to the store.
    pub(crate) commits: Commits<'r>,
    /// The view of the replica.
    pub(crate) view: &'r View,
    /// The clock of the replica that serves it.
    pub(crate) clock: &'r Arc<dyn Clock>,
    /// The time of that clock when the request arrived, or after its last wait.
    pub(crate) now: Timestamp,
    pub(crate) user: Arc<User>,
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
    pub(crate) query: &'r Query<'r>,
    /// Set if its handler connects. Boxed, for it is rare.
    pub(crate) forward: Option<Box<Forward<'r>>>,
    /// The `User-Agent` header, or "".
    pub(crate) user_agent: &'r str,
    pub(crate) body: Body<'r>,
    /// The end of its time, if that is limited.
    pub(crate) ends: Option<Instant>,
    /// The deadline of its computations.
    pub(crate) deadline: Deadline,
    /// The texts of the response's `Warning` headers.
    pub(crate) warnings: Vec<String>,
    /// The annotations of the audit event.
    pub(crate) annotations: &'r mut Vec<Annotation>,
    /// The audit of the request; `None` if there is none.
    pub(crate) audited: Option<&'r mut Audited>,
    /// The replica's counts.
    pub(crate) measures: &'r Measures,
    /// The token that is cancelled when the replica stops; the request must not wait any longer then.
    pub(crate) shutdown: &'r CancellationToken,
}

impl<'r> Request<'r> {
    /// The parts that matter if it is forwarded.
    ///
    /// # Panics
    /// If its handler does not connect.
    pub(super) fn forward(&self) -> &Forward<'r> {
        self.forward.as_ref().expect("a request whose handler connects has them")
    }

    pub(super) fn key(&self) -> Key {
        Key::new(self.resource.id, self.namespace, self.name)
    }

    /// Whether its resource is served as it was when the request came.
    pub(super) fn is_current(&self) -> bool {
        let catalog = self.cluster.catalog();
        catalog.registry.get(self.resource.id).is_some_and(|served| Arc::ptr_eq(served, self.resource))
    }

    pub(super) fn not_found(&self) -> ApiError {
        ApiError::not_found(self.version.qualified(), self.name)
    }
}
