//! The engine: it turns events into works, and lets the reconcilers do them, in a task of its own.

use super::event::{Event, EventSink};
use super::queue::{Queue, Run, RunEnd, Work};
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use super::ticket::Ticket;
use crate::error::ApiError;
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The reconcilers of a cluster, with their works.
pub(super) struct Engine {
    pub(super) cluster: Shared,
    /// In the order in which works that are ready at the same time are done.
    pub(super) reconcilers: Vec<Arc<dyn Reconciler>>,
    pub(super) queue: Queue,
}

impl Engine {
    /// Does all works until the queue ends: one after the other, except that a work which waits for something holds up none.
    pub(super) async fn run(self: Arc<Self>) {
        let mut runs = FuturesUnordered::new();
        loop {
            // A work is begun when no other one can proceed: so their order is the same on every run.
            tokio::select! {
                biased;
                () = self.queue.stopped() => return,
                Some(()) = runs.next() => {}
                (work, run) = self.queue.next() => runs.push(self.perform(work, run)),
            }
        }
    }

    async fn perform(self: &Arc<Self>, work: Work, run: Run) {
        let ticket = Ticket::new(&**self, Some(work.reconciler));
        let context = Context::new(&self.cluster, &ticket, &run);
        let sync = self.reconcilers[work.reconciler].sync(&work.key, &context);
        let outcome = AssertUnwindSafe(sync).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(ApiError::internal("it panicked")));
        if let Err(error) = &outcome {
            tracing::error!(?work, %error, "Reconciling failed");
        }
        self.queue.end(&work, outcome.is_ok());
        ticket.done().await;
        run.end.cancel();
    }
}

impl EventSink for Engine {
    fn note(&self, event: &Event<'_>, by: Option<usize>) -> Vec<RunEnd> {
        let mut ends = Vec::new();
        for (reconciler, one) in self.reconcilers.iter().enumerate().filter(|(index, _)| by != Some(*index)) {
            let keys = one.wants(event, &self.cluster);
            ends.extend(keys.into_iter().map(|key| self.queue.add(Work { reconciler, key })));
        }
        ends
    }

    fn add(&self, work: Work) -> RunEnd {
        self.queue.add(work)
    }
}

#[cfg(test)]
mod tests;
