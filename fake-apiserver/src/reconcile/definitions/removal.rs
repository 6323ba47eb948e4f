//! The removal of the objects of a definition that is being deleted.
//!
//! Follows `deleteInstances` of `pkg/controller/finalizer` (k8s.io/apiextensions-apiserver v0.37.1).

use crate::commit::deletion::DeleteOptions;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, aggregate};
use crate::reconcile::reconciler::Context;
use crate::reconcile::strides::Strides;
use crate::registry::{Resource, Undecodable};
use crate::store::{Entry, Event, Key, ResourceId, Scope, Store};
use std::sync::Arc;

/// The outcome of deleting the objects.
pub(super) enum Removal {
    /// None are left.
    Done,
    /// Some have finalizers. All that were there at this revision are being deleted.
    Waiting(u64),
    /// Some cannot be deleted, for this reason, worded for a condition.
    Failed(String),
    /// The definition has changed, or another object has been removed, before a webhook answered.
    Outdated,
}

/// Whether nothing but objects that are being deleted are left of a resource, where all were at the revision `since`: then the revision at
/// which that was found.
pub(super) fn still_waits(store: &Store, id: ResourceId, since: u64) -> Option<u64> {
    let (events, snapshot) = store.events_after(since).ok()?;
    let is_new = |event: &Arc<Event>| event.before.is_none() && event.key().resource == id;
    let is_left = !events.iter().any(is_new) && snapshot.range(&Scope::all(id), "").next().is_some();
    is_left.then_some(snapshot.revision)
}

/// Deletes all objects of a resource. In a namespace with one that cannot be converted to the storage version, those behind it stay, too.
pub(super) async fn run(cluster: &Context<'_>, id: ResourceId) -> ApiResult<Removal> {
    let catalog = cluster.catalog();
    let Some(kind) = catalog.registry.get(id) else { return Ok(Removal::Done) };
    let snapshot = cluster.store.snapshot();
    let entries: Vec<_> = snapshot.range(&Scope::all(id), "").cloned().collect();
    let mut failures: Vec<(Key, ApiError)> = Vec::new();
    let (mut gone, mut strides) = (true, Strides::default());
    for entry in entries {
        strides.step().await;
        let key = &entry.key;
        if failures.last().is_some_and(|(failed, _)| failed.namespace() == key.namespace()) {
            continue;
        }
        let Some(converted) = cluster.remotely(undecodable(kind, &entry)).await else { return Ok(Removal::Outdated) };
        if let Some(why) = converted {
            failures.push((key.clone(), why));
            continue;
        }
        gone &= cluster.own(kind).delete(key, &DeleteOptions::default()).await?;
    }
    Ok(match (failures.is_empty(), gone) {
        (true, true) => Removal::Done,
        (true, false) => Removal::Waiting(snapshot.revision),
        (false, _) => {
            let why = aggregate(failures.iter().map(|(_, why)| why.to_string()));
            Removal::Failed(format!("could not issue all deletes: {why}"))
        }
    })
}

/// The reason that an object cannot be read in the storage version: a webhook should convert it and does not.
async fn undecodable(resource: &Resource, entry: &Entry) -> Option<ApiError> {
    let storage = resource.storage();
    if !storage.asks_webhook() {
        return None;
    }
    let why = storage.convert_from_storage_by_webhook(vec![entry.object()], &Deadline::default()).await.err()?;
    Some(Undecodable::new(entry, &why).corrupt(resource, entry))
}
