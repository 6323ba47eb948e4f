//! The cluster as all reconcilers see it, with their options and the works that are noted.

use super::work::{Noted, Work};
use crate::allocation::{Access, Allocations};
use crate::commit::Commits;
use crate::discovery::{Catalog, Catalogs};
use crate::ids::Ids;
use crate::store::Store;
use jiff::Timestamp;
use std::net::SocketAddr;
use std::sync::Arc;

/// The optional reconcilers of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Deleted namespaces are emptied and removed.
    pub(crate) namespaces: bool,
    /// Cluster roles with an `aggregationRule` are filled.
    pub(crate) cluster_roles: bool,
    /// The address and port by which the service `kubernetes` reaches the server.
    pub(crate) advertised: SocketAddr,
}

/// The state that all reconcilers share.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) store: Store,
    pub(super) commits: Commits,
    pub(super) ids: Arc<Ids>,
    pub(super) catalogs: Arc<Catalogs>,
    pub(super) allocations: Arc<Allocations>,
    pub(super) noted: Noted,
}

impl Shared {
    /// The catalog of the served resources.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        self.catalogs.load()
    }

    /// The access of allocations to the cluster's state.
    pub(super) fn access<'a>(&'a self, catalog: &'a Catalog, now: Timestamp) -> Access<'a> {
        Access {
            store: &self.store,
            commits: &self.commits,
            ids: &self.ids,
            registry: &catalog.registry,
            now,
            dry_run: false,
        }
    }

    /// Notes a work to be done.
    pub(super) fn note(&self, work: Work) {
        self.noted.add(work);
    }
}
