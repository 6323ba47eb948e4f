//! The engine: it turns events into works, and lets the reconcilers do them, in a task that it has while there are any.

use super::event::{Event, EventSink};
use super::loopback::Loopback;
use super::queue::{Queue, Run, RunEnd, Work};
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use super::ticket::Ticket;
use crate::error::ApiError;
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The reconcilers of a cluster, with their works.
pub(super) struct Engine {
    pub(super) cluster: Shared,
    /// The server that they send requests to.
    loopback: Arc<dyn Loopback>,
    /// In the order in which works that are ready at the same time are done.
    pub(super) reconcilers: Vec<Arc<dyn Reconciler>>,
    queue: Queue,
    /// Whether its task goes on.
    is_running: AtomicBool,
    tasks: TaskTracker,
    runtime: Handle,
    own: Weak<Engine>,
}

impl Engine {
    /// An engine of those reconcilers, whose tasks run there, until `stop`.
    pub(super) fn new(
        cluster: Shared,
        loopback: Arc<dyn Loopback>,
        reconcilers: Vec<Arc<dyn Reconciler>>,
        stop: CancellationToken,
        runtime: Handle,
    ) -> Arc<Self> {
        let tasks = TaskTracker::new();
        tasks.close();
        Arc::new_cyclic(|own| Engine {
            cluster,
            loopback,
            reconcilers,
            queue: Queue::new(stop),
            is_running: AtomicBool::new(false),
            tasks,
            runtime,
            own: own.clone(),
        })
    }

    /// The runtime of its tasks.
    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Adds a work, and sees to it that it is done.
    fn put(&self, work: Work) -> RunEnd {
        let end = self.queue.add(work);
        if !self.queue.has_ended()
            && !self.is_running.swap(true, Ordering::AcqRel)
            && let Some(own) = self.own.upgrade()
        {
            self.tasks.spawn_on(own.run(), &self.runtime);
        }
        end
    }

    /// Completes when there is nothing left to do but what fails again and again, or nothing more will be done.
    pub(super) async fn rested(&self) {
        tokio::select! {
            () = self.tasks.wait() => {}
            () = self.queue.rested(), if !self.queue.has_ended() => {}
        }
    }

    /// Does all works, until there are none, or the queue ends.
    async fn run(self: Arc<Self>) {
        loop {
            self.work().await;
            self.is_running.store(false, Ordering::Release);
            // What was added meanwhile has started no other task.
            let is_over = self.queue.is_empty() || self.queue.has_ended();
            if is_over || self.is_running.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }

    /// Does works one after the other, except that a work which waits for something holds up none.
    async fn work(self: &Arc<Self>) {
        let mut runs = FuturesUnordered::new();
        while !self.queue.is_empty() || !runs.is_empty() {
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
        let context = Context::new(&self.cluster, &*self.loopback, &ticket, &run);
        let reconciler = &self.reconcilers[work.reconciler];
        let sync = reconciler.sync(&work.key, &context);
        let outcome = AssertUnwindSafe(sync).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(ApiError::internal("it panicked")));
        if let Err(error) = &outcome {
            tracing::error!(?work, %error, "Reconciling failed");
        }
        self.queue.end(&work, outcome.map_err(|_| reconciler.longest_delay()));
        ticket.done().await;
        run.end.cancel();
    }
}

impl EventSink for Engine {
    fn note(&self, event: &Event<'_>, by: Option<usize>) -> Vec<RunEnd> {
        let mut ends = Vec::new();
        for (reconciler, one) in self.reconcilers.iter().enumerate().filter(|(index, _)| by != Some(*index)) {
            let keys = one.wants(event, &self.cluster);
            ends.extend(keys.into_iter().map(|key| self.put(Work { reconciler, key })));
        }
        ends
    }

    fn add(&self, work: Work) -> RunEnd {
        self.put(work)
    }

    fn add_later(&self, work: Work, after: Duration) {
        let (own, queue_ends) = (self.own.clone(), self.queue.end_of_all());
        self.runtime.spawn(async move {
            tokio::select! {
                () = queue_ends.cancelled() => {}
                // A run that is in progress is not to be disturbed: who waits for it would be told too early.
                () = sleep(after) => drop(own.upgrade().filter(|own| !own.queue.has(&work)).map(|own| own.put(work))),
            }
        });
    }
}

#[cfg(test)]
mod tests;
