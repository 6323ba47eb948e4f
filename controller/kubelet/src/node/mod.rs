//! A node that makes the volumes of the pods that are bound to it, on any API server, without containers.
//!
//! ```text
//!   pods of the node ──watch──▶ Pods ──due──▶ worker ──▶ volumes, tokens, events, finished deletions
//!                                 ▲              │
//!                    clock ───────┴──── done ◀───┘
//! ```
//!
//! A pod's volumes are set up when it is first seen, and synced with each of its changes and after each sync frequency.
//! A sync renews tokens, too. When a pod ends or is deleted, its directory is removed; directories of unknown pods
//! are removed at the start. Unlike a kubelet the node runs nothing, mounts nothing and writes no status; the
//! time between two syncs is not jittered; a pod that is being deleted is torn down at once, without a grace period.
//! As there are no containers, volumes that no container mounts are set up as well. A pod's secrets and config maps are
//! cached until its tear-down starts, and not, as by a kubelet, until it is over: removing files needs no reads.
//!
//! All times are those of the given clock. [`Node::settled`] waits until nothing is left to do at the time that the clock
//! shows.

mod caches;
mod events;
mod pods;
mod ttl;
mod worker;

use crate::clock::{Clock, SystemClock, plus};
use crate::objects::{Settings, Strategy};
use crate::tokens::{SWEEP_PERIOD, TokenManager};
use crate::volumes::mounter::Mounter;
use crate::volumes::set_up::Volumes;
use crate::volumes::sources::Sources;
use caches::Caches;
use controller::client_go::objects::Objects;
use controller::client_go::reflector::Reflector;
use events::Recorder;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::runtime::watcher;
use kube::{Api, Client};
use pods::{Pods, Work};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use worker::Worker;

/// The number of pods that are worked on at once.
const CONCURRENT_PODS: usize = 64;

/// The options of a node.
#[derive(Clone)]
pub struct Options {
    /// Its name, the `spec.nodeName` of its pods.
    pub name: String,
    /// The root of its pods' directories. All files below `pods/` belong to the node.
    pub root: PathBuf,
    /// The strategy to detect changes of secrets and config maps.
    pub strategy: Strategy,
    /// The time between two syncs of a pod's volumes (`syncFrequency`).
    pub sync_frequency: SignedDuration,
    /// Whether the node finishes the deletion of pods once their volumes are removed.
    pub finish_deletions: bool,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The randomness of the times at which tokens are renewed.
    pub jitter: fastrand::Rng,
}

impl Options {
    /// The options of the node `name` with directories below `root`, and a kubelet's defaults.
    pub fn new(name: impl Into<String>, root: impl Into<PathBuf>) -> Self {
        Options {
            name: name.into(),
            root: root.into(),
            strategy: Strategy::default(),
            sync_frequency: SignedDuration::from_mins(1),
            finish_deletions: true,
            clock: Arc::new(SystemClock),
            jitter: fastrand::Rng::new(),
        }
    }
}

/// A running node. It stops when it is dropped; its files stay.
pub struct Node {
    state: Arc<State>,
    caches: Caches,
    mounted: PathBuf,
    pods: Api<Pod>,
    selection: String,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// An error of waiting for a node.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// The node was stopped.
    #[error("the node was stopped")]
    Stopped,
    /// The pods could not be listed.
    #[error(transparent)]
    List(#[from] kube::Error),
}

/// The state that the node's task shares with its handle.
struct State {
    pods: Mutex<Pods>,
    clock: Arc<dyn Clock>,
    /// Signals that work became due by the handle.
    wake: Notify,
    /// Signals every change.
    changes: watch::Sender<()>,
}

impl State {
    fn pods(&self) -> MutexGuard<'_, Pods> {
        self.pods.lock().expect("no holder of this lock can panic")
    }
}

impl Node {
    /// Starts a node on the current tokio runtime.
    pub fn start(client: Client, options: Options) -> Self {
        let stop = CancellationToken::new();
        let Options { name, root, strategy, sync_frequency, finish_deletions, clock, jitter } = options;
        let settings = Settings {
            clock: clock.clone(),
            sync_frequency,
            node_ttl: ttl::of_node(&client, &name, strategy, &stop),
            shutdown: stop.clone(),
        };
        let caches = Caches::new(strategy, &client, &settings);
        let tokens = Arc::new(TokenManager::new(client.clone(), clock.clone(), jitter));
        let sources = Sources {
            secrets: caches.secrets.clone(),
            config_maps: caches.config_maps.clone(),
            tokens: tokens.clone(),
            nodes: Objects::all(client.clone()),
            node_name: name.clone(),
        };
        let worker = Worker {
            client: client.clone(),
            volumes: Volumes { sources, mounter: Mounter::new(&root, clock.clone()) },
            recorder: Recorder::new(client.clone(), &name, clock.clone()),
            finish_deletions,
        };
        let state = Arc::new(State {
            pods: Mutex::new(Pods::new(sync_frequency)),
            clock,
            wake: Notify::new(),
            changes: watch::Sender::new(()),
        });
        let (pods, selection) = (Api::all(client.clone()), format!("spec.nodeName={name}"));
        let actor = Actor {
            state: state.clone(),
            worker: Arc::new(worker),
            caches: caches.clone(),
            tokens,
            stop: stop.clone(),
        };
        info!(node = name, root = %root.display(), %strategy, "node started");
        let task = tokio::spawn(actor.run(pods.clone(), selection.clone()));
        Node { state, caches, mounted: root.join("pods"), pods, selection, stop, task }
    }

