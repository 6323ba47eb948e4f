//! The only way into the store: read, compute, compare-and-swap, and again if another writer was faster
//! (`GuaranteedUpdate` of `k8s.io/apiserver/pkg/storage`, v0.37.1).
//!
//! ```text
//!   read ─▶ compute the change ─▶ compare-and-swap ─▶ After ─▶ the new entry
//!    ▲                               │ conflict
//!    └───────────────────────────────┘
//! ```
//! [`Commits::change`] is that loop. Writes whose admission may have to wait have a loop of their own, with [`Commits::commit`].
//! Committing is asynchronous, so that a storage outside of this process could be awaited; everything below it is synchronous.

pub(crate) mod content;
pub(crate) mod definition;
pub(crate) mod deletion;
mod draft;
mod hold;
pub(crate) mod loaded;
pub(crate) mod namespace;
mod own;
pub(crate) mod saved;
pub(crate) mod size;

pub(crate) use draft::{Encoded, draft, read, recorded_draft};
pub(crate) use hold::Hold;
pub(crate) use own::Own;

use crate::error::ApiResult;
use crate::store::{Conflict, CreateError, Draft, Entry, Key, Parent, ResourceId, Scope, Store, Updated};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The time between the two parts of [`Change::PutAndRemove`] from when watches have told of the first: as long as a fast storage takes for
/// the second on a real server. Otherwise no client would ever find the object marked in what it knows.
const LEAD: Duration = Duration::from_millis(1);
/// The longest time between them, for watches whose clients do not read.
const PATIENCE: Duration = Duration::from_millis(20);

/// An observer of commits.
pub(crate) trait After: Send + Sync {
    /// Called when an entry was stored, with the one that it replaced. It runs within the write, so it must only take a note of it.
    fn stored(&self, entry: &Entry, before: Option<&Entry>);

    /// Called when an entry was removed, with its last state. It must only take a note of it.
    fn removed(&self, entry: &Entry);
}

/// A change of an object.
pub(crate) enum Change {
    /// Leaves it as it is.
    Leave,
    /// Replaces it.
    Put(Draft),
    /// Removes it.
    Remove,
    /// Replaces, and when watches have told of it, removes it.
    PutAndRemove(Draft),
}

/// The write side of a store.
#[derive(Clone, Copy)]
pub(crate) struct Commits<'c> {
    store: &'c Store,
    after: Option<&'c dyn After>,
    /// The fate of each commit before it is made. A reference, as requests are moved with it.
    hold: &'c Hold,
}

impl<'c> Commits<'c> {
    /// Commits to `store`, observed by `after`.
    pub(crate) fn new(store: &'c Store, after: Option<&'c dyn After>) -> Self {
        Commits { store, after, hold: &hold::AT_ONCE }
    }

    /// The store.
    pub(super) fn store(&self) -> &'c Store {
        self.store
    }

    /// Lets that happen to each commit before it is made.
    pub(crate) fn held(self, hold: &'c Hold) -> Self {
        Commits { hold, ..self }
    }

    /// Stores a new object.
    pub(crate) async fn create(&self, draft: Draft, parent: Option<&Parent>) -> Result<Arc<Entry>, CreateError> {
        if let Some(stop) = self.hold.stop.as_ref().filter(|_| self.store.get(&draft.key).is_none()) {
            stop.pass().await;
        }
        self.hold().await;
        let entry = self.store.create(draft, parent)?;
        self.note_stored(&entry, None);
        Ok(entry)
    }

    /// Makes the change that `wanted` returns, which is called again whenever another writer was faster. Returns the new entry
    /// (for a removed object: as of its removal), and the other result of `wanted`; `None` if the object does not exist.
    ///
    /// # Errors
    /// The errors of `wanted`.
    pub(crate) async fn change<T>(
        &self,
        key: &Key,
        mut wanted: impl FnMut(&Entry) -> ApiResult<(Change, T)>,
    ) -> ApiResult<Option<(Arc<Entry>, T)>> {
        while let Some(current) = self.store.get(key) {
            let (change, extra) = wanted(&current)?;
            if let Ok(entry) = self.commit(&current, change).await {
                return Ok(Some((entry, extra)));
            }
        }
        Ok(None)
    }

    /// Commits a change that was computed from `current`. Returns the new entry or, for a removed object, that of its removal; the one before,
    /// if another writer has removed what was marked.
    ///
    /// # Errors
    /// If another writer was faster: then the change has to be computed again.
    pub(crate) async fn commit(&self, current: &Arc<Entry>, change: Change) -> Result<Arc<Entry>, Conflict> {
        if !matches!(change, Change::Leave) {
            let is_newest = || self.store.get(&current.key).is_some_and(|newest| newest.revision == current.revision);
            if let Some(stop) = self.hold.stop.as_ref().filter(|_| is_newest()) {
                stop.pass().await;
            }
            self.hold().await;
        }
        match change {
            Change::Leave => Ok(current.clone()),
            Change::Put(draft) => self.put(current, draft),
            Change::Remove => self.remove(current),
            Change::PutAndRemove(draft) => {
                let marked = self.put(current, draft)?;
                self.let_watches_tell(&marked).await;
                self.hold().await;
                match self.remove(&marked) {
                    // Another one has removed it meanwhile, which is as good (`ignoreNotFound`).
                    Err(_) if self.store.get(&marked.key).is_none() => Ok(marked),
                    removed => removed,
                }
            }
        }
    }

    /// Removes all objects of a resource that is not served any more, and ends its watches.
    ///
    /// A request that found the resource while it was served may still be in progress. Objects that it creates before the
    /// resource is closed are removed here, later ones are refused by the store; so no object is left with an id that is never
    /// served again.
    pub(crate) async fn close(&self, resource: ResourceId) {
        while let Err(left) = self.store.close(resource) {
            for entry in left.range(&Scope::all(resource), "") {
                // If another writer is faster, the object is removed already, or found again.
                self.commit(entry, Change::Remove).await.ok();
            }
        }
    }

    /// Waits until watches have told of an object, and their clients had time to act on it.
    async fn let_watches_tell(&self, entry: &Entry) {
        let taken = self.store.taken(entry);
        if taken.is_due() {
            // Boxed, for it is rare.
            Box::pin(timeout(PATIENCE, async {
                poll_fn(|context| taken.poll(context)).await;
                sleep(LEAD).await;
            }))
            .await
            .ok();
        }
    }

    /// The time that a storage takes.
    async fn hold(&self) {
        if !self.hold.latency.is_zero() {
            // Boxed, for it is rare.
            Box::pin(sleep(self.hold.latency)).await;
        }
    }

    fn put(&self, current: &Entry, draft: Draft) -> Result<Arc<Entry>, Conflict> {
        match self.store.update(draft, current.revision)? {
            Updated::Unchanged(entry) => Ok(entry),
            Updated::Changed(entry) => {
                self.note_stored(&entry, Some(current));
                Ok(entry)
            }
        }
    }

    fn remove(&self, current: &Entry) -> Result<Arc<Entry>, Conflict> {
        let removed = self.store.delete(&current.key, current.revision)?;
        if let Some(follower) = &self.after {
            follower.removed(&removed);
        }
        Ok(removed)
    }

    fn note_stored(&self, entry: &Entry, before: Option<&Entry>) {
        if let Some(follower) = &self.after {
            follower.stored(entry, before);
        }
    }
}

#[cfg(test)]
mod tests;
