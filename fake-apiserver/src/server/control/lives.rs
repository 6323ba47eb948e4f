//! The lives of clusters: those that were abandoned are removed.
//!
//! ```text
//!   a request, a hold ──▶ the time begins anew ──▶ it is over, and no watch is open ──▶ removed
//! ```

use super::known::{Clusters, End};
use crate::cluster::Cluster;
use crate::threads;
use control::{Cause, NewCluster, Refusal};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The longest time for which a cluster may be abandoned, in seconds: a day.
const LONGEST: u32 = 24 * 3600;

/// The holds of a cluster, if it was made to be held.
#[derive(Default)]
pub(super) struct Holds(Option<watch::Sender<u64>>);

/// A cluster that may be abandoned.
pub(super) struct Life<Server> {
    pub(super) name: String,
    pub(super) cluster: Arc<Cluster>,
    pub(super) clusters: Weak<Clusters<Server>>,
    /// Its end, however it comes.
    pub(super) end: CancellationToken,
}

impl Holds {
    /// The holds of a new cluster.
    pub(super) fn of(new: &NewCluster) -> Holds {
        Holds(new.hold_seconds.map(|_| watch::Sender::new(0)))
    }

    /// Notes that the cluster is still needed; false if it was not made to be held.
    pub(super) fn hold(&self) -> bool {
        let Some(count) = &self.0 else { return false };
        count.send_modify(|count| *count = count.wrapping_add(1));
        true
    }
}

/// Checks the times after which a cluster is removed.
///
/// # Errors
/// 422, if one is out of range or cannot be measured.
pub(super) fn check(new: &NewCluster, records: bool) -> Result<(), Refusal> {
    let name = new.name.as_deref().unwrap_or_default();
    for (field, seconds) in [("idleSeconds", new.idle_seconds), ("holdSeconds", new.hold_seconds)] {
        if let Some(seconds) = seconds.filter(|seconds| !(1..=LONGEST).contains(seconds)) {
            let why = format!("it is a number of seconds from 1 to {LONGEST}");
            return Err(Refusal::invalid("clusters", name, vec![Cause::invalid(field, seconds, why)]));
        }
    }
    match new.idle_seconds {
        Some(_) if !records => {
            Err(Refusal::conflict("clusters", name, "idleSeconds: this server does not record requests"))
        }
        _ => Ok(()),
    }
}

impl<Server: End + Send + Sync + 'static> Life<Server> {
    /// Removes it when it is abandoned.
    pub(super) fn begin(self, new: &NewCluster, holds: &Holds) -> Result<(), Refusal> {
        let life = Arc::new(self);
        let runtime = threads::runtime().map_err(Refusal::internal)?;
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        if let Some(idle) = new.idle_seconds.map(seconds) {
            runtime.spawn(life.clone().ended_by(unused(life.cluster.clone(), idle)));
        }
        if let (Some(longest), Some(held)) = (new.hold_seconds.map(seconds), &holds.0) {
            runtime.spawn(life.ended_by(unheld(longest, held.subscribe())));
        }
        Ok(())
    }

    /// Removes it when something has ended, unless it ends before.
    async fn ended_by(self: Arc<Self>, what: impl Future<Output = ()>) {
        tokio::select! {
            () = self.end.cancelled() => {}
            () = what => {
                if let Some(clusters) = self.clusters.upgrade() {
                    tracing::info!(cluster = self.name, "removed: it was abandoned");
                    clusters.remove(&self.name);
                }
            }
        }
    }
}

/// Ends once there was no request for that time, and no watch is open.
async fn unused(cluster: Arc<Cluster>, longest: Duration) {
    let mut count = cluster.log.count();
    loop {
        match timeout(longest, count.changed()).await {
            Err(_) if cluster.log.watches().is_empty() => return,
            _ => {}
        }
    }
}

/// Ends once nobody has held it for that time.
async fn unheld(longest: Duration, mut held: watch::Receiver<u64>) {
    while let Ok(Ok(())) = timeout(longest, held.changed()).await {}
}
