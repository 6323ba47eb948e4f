//! The namespace controller of kube-controller-manager, built in: it deletes the content of a deleted namespace, reports the
//! remaining objects in conditions, and finalizes the namespace when none remain.
//!
//! ```text
//!   pods ── all gone ──▶ everything else ── all gone ──▶ spec.finalizers without "kubernetes"
//!     └── some left ──▶ wait ◀── some left ──┘
//! ```
//! Upstream it looks again after a while; here it does whenever an object in the namespace was removed. All objects are read once; from
//! then on those that remain are counted by what has changed. A key is a name. Follows `pkg/controller/namespace/deletion` of Kubernetes
//! v1.37.1.

mod remaining;

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use super::strides::Strides;
use crate::clock::format_seconds;
use crate::commit::Own;
use crate::commit::deletion::{DeleteOptions, Propagation};
use crate::commit::namespace::{is_terminating, key};
use crate::error::ApiResult;
use crate::registry::{Registry, Resource, ids};
use crate::store::{Entry, Key, ResourceId, Scope};
use futures::FutureExt;
use futures::future::BoxFuture;
use remaining::Remaining;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tree::{Value, json};

/// `corev1.FinalizerKubernetes`, in `spec.finalizers`.
const FINALIZER: &str = "kubernetes";
/// The field manager of the controller's writes.
const MANAGER: &str = "kube-controller-manager";

