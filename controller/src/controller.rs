//! Controllers: informers that report events, and tasks that process them.
//!
//! A controller runs by itself, or [step](Controller::step) by step in the hands of a test:
//!
//! ```text
//!             pause                  step: one key is synced
//!   working ─────────▶ paused ◀───────┐
//!      ▲                  │  └────────┘
//!      └──────────────────┘ resume
//! ```
//!
//! Events during a pause are queued.

use crate::client_go::informer::Informer;
use crate::client_go::workqueue::Activity;
use crate::client_go::workqueue::metrics::QueueMetrics;
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

/// An informer of objects of any kind.
pub trait Source: Send + Sync {
    /// Lists and watches through `client`, for ever.
    fn follow(&self, client: Client) -> BoxFuture<'_, ()>;
    /// Waits until the first list is complete (`HasSynced`).
    fn known(&self) -> BoxFuture<'_, ()>;
    /// Waits until it has caught up with what `client` lists.
    ///
    /// # Errors
    /// If the objects cannot be listed.
    fn up_to_date(&self, client: Client) -> BoxFuture<'_, kube::Result<()>>;
}

impl<K> Source for Informer<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    fn follow(&self, client: Client) -> BoxFuture<'_, ()> {
        self.run(Api::all(client)).boxed()
    }

    fn known(&self) -> BoxFuture<'_, ()> {
        self.synced().boxed()
    }

    fn up_to_date(&self, client: Client) -> BoxFuture<'_, kube::Result<()>> {
        Box::pin(async { self.caught_up(&Api::all(client)).await })
    }
}

/// A task of a controller: mostly a [`Worker`](crate::worker::Worker) with its queue.
pub trait Task: Send + Sync {
    /// Processes up to `workers` keys at a time until `stop`; returns when those in progress are done.
    fn work<'a>(&'a self, workers: usize, stop: &'a CancellationToken) -> BoxFuture<'a, ()>;
    /// Records metrics from now on.
    fn measure(&self, metrics: &QueueMetrics);
    /// The current activity.
    fn activity(&self) -> Activity;
    /// Waits until it is idle.
    fn idle(&self) -> BoxFuture<'_, Activity>;
    /// Pauses; waits until the keys in progress are done.
    fn pause(&self) -> BoxFuture<'_, ()>;
    /// Ends a pause.
    fn resume(&self);
    /// Processes the next key, even in a pause, and returns it; `None` if there is none.
    fn step(&self) -> BoxFuture<'_, Option<String>>;
}

/// A controller. It does nothing until it is [`run`](Self::run), but queues events from the start.
pub struct Controller {
    client: Client,
    informers: Vec<Arc<dyn Source>>,
    tasks: Vec<Box<dyn Task>>,
    paused: AtomicBool,
}

impl Controller {
    /// A controller that acts through `client`, and works on `tasks` once the informers have synced.
    pub fn new(client: Client, informers: Vec<Arc<dyn Source>>, tasks: Vec<Box<dyn Task>>) -> Self {
        Controller { client, informers, tasks, paused: AtomicBool::new(false) }
    }

    /// Runs the informers and, once they have synced, `workers` workers on each task, until `stop`. Returns when the syncs
    /// in progress have ended.
    pub async fn run(&self, workers: usize, stop: CancellationToken) {
        let informers = self.informers.iter().map(|informer| informer.follow(self.client.clone()));
        tokio::select! {
            _ = join_all(informers) => {}
            () = self.work(workers, stop) => {}
        }
    }

    /// [`run`](Self::run) without the informers, which the caller runs or fills.
    pub async fn work(&self, workers: usize, stop: CancellationToken) {
        let known = join_all(self.informers.iter().map(|informer| informer.known()));
        if stop.run_until_cancelled(known).await.is_none() {
            return;
        }
        debug!(workers, "starting workers");
        join_all(self.tasks.iter().map(|task| task.work(workers, &stop))).await;
        info!("controller stopped");
    }

    /// Records metrics of its queues from now on.
    pub fn measure(&self, metrics: &QueueMetrics) {
        self.tasks.iter().for_each(|task| task.measure(metrics));
    }

    /// The informers that it listens to, so that several controllers can share them.
    pub fn informers(&self) -> &[Arc<dyn Source>] {
        &self.informers
    }

    /// Waits until nothing is queued, delayed or being synced, without waiting for the informers.
    pub async fn idle(&self) {
        self.idle_activity().await;
    }

    /// Waits until the controller has nothing left to do as long as no other client writes: it is idle, and the informers have
    /// caught up with what `client` lists. Never ends if the controller and its informers do not run. Use another client than
    /// the controller's own, so that these lists are not taken for its calls.
    ///
    /// # Errors
    /// If `client` cannot list the informers' objects.
    pub async fn quiet(&self, client: &Client) -> kube::Result<()> {
        loop {
            let before = self.idle_activity().await;
            self.caught_up(client).await?;
            if self.idle_activity().await == before {
                return Ok(());
            }
        }
    }

    /// Pauses the controller; waits until the syncs in progress have ended.
    pub async fn pause(&self) {
        self.paused.store(true, Ordering::Relaxed);
        join_all(self.tasks.iter().map(|task| task.pause())).await;
    }

    /// Resumes the controller after a pause.
    pub fn resume(&self) {
        self.paused.store(false, Ordering::Relaxed);
        self.tasks.iter().for_each(|task| task.resume());
    }

    /// Whether the controller is paused.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Syncs the next key of a paused controller, once the informers have caught up with what `client` lists, and returns it.
    /// A key that waits to be retried is next when no other key is due. `None` if no key is left.
    ///
    /// # Errors
    /// If `client` cannot list the informers' objects.
    pub async fn step(&self, client: &Client) -> kube::Result<Option<String>> {
        self.caught_up(client).await?;
        for task in &self.tasks {
            if let Some(key) = task.step().await {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// The number of keys that its queues ever handed out; equal counts mean that nothing happened in between.
    pub fn handed_out(&self) -> u64 {
        self.tasks.iter().map(|task| task.activity().handed_out).sum()
    }

    /// Whether nothing is queued, delayed or being synced now.
    pub fn is_idle(&self) -> bool {
        self.tasks.iter().all(|task| task.activity().idle)
    }

    async fn caught_up(&self, client: &Client) -> kube::Result<()> {
        for informer in &self.informers {
            informer.up_to_date(client.clone()).await?;
        }
        Ok(())
    }

    /// Waits until all tasks are idle at the same time.
    async fn idle_activity(&self) -> Vec<Activity> {
        loop {
            let mut idle = Vec::with_capacity(self.tasks.len());
            for task in &self.tasks {
                idle.push(task.idle().await);
            }
            if self.tasks.iter().map(|task| task.activity()).eq(idle.iter().copied()) {
                return idle;
            }
        }
    }
}
