//! The namespace controller of kube-controller-manager, built in: it deletes the content of a deleted namespace, reports the
//! remaining objects in conditions, and finalizes the namespace when none remain.
//!
//! ```text
//!   pods ── all gone ──▶ everything else ── all gone ──▶ spec.finalizers without "kubernetes"
//!     └── some left ──▶ wait ◀── some left ──┤
//!                             tried again ◀──┴── refused, as by a webhook
//! ```
//! Upstream it looks again after a while; here it does whenever an object in the namespace was removed. All objects are read once; from
//! then on those that remain are counted by what has changed. A key is a name. Follows `pkg/controller/namespace/deletion` of Kubernetes
//! v1.37.1.

mod remaining;

use super::client::Client;
use super::event::Event;
use super::loopback::Account;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use super::strides::Strides;
use crate::clock::format_seconds;
use crate::commit::deletion::{DeleteOptions, Propagation};
use crate::commit::namespace::{is_terminating, key};
use crate::discovery::preferred;
use crate::error::{ApiError, ApiResult, aggregate};
use crate::registry::{Registry, Served, ids};
use crate::store::{Entry, ResourceId, Scope};
use futures::FutureExt;
use futures::future::BoxFuture;
use remaining::Remaining;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tree::json;

/// `corev1.FinalizerKubernetes`, in `spec.finalizers`.
const FINALIZER: &str = "kubernetes";
/// The controller as a client.
const ACCOUNT: Account =
    Account { user: "system:serviceaccount:kube-system:namespace-controller", manager: "kube-controller-manager" };
