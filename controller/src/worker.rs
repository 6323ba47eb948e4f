//! The worker: syncs the keys of a queue one after the other, and retries those that failed.
//!
//! ```text
//!   queue ──▶ sync ──▶ Forget ──▶ its failures are forgotten
//!     ▲         │
//!     │         └────▶ Retry ───▶ with retries left: back to the queue, with growing delays
//!     └────────────────────┘      without: forgotten too, until the next event
//! ```

use crate::client_go::workqueue::metrics::QueueMetrics;
use crate::client_go::workqueue::{Activity, RateLimitingQueue};
use crate::controller::Task;
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

/// The outcome of a sync for the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Forget the failures of the key.
    Forget,
    /// Retry later, unless there were too many failures.
    Retry,
}

impl Outcome {
    /// Retries `key` if `result` is an error, which is logged.
    pub fn of<E: Display>(key: &impl Debug, result: Result<(), E>) -> Self {
        match result {
            Ok(()) => Outcome::Forget,
            Err(error) => {
                error!(?key, %error, "sync failed, trying again");
                Outcome::Retry
            }
        }
    }
}

/// A queue and the sync of its keys.
pub struct Worker<K> {
    name: &'static str,
    queue: Arc<RateLimitingQueue<K>>,
    max_retries: Option<u32>,
    sync: Box<dyn Fn(K) -> BoxFuture<'static, Outcome> + Send + Sync>,
}

impl<K: Clone + Debug + Eq + Hash> Worker<K> {
    /// A worker that calls `sync` for the keys of `queue`, whose metrics are named `name`. A failing key is retried
    /// `max_retries` times; `None` is for ever.
    pub fn new<F>(
        name: &'static str,
        queue: Arc<RateLimitingQueue<K>>,
        max_retries: Option<u32>,
        sync: impl Fn(K) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        Worker { name, queue, max_retries, sync: Box::new(move |key| sync(key).boxed()) }
    }

    async fn drain(&self, stop: &CancellationToken) {
        while !stop.is_cancelled()
            && let Some(key) = self.queue.get().await
        {
            self.process(&key).await;
        }
    }

    async fn process(&self, key: &K) {
        let queue = &self.queue;
        match (self.sync)(key.clone()).await {
            Outcome::Forget => queue.forget(key),
            Outcome::Retry if self.max_retries.is_none_or(|max| queue.num_requeues(key) < max) => {
                queue.add_rate_limited(key.clone());
            }
            Outcome::Retry => {
                debug!(?key, retries = queue.num_requeues(key), "retried too often, giving up");
                queue.forget(key);
            }
        }
        queue.done(key);
    }
}

impl<K: Clone + Display + Debug + Eq + Hash + Send + Sync> Task for Worker<K> {
    fn work<'a>(&'a self, workers: usize, stop: &'a CancellationToken) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let shut_down = async {
                stop.cancelled().await;
                self.queue.shut_down();
            };
            tokio::join!(join_all((0..workers).map(|_| self.drain(stop))), shut_down);
        })
    }

    fn measure(&self, metrics: &QueueMetrics) {
        self.queue.measure(metrics, self.name);
    }

    fn activity(&self) -> Activity {
        self.queue.activity()
    }

    fn idle(&self) -> BoxFuture<'_, Activity> {
        self.queue.idle().boxed()
    }

    fn pause(&self) -> BoxFuture<'_, ()> {
        self.queue.pause();
        self.queue.resting().boxed()
    }

    fn resume(&self) {
        self.queue.resume();
    }

    fn step(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async {
            let key = self.queue.take_at_once()?;
            self.process(&key).await;
            Some(key.to_string())
        })
    }
}
