//! The consequences of a request: reconcilers deal with them before it is answered, as long as it has time.

use crate::audit::RequestRecord;
use crate::http::replica::Replica;
use crate::reconcile::Ticket;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The consequences of a request, and what waits for them.
pub(super) struct Consequences {
    replica: Arc<Replica>,
    pub(super) ticket: Arc<Ticket>,
    /// The time at which the request is answered even if they are not dealt with.
    until: OnceLock<Instant>,
    /// The record of the request: who sees it there finds the consequences done.
    record: Mutex<Option<Box<RequestRecord>>>,
}

impl Consequences {
    /// Those of a request: none so far.
    pub(super) fn of(replica: &Arc<Replica>) -> Self {
        let ticket = replica.cluster.reconcilers.ticket();
        Consequences { replica: replica.clone(), ticket, until: OnceLock::new(), record: Mutex::default() }
    }

    /// Limits the wait for them, given the time that the request has from now on. A tenth of it is left to the response.
    pub(super) fn limit(&self, time: Duration) {
        self.until.get_or_init(|| Instant::now() + time / 10 * 9);
    }

    /// Adds the request to the log, after them.
    pub(super) fn record(&self, record: RequestRecord) {
        *self.record.lock().expect("no holder of this lock can panic") = Some(record.into());
    }

    /// The answer, after its consequences. They are waited for where connections are served, not where requests compute.
    pub(super) async fn before<A>(self: Arc<Self>, answer: impl Future<Output = A>) -> A {
        let answer = answer.await;
        let done = self.ticket.done();
        match self.until.get() {
            Some(until) => drop(timeout_at(*until, done).await),
            None => done.await,
        }
        self.log();
        answer
    }

    fn log(&self) {
        let record = self.record.lock().expect("no holder of this lock can panic").take();
        if let Some(record) = record {
            self.replica.cluster.log.add(*record);
        }
    }
}

impl Drop for Consequences {
    /// Logs a request whose client has gone, or got its answer before the verb ended.
    fn drop(&mut self) {
        self.log();
    }
}
