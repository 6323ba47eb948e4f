//! The clusters beside the first one, and the seeds, by their names.

use crate::http::{Beside, Replica};
use crate::server::seed::Seed;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch;

/// The name of the first cluster.
pub(super) const FIRST: &str = "default";

/// A server that others end.
pub(in crate::server) trait End {
    /// Ends it, and its watches.
    fn end(&self);
}

/// The clusters beside the first one.
pub(in crate::server) struct Clusters<Server> {
    /// The way to them.
    pub(in crate::server) beside: Arc<Beside<Replica>>,
    all: Mutex<BTreeMap<String, Arc<Server>>>,
    seeds: Mutex<BTreeMap<String, Filled>>,
    /// The number of changes of seeds and removals of clusters so far.
    pub(super) changes: watch::Sender<u64>,
    /// Held while a seed is looked for, and made if there is none.
    pub(super) seeding: tokio::sync::Mutex<()>,
    /// The number of clusters that were given a name.
    named: Mutex<u64>,
}

/// A seed.
pub(super) enum Filled {
    Ready(Seed),
    /// The cluster of that name is being filled for it.
    Not(String),
}

impl<Server: End> Clusters<Server> {
    pub(super) fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.all().get(name).cloned()
    }

    pub(super) fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Server>>> {
        self.all.lock().expect("no holder of this lock can panic")
    }

    pub(super) fn seeds(&self) -> MutexGuard<'_, BTreeMap<String, Filled>> {
        self.seeds.lock().expect("no holder of this lock can panic")
    }

    /// Removes a cluster: its watches end, and its URL leads nowhere. If it was being filled for a seed, that seed is left to the next request for it.
    pub(super) fn remove(&self, name: &str) {
        let removed = self.all().remove(name);
        self.beside.remove(name);
        if let Some(cluster) = removed {
            cluster.end();
            self.changes.send_modify(|changes| *changes += 1);
        }
    }

    /// A name that no cluster has had that was given one.
    pub(super) fn next(&self, beginning: &str) -> String {
        let mut named = self.named.lock().expect("no holder of this lock can panic");
        *named += 1;
        format!("{beginning}-{named}")
    }
}

impl<Server> Default for Clusters<Server> {
    fn default() -> Clusters<Server> {
        let (beside, all, seeds, changes, seeding, named) = Default::default();
        Clusters { beside, all, seeds, changes, seeding, named }
    }
}
