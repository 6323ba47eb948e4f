//! The schedule of the cleaner's evaluations: one at once, then one after each pause.
//!
//! An evaluation is a key in a queue, so that it can be paused and stepped. A step always finds it there: it does not wait
//! for the pause to end.

use super::cleaner::Cleaner;
use crate::client_go::workqueue::metrics::QueueMetrics;
use crate::client_go::workqueue::{Activity, RateLimitingQueue};
use crate::controller::Task;
use crate::worker::{Outcome, Worker};
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The only key of the queue.
pub const EVALUATION: &str = "evaluation";

pub(super) struct Evaluations {
    queue: Arc<RateLimitingQueue<&'static str>>,
    worker: Worker<&'static str>,
    pause: Duration,
}

impl Evaluations {
    /// Evaluations by `cleaner`, of which the first is due.
    pub(super) fn new(cleaner: Cleaner, pause: Duration) -> Self {
        let queue = Arc::new(RateLimitingQueue::new());
        queue.add(EVALUATION);
        let cleaner = Arc::new(cleaner);
        let worker = Worker::new("", queue.clone(), None, move |_| {
            let cleaner = cleaner.clone();
            async move {
                cleaner.evaluate().await;
                Outcome::Forget
            }
        });
        Evaluations { queue, worker, pause }
    }

    async fn keep_time(&self) {
        loop {
            self.queue.idle().await;
            tokio::time::sleep(self.pause).await;
            self.queue.add(EVALUATION);
        }
    }
}

impl Task for Evaluations {
    /// One evaluation at a time, whatever the number of workers.
    fn work<'a>(&'a self, _: usize, stop: &'a CancellationToken) -> BoxFuture<'a, ()> {
        Box::pin(async {
            tokio::select! {
                () = self.worker.work(1, stop) => {}
                () = self.keep_time() => {}
            }
        })
    }

    /// Upstream has no queue to measure.
    fn measure(&self, _: &QueueMetrics) {}

    fn activity(&self) -> Activity {
        self.worker.activity()
    }

    fn idle(&self) -> BoxFuture<'_, Activity> {
        self.worker.idle()
    }

    fn pause(&self) -> BoxFuture<'_, ()> {
        self.worker.pause()
    }

    fn resume(&self) {
        self.worker.resume();
    }

    fn step(&self) -> BoxFuture<'_, Option<String>> {
        self.queue.add(EVALUATION);
        self.worker.step()
    }
}
