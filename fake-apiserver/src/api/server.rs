//! The server, as an act sees it.

use crate::admission::Surroundings;
use crate::clock::Clock;
use crate::cluster::{Cluster, LiveObjects};
use crate::commit::Commits;
use crate::measures::Measures;
use crate::registry::Registry;
use crate::view::View;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The state and the means of the server that carries out an act, whatever it is about.
#[derive(Clone, Copy)]
pub(crate) struct Server<'r> {
    pub(crate) cluster: &'r Cluster,
    /// The objects that authentication depends on.
    pub(crate) objects: LiveObjects<'r>,
    /// The act's writes to the store.
    pub(crate) commits: Commits<'r>,
    /// The resources that are served.
    pub(crate) registry: &'r Registry,
    /// The view of the replica.
    pub(crate) view: &'r View,
    /// The clock of the replica.
    pub(crate) clock: &'r Arc<dyn Clock>,
    /// The replica's counts.
    pub(crate) measures: &'r Measures,
    /// The token that is cancelled when the replica stops; an act must not wait any longer then.
    pub(crate) shutdown: &'r CancellationToken,
}

impl Server<'_> {
    /// The server, as plugins see it.
    pub(super) fn surroundings(&self) -> Surroundings<'_> {
        let cluster = self.cluster;
        Surroundings {
            objects: &self.objects,
            store: &cluster.store,
            commits: self.commits,
            ids: &cluster.ids,
            authorizer: &cluster.policy.authorizer,
            network: &cluster.network,
            registry: self.registry,
            view: self.view,
            clock: &**self.clock,
            measures: self.measures,
            coverage: cluster.policy.coverage.as_deref(),
            shutdown: self.shutdown,
        }
    }
}
