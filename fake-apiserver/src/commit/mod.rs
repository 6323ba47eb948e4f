//! The one way into the store: read, compute, compare-and-swap, and again if another writer was faster
//! (`GuaranteedUpdate` of `k8s.io/apiserver/pkg/storage`, v0.37.1).
//!
//! ```text
//!   read ─▶ compute the change ─▶ compare-and-swap ─▶ After::committed ─▶ the new entry
//!    ▲                               │ conflict
//!    └───────────────────────────────┘
//! ```
//! [`Commits::change`] is that loop. Writes whose admission may have to wait go round it themselves, by [`Commits::commit`].
//! A storage outside of this process would have to be waited for, too: committing is asynchronous, and nothing below it is.

pub(crate) mod deletion;
mod draft;
pub(crate) mod namespace;

pub(crate) use draft::draft;

use crate::error::ApiResult;
use crate::store::{Conflict, CreateError, Draft, Entry, Key, Parent, ResourceId, Scope, Store, Updated};
use std::sync::Arc;

/// A follower of what is committed.
pub(crate) trait After: Send + Sync {
    /// Takes note of a change; `after` is the entry then, `None` of a removed object. Only notes: this runs inside of the write.
    fn committed(&self, key: &Key, after: Option<&Entry>);
}

/// What is to become of an object.
pub(crate) enum Change {
    /// It stays as it is.
    Leave,
    /// It is replaced.
    Put(Draft),
    /// It is removed.
    Remove,
    /// It is replaced, then removed: watchers see both.
    PutAndRemove(Draft),
}

/// The write side of a store.
pub(crate) struct Commits {
    store: Store,
    after: Option<Arc<dyn After>>,
}

impl Commits {
    /// Commits to `store` of which `after` takes note.
    pub(crate) fn new(store: Store, after: Option<Arc<dyn After>>) -> Self {
        Commits { store, after }
    }

    /// Stores a new object.
    pub(crate) async fn create(&self, draft: Draft, parent: Option<&Parent>) -> Result<Arc<Entry>, CreateError> {
        let entry = self.store.create(draft, parent)?;
        self.note(&entry.key, Some(&entry));
        Ok(entry)
    }

    /// Changes an object as `wanted` says, which is asked again whenever another writer was faster. Returns the entry as it is
    /// then (of a removed object: as of its removal), and what `wanted` said besides; `None` if there is no such object.
    ///
    /// # Errors
    /// Those of `wanted`.
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

    /// Carries out a change that was computed from `current`. Returns the entry as it is then or, of a removed object, as of its
    /// removal.
    ///
    /// # Errors
    /// If another writer was faster: the change is to be computed anew.
    pub(crate) async fn commit(&self, current: &Arc<Entry>, change: Change) -> Result<Arc<Entry>, Conflict> {
        match change {
            Change::Leave => Ok(current.clone()),
            Change::Put(draft) => self.put(current, draft),
            Change::Remove => self.remove(current),
            Change::PutAndRemove(draft) => self.remove(&*self.put(current, draft)?),
        }
    }

    /// Removes what there is of a resource that is not served any more, and ends its watches.
    ///
    /// A request that found the resource while it was served may still be under way. What it creates before the resource is
    /// closed is removed here, and what it would create later is refused in the instant of storing it; so nothing is left that
    /// only an id leads to which is never served again.
    pub(crate) async fn close(&self, resource: ResourceId) {
        while let Err(left) = self.store.close(resource) {
            for entry in left.range(&Scope::all(resource), "") {
                // Should another writer be faster, the object is not left, or left once more.
                self.commit(entry, Change::Remove).await.ok();
            }
        }
    }

    fn put(&self, current: &Entry, draft: Draft) -> Result<Arc<Entry>, Conflict> {
        match self.store.update(draft, current.revision)? {
            Updated::Unchanged(entry) => Ok(entry),
            Updated::Changed(entry) => {
                self.note(&entry.key, Some(&entry));
                Ok(entry)
            }
        }
    }

    fn remove(&self, current: &Entry) -> Result<Arc<Entry>, Conflict> {
        let removed = self.store.delete(&current.key, current.revision)?;
        self.note(&current.key, None);
        Ok(removed)
    }

    fn note(&self, key: &Key, after: Option<&Entry>) {
        if let Some(follower) = &self.after {
            follower.committed(key, after);
        }
    }
}