/// The longest time after which it tries again (`nsControllerRateLimiter`).
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// `conditionTypes`, each with its `okReasons` and `okMessages`.
const CONDITIONS: [(&str, &str, &str); 5] = [
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (DELETION_FAILURE, "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    (CONTENT_REMAINING, "ContentRemoved", "All content successfully removed"),
    (FINALIZERS_REMAINING, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
];
const DELETION_FAILURE: &str = "NamespaceDeletionContentFailure";
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

/// The refusals to delete the objects of some kinds.
type Refusals = BTreeMap<ResourceId, ApiError>;

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

    fn longest_delay(&self) -> Duration {
        LONGEST_DELAY
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
        let registry = &catalog.registry;
        let mut refused = Refusals::default();
        if self.closed().get(namespace).is_none_or(|closed| closed.uid != entry.meta.uid) {
            let pods = Served::stored(registry.known(ids::PODS));
            refused.extend(empty(cluster, namespace, pods).await);
            if refused.is_empty() {
                self.closed().insert(namespace.into(), Closed { uid: entry.meta.uid.clone(), content: None });
            }
        }
        // The cost of waiting for pods does not depend on their number.
        if refused.is_empty() && remains(cluster, namespace, ids::PODS) {
            // Upstream does not count them: it reports that nothing remains.
            write_conditions(cluster, namespace, &Remaining::default(), &refused, registry).await;
            return Ok(());
        }
        let known = self.closed().get_mut(namespace).and_then(|closed| closed.content.take());
        let remaining = match known.and_then(|known| known.now(&cluster.store, namespace)) {
            Some(remaining) => remaining,
            None => {
                for served in content(registry).filter(|served| served.resource.id != ids::PODS) {
                    refused.extend(empty(cluster, namespace, served).await);
                }
                count(cluster, namespace, registry, &refused).await
            }
        };
        write_conditions(cluster, namespace, &remaining, &refused, registry).await;
        if !refused.is_empty() {
            let why = aggregate(refused.values().map(ToString::to_string));
            return Err(ApiError::internal(format!("the content of namespace {namespace} cannot be deleted: {why}")));
        }
        if remaining.is_empty() {
            finalize(cluster, namespace, registry).await?;
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

/// The resources whose objects live in namespaces, in the versions that clients prefer. One that two groups serve is one.
fn content(registry: &Registry) -> impl Iterator<Item = Served<'_>> {
    let mut known = BTreeSet::new();
    preferred(registry).filter(move |served| served.resource.meta.namespaced && known.insert(served.resource.id))
}

fn scope(namespace: &str, resource: ResourceId) -> Scope {
    Scope { resource, namespace: Some(namespace.into()), name: None }
}

/// Whether the namespace holds any object of that kind.
fn remains(cluster: &Shared, namespace: &str, id: ResourceId) -> bool {
    cluster.store.snapshot().range(&scope(namespace, id), "").next().is_some()
}

/// Deletes all objects of that kind; the refusal, if there is one.
async fn empty(cluster: &Context<'_>, namespace: &str, kind: Served<'_>) -> Option<(ResourceId, ApiError)> {
    if !remains(cluster, namespace, kind.resource.id) {
        return None;
    }
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    let refusal = Client::of(cluster, ACCOUNT, kind).delete_all(namespace, &options).await.err()?;
    Some((kind.resource.id, refusal))
}

/// Counts the objects that remain, but for those whose deletion was refused.
async fn count(cluster: &Shared, namespace: &str, registry: &Registry, refused: &Refusals) -> Remaining {
    let snapshot = cluster.store.snapshot();
    let (mut remaining, mut strides) = (Remaining::at(snapshot.revision), Strides::default());
    for id in content(registry).map(|served| served.resource.id).filter(|id| !refused.contains_key(id)) {
        for entry in snapshot.range(&scope(namespace, id), "") {
            remaining.change(entry, 1);
            strides.step().await;
        }
    }
    remaining
}

/// The reason and the message of a condition that is not fulfilled (`ProcessContentTotals`, `makeDeleteContentCondition`).
fn trouble(
    condition: &str,
    remaining: &Remaining,
    refused: &Refusals,
    registry: &Registry,
) -> Option<(&'static str, String)> {
    let list = |counts: BTreeMap<String, usize>, verb: &str| {
        let counts = counts.iter().map(|(what, count)| format!("{what} {verb} {count} resource instances"));
        Some(counts.collect::<Vec<_>>().join(", ")).filter(|list| !list.is_empty())
    };
    match condition {
        DELETION_FAILURE if !refused.is_empty() => {
            let mut all: Vec<String> = refused.values().map(ToString::to_string).collect();
            all.sort();
            let (count, all) = (all.len(), all.join(", "));
            Some(("ContentDeletionFailed", format!("Failed to delete all resource types, {count} remaining: {all}")))
        }
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

/// `updateConditions`: unchanged conditions keep their transition time. A refusal of that holds up nothing.
async fn write_conditions(
    cluster: &Context<'_>,
    namespace: &str,
    remaining: &Remaining,
    refused: &Refusals,
    registry: &Registry,
) {
    let now = format_seconds(cluster.now);
    let client = Client::new(cluster, ACCOUNT, registry.known(ids::NAMESPACES)).through("status");
    let key = key(namespace);
    let written = client.change(&key, |old| {
        let mut object = old.clone();
        let mut conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        for (kind, reason, message) in CONDITIONS {
            let (status, reason, message) = match trouble(kind, remaining, refused, registry) {
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
        (object != *old).then_some(object)
    });
    if let Err(error) = written.await {
        tracing::error!(namespace, %error, "The conditions of a namespace cannot be written");
    }
}

/// Removes the finalizer, and the namespace unless it has other finalizers.
async fn finalize(cluster: &Context<'_>, namespace: &str, registry: &Registry) -> ApiResult<()> {
    let client = Client::new(cluster, ACCOUNT, registry.known(ids::NAMESPACES)).through("finalize");
    let key = key(namespace);
    let finalized = client.change(&key, |old| {
        let mut object = old.clone();
        if let Some(finalizers) = object["spec"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        Some(object)
    });
    finalized.await.map(drop)
}
