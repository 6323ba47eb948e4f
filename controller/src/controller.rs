//! What all controllers have in common: informers that tell them what happened, and tasks that they work on.
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
//! What happens during a pause is noticed and waits in the queues.

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
    /// Keeps it current through `client`, for ever.
    fn follow(&self, client: Client) -> BoxFuture<'_, ()>;
    /// Waits until it knew everything once.
    fn known(&self) -> BoxFuture<'_, ()>;
    /// Waits until it knows all that `client` sees.
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

/// Something that a controller works on: mostly a [`Worker`](crate::worker::Worker) with its queue.
pub trait Task: Send + Sync {
    /// Works, on `workers` things at a time, until `stop`; returns when what is in progress has ended.
    fn work<'a>(&'a self, workers: usize, stop: &'a CancellationToken) -> BoxFuture<'a, ()>;
    /// Counts and measures what it does from now on.
    fn measure(&self, metrics: &QueueMetrics);
    /// How busy it is now.
    fn activity(&self) -> Activity;
    /// Waits until there is nothing to do.
    fn idle(&self) -> BoxFuture<'_, Activity>;
    /// Begins nothing new from now on; waits until what is in progress has ended.
    fn pause(&self) -> BoxFuture<'_, ()>;
    /// Ends a pause.
    fn resume(&self);
    /// Does the next thing there is to do, even in a pause, and says what it was.
    fn step(&self) -> BoxFuture<'_, Option<String>>;
}

/// A controller. It does nothing until it is [`run`](Self::run), but queues what its informers report from the start.
pub struct Controller {
    client: Client,
    informers: Vec<Arc<dyn Source>>,
    tasks: Vec<Box<dyn Task>>,
    paused: AtomicBool,
}

impl Controller {
    /// A controller that acts through `client`, and works on `tasks` once the informers know everything.
    pub fn new(client: Client, informers: Vec<Arc<dyn Source>>, tasks: Vec<Box<dyn Task>>) -> Self {
        Controller { client, informers, tasks, paused: AtomicBool::new(false) }
    }

    /// Runs the informers and, once they know everything, `workers` workers on each task, until `stop`. Returns when the
    /// syncs in progress have ended.
    pub async fn run(&self, workers: usize, stop: CancellationToken) {
        let informers = self.informers.iter().map(|informer| informer.follow(self.client.clone()));
        tokio::select! {
            _ = join_all(informers) => {}
            () = self.work(workers, stop) => {}
        }
    }

    /// [`run`](Self::run) without the informers, which somebody else runs or fills.
    pub async fn work(&self, workers: usize, stop: CancellationToken) {
        let known = join_all(self.informers.iter().map(|informer| informer.known()));
        if stop.run_until_cancelled(known).await.is_none() {
            return;
        }
        debug!(workers, "starting workers");
        join_all(self.tasks.iter().map(|task| task.work(workers, &stop))).await;
        info!("controller stopped");
    }

    /// Counts and measures from now on what happens in its queues.
    pub fn measure(&self, metrics: &QueueMetrics) {
        self.tasks.iter().for_each(|task| task.measure(metrics));
    }

    /// The informers that it listens to, so that several controllers can share them.
    pub fn informers(&self) -> &[Arc<dyn Source>] {
        &self.informers
    }

    /// Waits until nothing is queued, delayed or being synced. What the informers have yet to report is not waited for.
    pub async fn idle(&self) {
        self.idle_activity().await;
    }

    /// Waits until the controller has done all it will do, if nobody else changes anything: it is idle, and the
    /// informers have reported all that `client` sees. Never ends if the controller and its informers do not run. Give it
    /// another client than the controller's own, to tell these lists from the controller's calls.
    ///
    /// # Errors
    /// If `client` cannot list what the informers know.
    pub async fn quiet(&self, client: &Client) -> kube::Result<()> {
        loop {
            let before = self.idle_activity().await;
            self.caught_up(client).await?;
            if self.idle_activity().await == before {
                return Ok(());
            }
        }
    }

    /// Begins no sync from now on; waits until those in progress have ended.
    pub async fn pause(&self) {
        self.paused.store(true, Ordering::Relaxed);
        join_all(self.tasks.iter().map(|task| task.pause())).await;
    }

    /// Goes on after a pause.
    pub fn resume(&self) {
        self.paused.store(false, Ordering::Relaxed);
        self.tasks.iter().for_each(|task| task.resume());
    }

    /// The controller is paused.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// In a pause: syncs the next key, once the informers know all that `client` sees, and says which. A key that waits
    /// to be retried is next when there is no other. `None` if no key is left.
    ///
    /// # Errors
    /// If `client` cannot list what the informers know.
    pub async fn step(&self, client: &Client) -> kube::Result<Option<String>> {
        self.caught_up(client).await?;
        for task in &self.tasks {
            if let Some(key) = task.step().await {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// How many keys its queues ever handed out; equal counts mean that nothing happened in between.
    pub fn handed_out(&self) -> u64 {
        self.tasks.iter().map(|task| task.activity().handed_out).sum()
    }

    async fn caught_up(&self, client: &Client) -> kube::Result<()> {
        for informer in &self.informers {
            informer.up_to_date(client.clone()).await?;
        }
        Ok(())
    }

    /// Waits for a moment in which all tasks are idle.
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
