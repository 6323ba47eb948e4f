//! List and watch, for ever: `Reflector` of client-go v0.37.1 (`tools/cache/reflector.go`), with kube's watcher.
//!
//! ```text
//!   list ──▶ watch ──▶ watch from the last event, when the connection ends
//!    ▲         │
//!    └─ pause ─┘ refused: the server may never have had that revision
//! ```
//!
//! Pauses grow from 0.8 s to 30 s, until an event comes, or no error for two minutes.

use futures::StreamExt as _;
use futures::stream::BoxStream;
use kube::runtime::utils::Backoff as _;
use kube::runtime::watcher::{self, Error, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use tokio::time::{Instant, sleep_until};

/// The events of some objects.
pub struct Reflector<K: Resource> {
    api: Api<K>,
    config: watcher::Config,
    events: Option<BoxStream<'static, Result<Event<K>, Error>>>,
    backoff: watcher::DefaultBackoff,
    /// When to go on, after an error.
    paused: Option<Instant>,
}

impl<K: Resource + Clone + Debug + DeserializeOwned + Send + 'static> Reflector<K> {
    /// The events of the objects that `config` selects. Nothing is asked before the first of them is wanted.
    pub fn new(api: Api<K>, config: watcher::Config) -> Self {
        Reflector { api, config, events: None, backoff: watcher::DefaultBackoff::default(), paused: None }
    }

    /// The next event. It can be dropped, and nothing is lost.
    ///
    /// # Errors
    /// If the objects could not be listed or watched; they will be again, at the next call.
    pub async fn next(&mut self) -> Result<Event<K>, Error> {
        if let Some(time) = self.paused {
            sleep_until(time).await;
            self.paused = None;
        }
        loop {
            let begin = || watcher(self.api.clone(), self.config.clone()).boxed();
            match self.events.get_or_insert_with(begin).next().await {
                Some(Ok(event)) => {
                    if matches!(event, Event::Apply(_) | Event::Delete(_)) {
                        self.backoff.reset();
                    }
                    return Ok(event);
                }
                Some(Err(error)) => {
                    self.paused = Instant::now().checked_add(self.backoff.next().unwrap_or_default());
                    if !may_resume(&error) {
                        self.events = None;
                    }
                    return Err(error);
                }
                None => self.events = None,
            }
        }
    }
}

/// Whether a watch may be retried from the same revision. If the server refuses it, it may never have had that revision;
/// so all objects are listed anew, unless it answers 429.
fn may_resume(error: &Error) -> bool {
    match error {
        Error::WatchStartFailed(kube::Error::Api(status)) => status.code == 429,
        _ => true,
    }
}
