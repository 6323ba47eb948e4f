//! A referenced object and its reflector.
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

/// A referenced object as it is known, and its reflector.
pub(super) struct Item<K> {
    state: Mutex<State<K>>,
    /// Signals changes.
    news: Notify,
    /// Locked during a run, so that two never overlap.
    reflector: tokio::sync::Mutex<Reflector<K>>,
}

struct State<K> {
    object: Option<Arc<K>>,
    /// Whether the last run has listed the object. If not, `object` is not valid.
    synced: bool,
    /// The time of the last attempt to read.
    read: Option<Timestamp>,
    /// The token that ends the run; `None` without a run.
    run: Option<CancellationToken>,
    immutable: bool,
}

impl<K: PodObject> Item<K> {
    /// An item that is not synced, and whose reflector is stopped.
    pub(super) fn new(client: Client, clock: Arc<dyn Clock>, namespace: &str, name: &str) -> Arc<Self> {
        let state = State { object: None, synced: false, read: None, run: None, immutable: false };
        let reflector = Reflector::new(client, clock, namespace, name);
        Arc::new(Item { state: Mutex::new(state), news: Notify::new(), reflector: reflector.into() })
    }

    /// Starts the reflector, unless it runs, the object is immutable, or there is a shutdown.
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
        let sink = Run { item: &self, token: &run };
        let work = async { self.reflector.lock().await.run(&sink).await };
        if let Some(never) = run.run_until_cancelled(work).await {
            match never {}
        }
    }

    /// Stops the reflector, if it runs.
    pub(super) fn stop(&self) {
        self.state().stop();
    }

    /// Stops the reflector if there was no attempt to read for `max_idle`. A list in progress goes on, since it would only
    /// have to begin anew.
    pub(super) fn stop_if_idle(&self, now: Timestamp, max_idle: SignedDuration) {
        let mut state = self.state();
        let idle = |read: Timestamp| now.duration_since(read) > max_idle;
        if state.synced && state.read.is_none_or(idle) {
            state.stop();
        }
    }

    /// Notes an attempt to read.
    pub(super) fn read(&self, now: Timestamp) {
        self.state().read = Some(now);
    }

    pub(super) fn is_watched(&self) -> bool {
        self.state().run.is_some()
    }

    pub(super) fn is_synced(&self) -> bool {
        self.state().synced
    }

    /// Waits until the item is synced and its object is as `expected`.
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

    /// The object. If it is immutable, its reflector is stopped for good.
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

/// The sink of one run, which ignores events after the run has ended.
struct Run<'i, K> {
    item: &'i Item<K>,
    token: &'i CancellationToken,
}

impl<K: PodObject> Run<'_, K> {
    fn update(&self, change: impl FnOnce(&mut State<K>)) {
        let mut state = self.item.state();
        if !self.token.is_cancelled() {
            change(&mut state);
            self.item.news.notify_waiters();
        }
    }
}

impl<K: PodObject> Sink<K> for Run<'_, K> {
    fn listed(&self, object: Option<K>) {
        self.update(|state| {
            state.object = object.map(Arc::new);
            state.synced = true;
        });
    }

    fn changed(&self, object: Option<K>) {
        self.update(|state| state.object = object.map(Arc::new));
    }
}
