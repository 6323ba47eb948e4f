//! The ledger of a namespace: its quotas, and the writes that wait to be counted in them. Who is first of those counts for all.
//!
//! ```text
//!   a write ──▶ its turn ──▶ checked, promised ──▶ its turn again, behind all who came meanwhile ──┬─ is first: counts for all
//!                 └──▶ refused, or nothing to count                                                └─ is counted already
//! ```
//! Turns are taken in order. Whoever leaves meanwhile is not counted, and whoever has the next turn counts; so nobody is waited for, and
//! nothing is left behind.
//!
//! Follows `checkQuotas` of `pkg/admission/plugin/resourcequota/controller.go` of k8s.io/apiserver (v0.37.1), where workers gather the
//! waiting writes of a namespace.

use super::quota::Quota;
use crate::admission::Attributes;
use crate::commit::{Change, Own};
use crate::error::{ApiError, ApiResult};
use crate::registry::{Amounts, child, ids};
use crate::store::{Entry, Key, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::oneshot::{self, Receiver, Sender};
use tokio::sync::{Mutex, MutexGuard};

/// The ledger of a namespace.
#[derive(Default)]
pub(super) struct Ledger(Mutex<Page>);

/// The open page of a ledger.
#[derive(Default)]
pub(super) struct Page {
    /// The quotas of the namespace, by name, as they were last seen.
    quotas: BTreeMap<Key, Quota>,
    waiting: Vec<Waiting>,
}

/// A write that waits to be counted.
struct Waiting {
    /// The amounts that it uses, by quota: of those that have not counted it yet.
    requested: BTreeMap<Key, Amounts>,
    /// The quotas that others have changed before they could count it.
    again: Vec<Key>,
    outcome: Sender<Outcome>,
}

/// The outcome for a write: the quotas that could not count it, as others have changed them; or an error, as text.
type Outcome = Result<Vec<Key>, String>;

/// The promise to a write that it will be counted.
pub(super) struct Promise(Receiver<Outcome>);

impl Ledger {
    /// The ledger, with the quotas as they are now, once it is the turn of a write.
    pub(super) async fn open(&self, write: &Attributes<'_>) -> MutexGuard<'_, Page> {
        let mut page = self.0.lock().await;
        if !page.is_current(&stored(write)) {
            page.count(write).await;
            page.read(stored(write));
        }
        page
    }

    /// Waits until a write is counted. Returns the quotas that could not, as others have changed them: those have to be checked again.
    ///
    /// # Errors
    /// 500, if a quota cannot be written.
    pub(super) async fn counted(&self, write: &Attributes<'_>, mut promise: Promise) -> ApiResult<Vec<Key>> {
        let mut page = self.0.lock().await;
        let mut outcome = promise.0.try_recv();
        if outcome.is_err() {
            page.count(write).await;
            outcome = promise.0.try_recv();
        }
        outcome
            .unwrap_or_else(|_| Err("a quota has not counted what it promised to".into()))
            .map_err(ApiError::internal)
    }
}

/// The stored quotas of the namespace of a write.
fn stored(write: &Attributes<'_>) -> BTreeMap<Key, Arc<Entry>> {
    let all = Scope { resource: ids::RESOURCE_QUOTAS, namespace: Some(write.namespace.into()), name: None };
    let snapshot = write.server.store.snapshot();
    let entries = snapshot.range(&all, "").map(|entry| (entry.key.clone(), entry.clone()));
    entries.collect()
}

impl Page {
    /// The quotas: all, or those of these keys that still exist.
    pub(super) fn quotas(&self, only: Option<&[Key]>) -> Vec<&Quota> {
        match only {
            None => self.quotas.values().collect(),
            Some(keys) => keys.iter().filter_map(|key| self.quotas.get(key)).collect(),
        }
    }

    /// Promises a write to count it.
    pub(super) fn promise(&mut self, requested: BTreeMap<Key, Amounts>) -> Promise {
        for (key, requested) in &requested {
            if let Some(quota) = self.quotas.get_mut(key) {
                quota.promised.add(requested);
            }
        }
        let (outcome, promised) = oneshot::channel();
        self.waiting.push(Waiting { requested, again: Vec::new(), outcome });
        Promise(promised)
    }

    fn is_current(&self, stored: &BTreeMap<Key, Arc<Entry>>) -> bool {
        let is_same = |(quota, entry): (&Quota, &Arc<Entry>)| Arc::ptr_eq(&quota.entry, entry);
        self.quotas.len() == stored.len() && self.quotas.values().zip(stored.values()).all(is_same)
    }

    /// Reads the quotas that have changed. Nobody waits.
    fn read(&mut self, stored: BTreeMap<Key, Arc<Entry>>) {
        let mut known = std::mem::take(&mut self.quotas);
        for (key, entry) in stored {
            let same = known.remove(&key).filter(|quota| Arc::ptr_eq(&quota.entry, &entry));
            self.quotas.insert(key, same.unwrap_or_else(|| Quota::read(entry)));
        }
    }

    /// Counts all who wait, but for those who have left.
    async fn count(&mut self, write: &Attributes<'_>) {
        let Page { quotas, waiting } = self;
        waiting.retain(|one| !one.outcome.is_closed());
        let mut failure = None;
        for (key, quota) in quotas {
            quota.promised = Amounts::default();
            let requested: Vec<&Amounts> = waiting.iter().filter_map(|one| one.requested.get(key)).collect();
            if requested.is_empty() {
                continue;
            }
            let used = quota.used_with(&requested);
            let counted = match with_used(write, quota, &used) {
                Ok(change) => write.server.commits.commit(&quota.entry, change).await.ok(),
                Err(why) => {
                    failure = Some(why.to_string());
                    break;
                }
            };
            // Noted before anything else is waited for: whoever goes on from here counts nothing twice.
            for one in waiting.iter_mut() {
                if one.requested.remove(key).is_some() && counted.is_none() {
                    one.again.push(key.clone());
                }
            }
            if let Some(entry) = counted {
                (quota.entry, quota.used) = (entry, used);
            }
        }
        for one in waiting.drain(..) {
            let outcome = failure.clone().map_or(Ok(one.again), Err);
            // An error means that the write has left.
            one.outcome.send(outcome).ok();
        }
    }
}

/// The change of what is used of a quota.
fn with_used(write: &Attributes<'_>, quota: &Quota, used: &Amounts) -> ApiResult<Change> {
    let resource = write.server.registry.known(ids::RESOURCE_QUOTAS);
    let old = quota.entry.object();
    let mut new = old.clone();
    child(&mut new, "status")["used"] = used.value();
    let own = Own::new(resource, write.server.commits, write.server.ids, write.server.clock.now()).through("status");
    own.changed(&quota.entry, &old, &mut new)
}
