//! The first stage of storing: what an object gets from pools (`BeginCreate`, `BeginUpdate` and their `FinishFunc` of
//! `k8s.io/apiserver/pkg/registry/generic/registry`, v0.37.1).

use super::stages::Write;
use crate::allocation::{Access, Begun};
use crate::cluster::Cluster;
use crate::discovery::Catalog;
use crate::error::ApiResult;
use crate::registry::Allocator;
use std::sync::Arc;
use tree::Value;

/// The allocators of a request, as the resources are served now.
pub(super) struct Allocators(Option<(Allocator, Arc<Catalog>)>);

impl Allocators {
    /// Those that a write meets; none through a subresource.
    pub(super) fn of(write: &Write<'_, '_>) -> Self {
        let request = &write.request;
        let own = request.kind.rules.allocates.filter(|_| request.subresource.is_none());
        Allocators(own.map(|allocator| (allocator, request.cluster.catalog())))
    }

    /// Takes what the object needs, and sets it there. The rest of the write has to be told to [`finish`].
    ///
    /// # Errors
    /// If it cannot have what it wants.
    pub(super) async fn begin<'a, 'r: 'a>(
        &'a self,
        write: &Write<'_, 'r>,
        new: &mut Value,
    ) -> ApiResult<Option<Box<Begun<'a>>>> {
        let Some((Allocator::Service, catalog)) = &self.0 else { return Ok(None) };
        let cluster: &'r Cluster = write.request.cluster;
        let access = Access {
            store: &cluster.store,
            commits: &cluster.commits,
            ids: &cluster.ids,
            registry: &catalog.registry,
            now: write.request.now,
            dry_run: write.options.dry_run,
        };
        // Few kinds allocate: what does is boxed, so that other writes do not have it in their futures.
        let begun = cluster.allocations.begin(access, new, write.current.map(|current| current.object));
        Box::pin(begun).await.map(|begun| Some(Box::new(begun)))
    }
}

/// Ends what was begun: the object was stored, or was not.
pub(super) async fn finish(begun: Option<Box<Begun<'_>>>, stored: bool) {
    if let Some(begun) = begun {
        Box::pin(begun.finish(stored)).await;
    }
}
