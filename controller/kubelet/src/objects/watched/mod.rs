//! The strategy `Watch`: each referenced object has a watch of its own, as long as it is read from time to time.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/watch_based_manager.go` (`objectCache`).

mod item;
mod references;

use super::registry::Store;
use super::{GetError, PodObject};
use crate::clock::Clock;
use controller::client_go::informer::ObjectKey;
use futures::future::BoxFuture;
use item::Item;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::core::Status;
use kube::core::response::{StatusDetails, reason};
use references::References;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The time that a read waits for the first list.
const FIRST_LIST_TIMEOUT: SignedDuration = SignedDuration::from_secs(1);
/// The time between two searches for idle watches.
const SWEEP_PERIOD: SignedDuration = SignedDuration::from_mins(1);
/// The minimum time for which an object is watched after a read (`minIdleTime`).
const MIN_IDLE: SignedDuration = SignedDuration::from_mins(1);

/// A store of referenced objects, each with a watch.
pub struct WatchedObjects<K> {
    shared: Arc<Shared<K>>,
    /// Ends all watches with this store.
    _stop: DropGuard,
}

struct Shared<K> {
    client: Client,
    clock: Arc<dyn Clock>,
    max_idle: SignedDuration,
    shutdown: CancellationToken,
    entries: Mutex<HashMap<ObjectKey, Entry<K>>>,
}

struct Entry<K> {
    references: References,
    item: Arc<Item<K>>,
}

impl<K: PodObject> WatchedObjects<K> {
    /// An empty store. An object that is not read for `max_idle`, at least a minute, is not watched until its next read;
    /// all watches end with `shutdown`. It must be called within a tokio runtime.
    pub fn new(client: Client, clock: Arc<dyn Clock>, max_idle: SignedDuration, shutdown: CancellationToken) -> Self {
        let shutdown = shutdown.child_token();
        let stop = shutdown.clone().drop_guard();
        let max_idle = max_idle.max(MIN_IDLE);
        let shared = Arc::new(Shared { client, clock, max_idle, shutdown, entries: Mutex::default() });
        tokio::spawn(shared.clone().sweep_until_shutdown());
        WatchedObjects { shared, _stop: stop }
    }

    /// Whether the object is being watched. It is not if it has no references, was not read for long, or was found to be
    /// immutable by a read.
    pub fn is_watched(&self, namespace: &str, name: &str) -> bool {
        self.shared.item(namespace, name).is_some_and(|item| item.is_watched())
    }

    /// Waits until the known object is as `expected`, for ever if it has no references. This does not count as a read: it
    /// neither starts a watch nor keeps one from being idle.
    pub async fn until(&self, namespace: &str, name: &str, expected: impl Fn(Option<&K>) -> bool) {
        match self.shared.item(namespace, name) {
            Some(item) => item.until(expected).await,
            None => std::future::pending().await,
        }
    }
}

impl<K: PodObject> Shared<K> {
    fn entries(&self) -> MutexGuard<'_, HashMap<ObjectKey, Entry<K>>> {
        self.entries.lock().expect("no holder of this lock can panic")
    }

    fn item(&self, namespace: &str, name: &str) -> Option<Arc<Item<K>>> {
        self.entries().get(&ObjectKey::new(namespace, name)).map(|entry| entry.item.clone())
    }

    /// The item for a read, which keeps or starts its watch even if the read fails. All is done under one lock: a reference
    /// that is deleted meanwhile would otherwise leave a watch behind.
    fn wanted(&self, namespace: &str, name: &str, now: Timestamp) -> Option<Arc<Item<K>>> {
        let entries = self.entries();
        let item = &entries.get(&ObjectKey::new(namespace, name))?.item;
        item.read(now);
        item.start(&self.shutdown);
        Some(item.clone())
    }

    async fn sweep_until_shutdown(self: Arc<Self>) {
        let sweeps = async {
            loop {
                let now = self.clock.now();
                for entry in self.entries().values() {
                    entry.item.stop_if_idle(now, self.max_idle);
                }
                self.clock.sleep_until(now.saturating_add(SWEEP_PERIOD).unwrap_or(Timestamp::MAX)).await;
            }
        };
        self.shutdown.run_until_cancelled(sweeps).await.unwrap_or(());
        for entry in self.entries().values() {
            entry.item.stop();
        }
    }

    async fn get(&self, namespace: &str, name: &str) -> Result<Arc<K>, GetError> {
        let now = self.clock.now();
        let item = self.wanted(namespace, name, now);
        let item = item.ok_or_else(|| GetError::NotRegistered(namespace.to_owned(), name.to_owned()))?;
        if !item.is_synced() {
            let deadline = self.clock.sleep_until(now.saturating_add(FIRST_LIST_TIMEOUT).unwrap_or(Timestamp::MAX));
            tokio::select! {
                biased;
                () = item.until(|_| true) => {}
                () = deadline => return Err(GetError::NotSynced(K::NOUN)),
            }
        }
        item.take().ok_or_else(|| GetError::Api(not_found(K::NOUN, name).boxed()))
    }
}

/// The status that the API server would answer with (`apierrors.NewNotFound`).
fn not_found(noun: &str, name: &str) -> Status {
    let details = StatusDetails {
        name: name.to_owned(),
        group: String::new(),
        kind: noun.to_owned(),
        uid: String::new(),
        causes: Vec::new(),
        retry_after_seconds: 0,
    };
    let message = format!("{noun} {name:?} not found");
    Status::failure(&message, reason::NOT_FOUND).with_code(404).with_details(details)
}

impl<K: PodObject> Store<K> for WatchedObjects<K> {
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>> {
        Box::pin(self.shared.get(namespace, name))
    }

    fn add_reference(&self, namespace: &str, name: &str, pod_uid: &str) {
        let shared = &self.shared;
        let mut entries = shared.entries();
        let entry = entries.entry(ObjectKey::new(namespace, name)).or_insert_with(|| {
            let item = Item::new(shared.client.clone(), shared.clock.clone(), namespace, name);
            item.start(&shared.shutdown);
            Entry { references: References::default(), item }
        });
        entry.references.add(pod_uid);
    }

    fn delete_reference(&self, namespace: &str, name: &str, pod_uid: &str) {
        let key = ObjectKey::new(namespace, name);
        let mut entries = self.shared.entries();
        if let Some(entry) = entries.get_mut(&key) {
            entry.references.delete(pod_uid);
            if entry.references.is_empty() {
                entry.item.stop();
                entries.remove(&key);
            }
        }
    }
}
