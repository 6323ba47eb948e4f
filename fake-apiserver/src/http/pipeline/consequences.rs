//! The consequences of a request: reconcilers deal with them before it is answered, as long as it has time.

use crate::cluster::Cluster;
use crate::reconcile::Ticket;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The consequences of a request, and the time at which it is answered even if they are not dealt with.
pub(super) struct Consequences {
    pub(super) ticket: Arc<Ticket>,
    until: OnceLock<Instant>,
}

impl Consequences {
    /// Those of a request to the cluster: none so far.
    pub(super) fn of(cluster: &Cluster) -> Self {
        Consequences { ticket: cluster.reconcilers.ticket(), until: OnceLock::new() }
    }

    /// Limits the wait for them, given the time that the request has from now on. A tenth of it is left to the response.
    pub(super) fn limit(&self, time: Duration) {
        self.until.get_or_init(|| Instant::now() + time / 10 * 9);
    }

    /// The answer, after its consequences. They are waited for where connections are served, not where requests compute.
    pub(super) async fn before<A>(self: Arc<Self>, answer: impl Future<Output = A>) -> A {
        let answer = answer.await;
        let done = self.ticket.done();
        match self.until.get() {
            Some(until) => drop(timeout_at(*until, done).await),
            None => done.await,
        }
        answer
    }
}
