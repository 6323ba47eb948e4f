//! The first stage of storing: allocation from pools (`BeginCreate`, `BeginUpdate` and their `FinishFunc` of
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
    /// The allocators of a write; a write through a subresource has none.
    pub(super) fn of(write: &Write<'_, '_>) -> Self {
        let act = &write.act;
        let own = act.target.resource.rules.allocates.filter(|_| act.target.subresource.is_none());
        Allocators(own.map(|allocator| (allocator, act.server.cluster.catalog())))
    }

    /// Allocates the addresses and ports that the object needs, and sets them in it. Its result must be passed to [`finish`].
    ///
    /// # Errors
    /// If an address or port is taken or out of range, or a pool is exhausted.
    pub(super) async fn begin<'a, 'r: 'a>(
        &'a self,
        write: &Write<'_, 'r>,
        new: &mut Value,
    ) -> ApiResult<Option<Box<Begun<'a>>>> {
        let Some((Allocator::Service, catalog)) = &self.0 else { return Ok(None) };
        let cluster: &'r Cluster = write.act.server.cluster;
        let access = Access {
            store: &cluster.store,
            commits: write.act.server.commits,
            ids: &cluster.ids,
            registry: &catalog.registry,
            now: write.act.now,
            dry_run: write.options.dry_run,
        };
        // Few kinds allocate: the allocation is boxed, so that it does not enlarge the futures of other writes.
        let begun = cluster.policy.allocations.begin(access, new, write.current.map(|current| current.object));
        Box::pin(begun).await.map(|begun| Some(Box::new(begun)))
    }
}

/// Ends an allocation: keeps it if the object was `stored`, and undoes it otherwise.
pub(super) async fn finish(begun: Option<Box<Begun<'_>>>, stored: bool) {
    if let Some(begun) = begun {
        Box::pin(begun.finish(stored)).await;
    }
}
