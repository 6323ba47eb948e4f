//! The state of a server that only orders need.

use super::known::Clusters;
use super::lives::Holds;
use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::commit::content::Content;
use control::{ClusterUser, Refusal};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The most snapshots at a time.
pub(super) const MOST_SNAPSHOTS: usize = 1000;

/// The state of a server that only orders need, beside which others of that type are.
pub(in crate::server) struct Control<Server> {
    pub(super) clock: Arc<dyn Clock>,
    /// The objects at the start.
    pub(super) first: Content,
    snapshots: Mutex<BTreeMap<String, Content>>,
    /// Whether it is the state of the first cluster, beside which the others are.
    pub(super) is_first: bool,
    /// The users of this cluster alone, but for its administrator.
    pub(super) users: Vec<ClusterUser>,
    /// The clusters beside this one.
    pub(in crate::server) clusters: Arc<Clusters<Server>>,
    /// The holds of this cluster.
    pub(super) holds: Holds,
    /// Held while objects are replaced: one after the other.
    pub(super) replacing: tokio::sync::Mutex<()>,
}

impl<Server> Control<Server> {
    /// The state of a server with that clock, which begins with the objects of `cluster`.
    pub(in crate::server) fn of(cluster: &Cluster, clock: &Arc<dyn Clock>) -> Control<Server> {
        let first = Content::of(&cluster.store, &cluster.catalog().registry);
        let (users, snapshots, clusters, holds, replacing) = Default::default();
        Control { clock: clock.clone(), first, is_first: true, users, snapshots, clusters, holds, replacing }
    }

    pub(super) fn snapshots(&self) -> MutexGuard<'_, BTreeMap<String, Content>> {
        self.snapshots.lock().expect("no holder of this lock can panic")
    }

    pub(super) fn snapshot(&self, name: &str) -> Result<Content, Refusal> {
        let snapshots = self.snapshots();
        let hint = || control::near::hint(name, snapshots.keys().map(String::as_str));
        snapshots.get(name).cloned().ok_or_else(|| Refusal::not_found("snapshots", name, &hint()))
    }
}