/// `conditionTypes`, each with its `okReasons` and `okMessages`.
const CONDITIONS: [(&str, &str, &str); 5] = [
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    (CONTENT_REMAINING, "ContentRemoved", "All content successfully removed"),
    (FINALIZERS_REMAINING, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
];
const CONTENT_REMAINING: &str = "NamespaceContentRemaining";
const FINALIZERS_REMAINING: &str = "NamespaceFinalizersRemaining";

/// The state of the controller.
#[derive(Default)]
pub(super) struct Namespaces {
    /// The terminating namespaces, by name, whose pods are all being deleted: it need not be tried again.
    closed: Mutex<BTreeMap<Box<str>, Closed>>,
}

/// A terminating namespace whose pods are all being deleted.
struct Closed {
    uid: Box<str>,
    /// The rest of its other objects, once they were all being deleted, too.
    content: Option<Remaining>,
}

impl Reconciler for Namespaces {
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>> {
        let name = match event {
            Event::Stored(entry, _) if entry.key.resource == ids::NAMESPACES && is_terminating(entry) => {
                entry.key.name()
            }
            Event::Removed(entry) if terminating(cluster, entry.key.namespace()).is_some() => entry.key.namespace(),
            _ => return Vec::new(),
        };
        vec![name.into()]
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        self.empty_and_finalize(context, key).boxed()
    }

    fn fork(&self) -> Option<Arc<dyn Reconciler>> {
        // It finds out again.
        Some(Arc::<Namespaces>::default())
    }
}

impl Namespaces {
    /// Deletes the content of a terminating namespace and, when nothing is left, the namespace.
    async fn empty_and_finalize(&self, cluster: &Context<'_>, namespace: &str) -> ApiResult<()> {
        let Some(entry) = terminating(cluster, namespace) else {
            self.closed().remove(namespace);
            return Ok(());
        };
        let catalog = cluster.catalog();
        if self.closed().get(namespace).is_none_or(|closed| closed.uid != entry.meta.uid) {
            empty(cluster, namespace, catalog.registry.known(ids::PODS)).await?;
            self.closed().insert(namespace.into(), Closed { uid: entry.meta.uid.clone(), content: None });
        }
        // The cost of waiting for pods does not depend on their number.
        if remains(cluster, namespace, ids::PODS) {
            // Upstream does not count them: it reports that nothing remains.
            return write_conditions(cluster, namespace, &Remaining::default(), &catalog.registry).await;
        }
        let known = self.closed().get_mut(namespace).and_then(|closed| closed.content.take());
        let remaining = match known.and_then(|known| known.now(&cluster.store, namespace)) {
            Some(remaining) => remaining,
            None => {
                for resource in content(&catalog.registry).filter(|resource| resource.id != ids::PODS) {
                    empty(cluster, namespace, resource).await?;
                }
                count(cluster, namespace, &catalog.registry).await
            }
        };
        write_conditions(cluster, namespace, &remaining, &catalog.registry).await?;
        if remaining.is_empty() {
            finalize(cluster, namespace).await?;
            self.closed().remove(namespace);
        } else if let Some(closed) = self.closed().get_mut(namespace) {
            closed.content = Some(remaining);
        }
        Ok(())
    }

    fn closed(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Closed>> {
        self.closed.lock().expect("no code that runs under this lock panics")
    }
}

/// The namespace of that name, if it is terminating.
fn terminating(cluster: &Shared, name: &str) -> Option<Arc<Entry>> {
    if name.is_empty() {
        return None;
    }
    cluster.store.get(&key(name)).filter(|entry| is_terminating(entry))
}

/// The resources whose objects live in namespaces.
fn content(registry: &Registry) -> impl Iterator<Item = &Resource> {
    registry.resources().map(|resource| &**resource).filter(|resource| resource.meta.namespaced)
}

fn scope(namespace: &str, resource: ResourceId) -> Scope {
    Scope { resource, namespace: Some(namespace.into()), name: None }
}

/// Whether the namespace holds any object of that kind.
fn remains(cluster: &Shared, namespace: &str, id: ResourceId) -> bool {
    cluster.store.snapshot().range(&scope(namespace, id), "").next().is_some()
}

/// Deletes all objects of that kind.
async fn empty(cluster: &Context<'_>, namespace: &str, resource: &Resource) -> ApiResult<()> {
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    let snapshot = cluster.store.snapshot();
    let keys: Vec<Key> = snapshot.range(&scope(namespace, resource.id), "").map(|entry| entry.key.clone()).collect();
    let mut strides = Strides::default();
    for key in keys {
        cluster.own(resource).by(MANAGER).delete(&key, &options).await?;
        strides.step().await;
    }
    Ok(())
}

/// Counts the objects that remain.
async fn count(cluster: &Shared, namespace: &str, registry: &Registry) -> Remaining {
    let snapshot = cluster.store.snapshot();
    let (mut remaining, mut strides) = (Remaining::at(snapshot.revision), Strides::default());
    for resource in content(registry) {
        for entry in snapshot.range(&scope(namespace, resource.id), "") {
            remaining.change(entry, 1);
            strides.step().await;
        }
    }
    remaining
}

/// The reason and the message of a condition that is not fulfilled (`ProcessContentTotals`).
fn trouble(condition: &str, remaining: &Remaining, registry: &Registry) -> Option<(&'static str, String)> {
    let list = |counts: BTreeMap<String, usize>, verb: &str| {
        let counts = counts.iter().map(|(what, count)| format!("{what} {verb} {count} resource instances"));
        Some(counts.collect::<Vec<_>>().join(", ")).filter(|list| !list.is_empty())
    };
    match condition {
        CONTENT_REMAINING => {
            let list = list(remaining.resources(registry), "has")?;
            Some(("SomeResourcesRemain", format!("Some resources are remaining: {list}")))
        }
        FINALIZERS_REMAINING => {
            let list = list(remaining.finalizers(), "in")?;
            let message = "Some content in the namespace has finalizers remaining";
            Some(("SomeFinalizersRemain", format!("{message}: {list}")))
        }
        _ => None,
    }
}

/// `updateConditions`: unchanged conditions keep their transition time.
async fn write_conditions(
    cluster: &Context<'_>,
    namespace: &str,
    remaining: &Remaining,
    registry: &Registry,
) -> ApiResult<()> {
    let now = format_seconds(cluster.now);
    let change = change(own(cluster, registry).through("status"), namespace, |object| {
        let mut conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        for (kind, reason, message) in CONDITIONS {
            let (status, reason, message) = match trouble(kind, remaining, registry) {
                Some((reason, message)) => ("True", reason, message),
                None => ("False", reason, message.to_string()),
            };
            let old = conditions.iter().position(|condition| condition["type"] == kind);
            let time = match old.filter(|index| conditions[*index]["status"] == status) {
                Some(index) => conditions[index]["lastTransitionTime"].clone(),
                None => now.as_str().into(),
            };
            let condition = json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": time});
            match old {
                Some(index) => conditions[index] = condition,
                None => conditions.push(condition),
            }
        }
        object["status"]["conditions"] = conditions.into();
    });
    change.await
}

/// Removes the finalizer, and the namespace unless it has other finalizers.
async fn finalize(cluster: &Context<'_>, namespace: &str) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let own = own(cluster, &catalog.registry).through("finalize");
    let change = change(own, namespace, |object| {
        if let Some(finalizers) = object["spec"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
    });
    change.await
}

fn own<'c>(cluster: &'c Context<'_>, registry: &'c Registry) -> Own<'c> {
    cluster.own(registry.known(ids::NAMESPACES)).by(MANAGER)
}

/// Changes the namespace, if it exists; it is removed when it has no finalizers left.
async fn change(own: Own<'_>, namespace: &str, change: impl Fn(&mut Value)) -> ApiResult<()> {
    let key = key(namespace);
    let changed = own.change(&key, |_, old| {
        let mut object = old.clone();
        change(&mut object);
        Ok(Some(object))
    });
    changed.await.map(drop)
}

#[cfg(test)]
mod tests;
