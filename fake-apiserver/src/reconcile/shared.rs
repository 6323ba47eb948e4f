//! The cluster as all reconcilers see it, with their options.

use crate::aggregation::Extensions;
use crate::allocation::Allocations;
use crate::clock::Clock;
use crate::coverage::Coverage;
use crate::discovery::{Catalog, Catalogs};
use crate::ids::Ids;
use crate::store::Store;
use crate::webhook::Network;
use crate::x509::Pool;
use std::net::SocketAddr;
use std::sync::Arc;

/// The optional reconcilers of a server.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Deleted namespaces are emptied and removed.
    pub(crate) namespaces: bool,
    /// Cluster roles with an `aggregationRule` are filled.
    pub(crate) cluster_roles: bool,
    /// The types in validating admission policies are checked.
    pub(crate) policy_status: bool,
    /// The address and port by which the service `kubernetes` reaches the server.
    pub(crate) advertised: SocketAddr,
    /// The endpoints of that service are written.
    pub(crate) endpoints: bool,
    /// The authorities of its clients, as API servers that extend this one are told.
    pub(crate) trusted: Trusted,
    /// The paths that the role for monitoring would name if they were served.
    pub(crate) unserved_pages: Vec<&'static str>,
}

/// The authorities of client certificates and of front proxies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trusted {
    pub(crate) clients: Pool,
    pub(crate) proxies: Pool,
    /// The headers of proxies with the name of a user, the uid, the groups, the beginnings of others, and the names of proxies.
    pub(crate) lists: [Vec<String>; 5],
}

impl Trusted {
    /// Whether there are any authorities.
    pub(super) fn has_any(&self) -> bool {
        [&self.clients, &self.proxies].iter().any(|pool| !pool.certificates().is_empty())
    }
}

/// The state that all reconcilers share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) options: Arc<Options>,
    pub(crate) store: Store,
    pub(crate) ids: Arc<Ids>,
    pub(crate) catalogs: Arc<Catalogs>,
    pub(crate) allocations: Arc<Allocations>,
    /// The network of webhooks.
    pub(crate) network: Arc<Network>,
    /// The knowledge of the servers that extend this one.
    pub(crate) extensions: Arc<Extensions>,
    /// The clock of the cluster, which replicas may be ahead of or behind.
    pub(crate) clock: Arc<dyn Clock>,
    /// The counts of what rules decide, if they are counted.
    pub(crate) coverage: Option<Arc<Coverage>>,
}

impl Shared {
    /// The catalog of the served resources.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        self.catalogs.load()
    }
}

#[cfg(test)]
impl Shared {
    /// A cluster without objects.
    pub(super) fn empty() -> Shared {
        let store = Store::new(10);
        Shared {
            options: Arc::new(Options {
                namespaces: true,
                cluster_roles: true,
                policy_status: true,
                advertised: ([127, 0, 0, 1], 443).into(),
                endpoints: true,
                trusted: Trusted::default(),
                unserved_pages: Vec::new(),
            }),
            ids: Ids::seeded(1).into(),
            catalogs: Catalogs::new().into(),
            network: Network::new(crate::service_addresses::ServiceAddresses {
                store: store.clone(),
                known: Default::default(),
            }),
            extensions: Arc::default(),
            allocations: Allocations::new(Vec::new(), 30_000..=32_767).into(),
            clock: Arc::new(crate::clock::SystemClock),
            coverage: None,
            store,
        }
    }
}
