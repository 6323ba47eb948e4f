//! A reconciler, and the context in which it works.

use super::event::Event;
use super::loopback::{Loopback, Sent};
use super::queue::{LONGEST_DELAY, Run};
use super::shared::Shared;
use super::ticket::Ticket;
use crate::allocation::Access;
use crate::clock::later;
use crate::commit::{Commits, Own};
use crate::discovery::Catalog;
use crate::error::ApiResult;
use crate::registry::Resource;
use futures::future::BoxFuture;
use jiff::Timestamp;
use std::future::poll_fn;
use std::ops::Deref;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time that a run may spend waiting for other servers while others wait for it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A built-in controller.
pub(crate) trait Reconciler: Send + Sync {
    /// The keys to work on after an event; none for most events. It runs within each write, so it must be quick.
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>>;

    /// Makes the cluster what it should be, as far as `key` is concerned: whatever has happened, and however often this was done
    /// before. The same key is not worked on twice at once. Loops over objects count [`Strides`](super::strides::Strides).
    ///
    /// # Errors
    /// If something is left to do: it is logged, and tried again after a while.
    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>>;

    /// The longest time after which what is left to do is tried again.
    fn longest_delay(&self) -> Duration {
        LONGEST_DELAY
    }

    /// The same for a fork of the cluster, if it knows something about this one; otherwise both have it in common.
    fn fork(&self) -> Option<Arc<dyn Reconciler>> {
        None
    }
}

/// The context of a run: the cluster, and the means to change it.
pub(crate) struct Context<'a> {
    cluster: &'a Shared,
    /// The commits of this run. Other reconcilers react to them, and who waits for this run waits for them, too.
    pub(super) commits: Commits<'a>,
    /// The time at which the run began.
    pub(super) now: Timestamp,
    ticket: &'a Ticket<'a>,
    run: &'a Run,
    loopback: &'a dyn Loopback,
    /// The rest of [`PATIENCE`].
    patience: Mutex<Duration>,
}

impl<'a> Context<'a> {
    pub(super) fn new(cluster: &'a Shared, loopback: &'a dyn Loopback, ticket: &'a Ticket<'a>, run: &'a Run) -> Self {
        let (commits, now) = (ticket.commits(&cluster.store), cluster.clock.now());
        Context { cluster, commits, now, ticket, run, loopback, patience: Mutex::new(PATIENCE) }
    }

    /// Serves a request to this server.
    ///
    /// # Errors
    /// The refusal.
    pub(super) async fn serve(&self, sent: Sent<'_>) -> ApiResult<()> {
        self.patiently(self.loopback.serve(sent, self.ticket), Run::release).await
    }

    /// Adds another key to be worked on by the same reconciler. Who waits for this run waits for that one, too.
    pub(super) fn add(&self, key: &str) {
        self.ticket.add(key);
    }

    /// Adds a key to be worked on by the same reconciler after that time. Nobody waits for that.
    pub(super) fn add_later(&self, key: &str, after: Duration) {
        self.ticket.add_later(key, after);
    }

    /// Waits for another server, which may take long: meanwhile the writers that wait for this run are answered. `None` if the key is
    /// wanted again before: then another run follows this one, which should end.
    pub(super) async fn remotely<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            answer = self.patiently(answer, |run| run.end.cancel()) => Some(answer),
            () = self.run.again.cancelled() => None,
        }
    }

    /// Does what may have to wait for other servers. Once that has taken long, `release` lets those who wait go.
    pub(super) async fn patiently<T>(&self, work: impl Future<Output = T>, release: fn(&Run)) -> T {
        let (mut work, mut late) = (pin!(work), pin!(sleep(PATIENCE)));
        let mut waits: Option<Instant> = None;
        poll_fn(|context| {
            if let Some(since) = waits.take() {
                let mut patience = self.patience();
                *patience = patience.saturating_sub(since.elapsed());
            }
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            let since = *waits.insert(Instant::now());
            late.as_mut().reset(later(since, *self.patience()));
            if late.as_mut().poll(context).is_ready() {
                release(self.run);
            }
            Poll::Pending
        })
        .await
    }

    fn patience(&self) -> MutexGuard<'_, Duration> {
        self.patience.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server as it writes objects of a resource.
    pub(super) fn own<'s>(&'s self, resource: &'s Resource) -> Own<'s> {
        Own::new(resource, self.commits, &self.ids, self.now)
    }

    /// The access of allocations to the cluster's state.
    pub(super) fn access<'s>(&'s self, catalog: &'s Catalog) -> Access<'s> {
        Access {
            store: &self.store,
            commits: self.commits,
            ids: &self.ids,
            registry: &catalog.registry,
            now: self.now,
            dry_run: false,
        }
    }
}

impl Deref for Context<'_> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.cluster
    }
}
