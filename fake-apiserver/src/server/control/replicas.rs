//! The orders about replicas.

use crate::clock::OffsetClock;
use crate::reconcile::bootstrap;
use crate::server::{FakeApiServer, RunningReplica};
use control::recording::What;
use control::{Answer, Cause, Order, Refusal, ReplicaChange, Running, ViewState};
use std::sync::Arc;

impl FakeApiServer {
    /// Adds a replica: another server of the same objects, on free ports at the addresses of the first one, with its flags. Its clock has that
    /// error, in seconds (negative: behind).
    ///
    /// # Errors
    /// If there are 100 replicas, or no more ports.
    pub async fn add_replica(&self, clock_offset_seconds: i64) -> Result<Arc<RunningReplica>, Refusal> {
        let added = self.replicas.add(|first, index| {
            let clock = OffsetClock::new(self.cluster.reconcilers.cluster().clock.clone(), clock_offset_seconds);
            let mut replica = first.inner().like(index, &self.cluster, &clock, self.shutdown.clone());
            replica.beside = first.inner().beside.clone();
            let failed = |error| Refusal::conflict("replicas", &index.to_string(), error);
            RunningReplica::beside(first, Arc::new(replica), clock).map_err(failed)
        })?;
        let joined = bootstrap::join(&self.cluster.reconcilers, added.inner().index, added.address()).await;
        joined.map_err(Refusal::internal)?;
        let order = Order::AddReplica { clock_offset_seconds };
        self.cluster.log.recorder().note(move || What::Order(Box::new(order)));
        Ok(added)
    }

    pub(super) fn checked_replica(&self, index: usize) -> Result<Arc<RunningReplica>, Refusal> {
        let hint = format!("; there are {}, counted from 0", self.replicas.len());
        self.replicas.get(index).ok_or_else(|| Refusal::not_found("replicas", &index.to_string(), &hint))
    }

    pub(super) async fn change_replica(&self, change: &ReplicaChange) -> Result<Answer, Refusal> {
        let replica = self.checked_replica(change.replica)?;
        if change.state == Some(Running::Stopped) && !replica.has_ports() {
            let why = "it has no ports of its own: it is reached through those of the first cluster";
            return Err(Refusal::conflict("replicas", &change.replica.to_string(), why));
        }
        if change.hold_only.is_some() && change.view != Some(ViewState::Held) {
            let cause = Cause::invalid("holdOnly", "...", "it goes with view \"held\"");
            return Err(Refusal::invalid("replicas", &change.replica.to_string(), vec![cause]));
        }
        // The changes that can be refused come first: a refused order changes nothing.
        if let Some(objects) = &change.hold_only {
            replica.hold_only(objects.clone())?;
        }
        if let Some(state) = change.state {
            self.set_replica(change.replica, &replica, state).await?;
        }
        match change.view {
            Some(ViewState::Held) if change.hold_only.is_none() => replica.hold(),
            Some(ViewState::Held) => {}
            Some(ViewState::Live) => replica.release(),
            None => {}
        }
        if let Some(seconds) = change.clock_offset_seconds {
            replica.set_clock_offset(seconds);
        }
        if change.watches.is_some() {
            replica.disconnect_watches();
        }
        Ok(Answer::Done {})
    }

    async fn set_replica(&self, index: usize, replica: &RunningReplica, state: Running) -> Result<(), Refusal> {
        if state == Running::Stopped {
            replica.stop().await;
        } else if replica.is_stopped() {
            let failed = |error| Refusal::conflict("replicas", &index.to_string(), error);
            replica.start().await.map_err(failed)?;
        }
        replica.set_unready(state == Running::Unready);
        Ok(())
    }
}
