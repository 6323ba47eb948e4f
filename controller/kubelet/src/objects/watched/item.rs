//! One object that is referred to.
//!
//! ```text
//!              start                     listed                        read: immutable
//!   stopped ──────────▶ running, waiting ──────▶ running, synced ───────────────────────▶ stopped, synced
//!      ▲                  │     for a list             │                                  for good
//!      └──────────────────┴────────────────────────────┘
//!        stop: no references, shutdown; if synced: idle
//! ```

use super::super::PodObject;
use super::super::reflector::{Reflector, Sink};
use crate::clock::Clock;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What is known of the object, and the reflector that learns it.
pub(super) struct Item<K> {
    state: Mutex<State<K>>,
    /// Tells that there is news.
    news: Notify,
    /// A run holds it, so two never overlap.
    reflector: tokio::sync::Mutex<Reflector<K>>,
}

struct State<K> {
    object: Option<Arc<K>>,
    /// Whether `object` is what the last run has listed and followed; none is known if not.
    synced: bool,
    /// The last read that was tried.
    read: Option<Timestamp>,
    /// Ends the run; none if there is no run.
    run: Option<CancellationToken>,
    immutable: bool,
}

impl<K: PodObject> Item<K> {
    /// Nothing is known, and nobody finds out yet.
    pub(super) fn new(client: Client, clock: Arc<dyn Clock>, namespace: &str, name: &str) -> Arc<Self> {
        let state = State { object: None, synced: false, read: None, run: None, immutable: false };
        let reflector = Reflector::new(client, clock, namespace, name);
        Arc::new(Item { state: Mutex::new(state), news: Notify::new(), reflector: reflector.into() })
    }

    /// Follows the object, unless that is done already, is of no use, or there is a shutdown.
    pub(super) fn start(self: &Arc<Self>, shutdown: &CancellationToken) {
        let mut state = self.state();
        if state.run.is_some() || state.immutable || shutdown.is_cancelled() {
            return;
        }
        let run = shutdown.child_token();
        state.run = Some(run.clone());
        tokio::spawn(self.clone().follow(run));
    }

    async fn follow(self: Arc<Self>, run: CancellationToken) {
        let told = Run { item: &self, token: &run };
        let work = async { self.reflector.lock().await.run(&told).await };
        if let Some(never) = run.run_until_cancelled(work).await {
            match never {}
        }
    }

    /// Ends the run, if there is one.
    pub(super) fn stop(&self) {
        self.state().stop();
    }

    /// Ends the run if nobody has tried to read for `max_idle`. A list that is under way is not given up, for an API
    /// server that is slow would only have to begin anew.
    pub(super) fn stop_if_idle(&self, now: Timestamp, max_idle: SignedDuration) {
        let mut state = self.state();
        let idle = |read: Timestamp| now.duration_since(read) > max_idle;
        if state.synced && state.read.is_none_or(idle) {
            state.stop();
        }
    }

    /// Somebody reads.
    pub(super) fn read(&self, now: Timestamp) {
        self.state().read = Some(now);
    }

    pub(super) fn is_watched(&self) -> bool {
        self.state().run.is_some()
    }

    pub(super) fn is_synced(&self) -> bool {
        self.state().synced
    }

    /// Ends when it is known whether the object exists, and what is known is as `expected`.
    pub(super) async fn until(&self, expected: impl Fn(Option<&K>) -> bool) {
        loop {
            let news = self.news.notified();
            {
                let state = self.state();
                if state.synced && expected(state.object.as_deref()) {
                    return;
                }
            }
            news.await;
        }
    }

    /// The object. One that can never change is not followed any further.
    pub(super) fn take(&self) -> Option<Arc<K>> {
        let mut state = self.state();
        let object = state.object.clone()?;
        if object.is_immutable() {
            state.immutable = true;
            state.stop();
        }
        Some(object)
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().expect("no holder of this lock can panic")
    }
}

impl<K> State<K> {
    fn stop(&mut self) {
        if let Some(run) = self.run.take() {
            run.cancel();
            self.synced &= self.immutable;
        }
    }
}

/// The reflector's way to the item; it is closed with the run.
struct Run<'i, K> {
    item: &'i Item<K>,
    token: &'i CancellationToken,
}

impl<K: PodObject> Run<'_, K> {
    fn tell(&self, change: impl FnOnce(&mut State<K>)) {
        let mut state = self.item.state();
        if !self.token.is_cancelled() {
            change(&mut state);
            self.item.news.notify_waiters();
        }
    }
}

impl<K: PodObject> Sink<K> for Run<'_, K> {
    fn listed(&self, object: Option<K>) {
        self.tell(|state| {
            state.object = object.map(Arc::new);
            state.synced = true;
        });
    }

    fn changed(&self, object: Option<K>) {
        self.tell(|state| state.object = object.map(Arc::new));
    }
}