    /// Waits until all work is done that is due at the time that the clock shows: every pod of a fresh list is known in
    /// that version and has been synced, and all other pods are gone.
    ///
    /// # Errors
    /// If the pods cannot be listed, or the node is stopped.
    pub async fn settled(&self) -> Result<(), SettleError> {
        let mut changes = self.state.changes.subscribe();
        loop {
            changes.mark_unchanged();
            if self.is_idle() {
                let live = self.pods.list(&ListParams::default().fields(&self.selection)).await?;
                if self.state.pods().is_equal_to(&live.items) && self.is_idle() {
                    return Ok(());
                }
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = self.stop.cancelled() => return Err(SettleError::Stopped),
            }
        }
    }

    /// Waits until the watched secrets and config maps of the known pods are as the API server has them; with other
    /// strategies than `Watch` it returns at once. Call it between a change and the sync that has to see it. Use another
    /// client than the node's own, to tell these reads from the node's requests.
    ///
    /// # Errors
    /// If an object cannot be read.
    pub async fn caught_up(&self, observer: &Client) -> kube::Result<()> {
        let pods = self.state.pods().wanted();
        self.caches.caught_up(observer, &pods).await
    }

    /// Makes all volumes due now.
    pub fn sync_now(&self) {
        self.state.pods().make_all_due(self.state.clock.now());
        self.state.wake.notify_one();
    }

    /// The directory of the pod with that uid, which need not exist.
    pub fn pod_directory(&self, uid: &str) -> PathBuf {
        self.mounted.join(uid)
    }

    /// The directory of all pods' directories.
    pub fn pods_directory(&self) -> &Path {
        &self.mounted
    }

    /// Stops the node and waits for its end. Nothing is written to disk afterwards.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Err(error) = (&mut self.task).await {
            error!(%error, "the node did not end well");
        }
    }

    fn is_idle(&self) -> bool {
        self.state.pods().is_idle(self.state.clock.now())
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("selection", &self.selection)
            .field("pods", &self.state.pods)
            .finish_non_exhaustive()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The task that alone changes the state.
struct Actor {
    state: Arc<State>,
    worker: Arc<Worker>,
    caches: Caches,
    tokens: Arc<TokenManager>,
    stop: CancellationToken,
}

impl Actor {
    async fn run(self, pods: Api<Pod>, selection: String) {
        let mut events = Reflector::new(pods, watcher::Config::default().fields(&selection));
        let mut listed = Vec::new();
        let mut tasks = JoinSet::new();
        let mut sweep_due = plus(self.state.clock.now(), SWEEP_PERIOD);
        loop {
            let now = self.state.clock.now();
            let due = self.state.pods().take_due(now, CONCURRENT_PODS - tasks.len());
            for work in due {
                if let Work::TearDown { pod, .. } = &work {
                    self.caches.unregister(pod);
                }
                let worker = self.worker.clone();
                tasks.spawn(async move { (worker.run(&work).await, work) });
            }
            self.state.changes.send_replace(());
            let waiting = self.state.pods().next_due().filter(|_| tasks.len() < CONCURRENT_PODS);
            tokio::select! {
                event = events.next() => self.observe(event, &mut listed).await,
                Some(done) = tasks.join_next() => self.done(done),
                () = self.until(waiting) => {}
                () = self.until(Some(sweep_due)) => {
                    self.tokens.sweep();
                    sweep_due = plus(self.state.clock.now(), SWEEP_PERIOD);
                }
                () = self.state.wake.notified() => {}
                () = self.stop.cancelled() => break,
            }
        }
        tasks.shutdown().await;
        // Writes that have begun go on without their callers.
        self.worker.volumes.mounter.finished().await;
    }

    /// Completes at `time`; never without one.
    async fn until(&self, time: Option<Timestamp>) {
        match time {
            Some(time) => self.state.clock.sleep_until(time).await,
            None => std::future::pending().await,
        }
    }

    async fn observe(&self, event: Result<watcher::Event<Pod>, watcher::Error>, listed: &mut Vec<Pod>) {
        let now = self.state.clock.now();
        let wanted = match event {
            Ok(watcher::Event::Init) => {
                listed.clear();
                Vec::new()
            }
            Ok(watcher::Event::InitApply(pod)) => {
                listed.push(pod);
                Vec::new()
            }
            Ok(watcher::Event::InitDone) => {
                let (wanted, first) = self.state.pods().listed(std::mem::take(listed), now);
                if first {
                    self.remove_orphans().await;
                }
                wanted
            }
            Ok(watcher::Event::Apply(pod)) => Vec::from_iter(self.state.pods().observe(pod, now)),
            Ok(watcher::Event::Delete(pod)) => {
                self.state.pods().forgotten(pod.metadata.uid.as_deref().unwrap_or_default(), now);
                Vec::new()
            }
            Err(error) => {
                warn!(%error, "watch of pods failed, trying again");
                Vec::new()
            }
        };
        wanted.iter().for_each(|pod| self.caches.register(pod));
    }

    fn done(&self, done: Result<(bool, Work), tokio::task::JoinError>) {
        match done {
            Ok((success, work)) => self.state.pods().done(&work, success, self.state.clock.now()),
            // Our tasks neither panic nor are aborted; should one, the pod is lost but the node goes on.
            Err(error) => error!(%error, "work on a pod ended abnormally"),
        }
    }

    /// Removes the directories of pods that the node does not know.
    async fn remove_orphans(&self) {
        let on_disk = self.worker.volumes.mounter.pods_on_disk().await.unwrap_or_else(|error| {
            warn!(%error, "could not look for orphaned pods");
            Vec::new()
        });
        for uid in on_disk.into_iter().filter(|uid| !self.state.pods().is_known(uid)) {
            match self.worker.volumes.tear_down(&uid).await {
                Ok(()) => info!(uid, "Cleaned up orphaned pod volumes dir"),
                Err(error) => error!(uid, %error, "Failed to remove orphaned pod volumes dir"),
            }
        }
    }
}
