//! The namespace controller of kube-controller-manager, played by the server itself: it deletes what is in a deleted namespace,
//! writes down what is left and why, and lets the namespace go when nothing is.
//!
//! ```text
//!   pods ── all gone ──▶ everything else ── all gone ──▶ spec.finalizers without "kubernetes"
//!     └── some left ──▶ wait ◀── some left ──┘
//! ```
//! Upstream it looks again after a while; here at once whenever something that held the namespace up is gone. Follows
//! `pkg/controller/namespace/deletion` of Kubernetes v1.37.1.

use super::delete;
use super::draft::{draft, tree};
use super::namespaces::{awaits_finalizers, key};
use crate::clock::format_seconds;
use crate::cluster::Cluster;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{Resource, ids};
use crate::store::{Key, Scope, WriteError};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `corev1.FinalizerKubernetes`, in `spec.finalizers`.
const FINALIZER: &str = "kubernetes";

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

/// What would not go: how many objects of each resource, and how many wait for each finalizer.
#[derive(Default)]
struct Remaining {
    resources: BTreeMap<String, usize>,
    finalizers: BTreeMap<String, usize>,
}

/// Does its work after something in `namespace`, or the namespace itself, was deleted.
pub(super) fn reap(cluster: &Cluster, namespace: &str, now: Timestamp) -> ApiResult<()> {
    let terminating =
        cluster.store.get(&key(namespace)).is_some_and(|entry| entry.meta.field("status.phase") == Some("Terminating"));
    if !terminating || !cluster.namespace_controller {
        return Ok(());
    }
    let is_pods = |kind: &Resource| kind.id == ids::PODS;
    let pods = empty(cluster, namespace, now, is_pods)?;
    if !pods.resources.is_empty() {
        // Upstream does not count them: by its word, nothing is left.
        return write_conditions(cluster, namespace, &Remaining::default(), now);
    }
    let others = empty(cluster, namespace, now, |kind| !is_pods(kind))?;
    write_conditions(cluster, namespace, &others, now)?;
    if others.resources.is_empty() { finalize(cluster, namespace) } else { Ok(()) }
}

/// Deletes all objects of those kinds.
fn empty(cluster: &Cluster, namespace: &str, now: Timestamp, of: impl Fn(&Resource) -> bool) -> ApiResult<Remaining> {
    let snapshot = cluster.store.snapshot();
    let mut remaining = Remaining::default();
    let catalog = cluster.catalog();
    for kind in catalog.registry.resources().filter(|kind| kind.meta.namespaced && of(kind)) {
        let scope = Scope { resource: kind.id, namespace: Some(namespace.into()), name: None };
        for entry in snapshot.range(&scope, "") {
            delete::by_controller(cluster, kind, &entry.key, now)?;
            remaining.count(cluster, kind, &entry.key)?;
        }
    }
    Ok(remaining)
}

impl Remaining {
    /// Counts the object of that key if it is still there.
    fn count(&mut self, cluster: &Cluster, kind: &Resource, key: &Key) -> ApiResult<()> {
        let Some(entry) = cluster.store.get(key) else { return Ok(()) };
        *self.resources.entry(format!("{}.{}", kind.resource, kind.group)).or_default() += 1;
        for finalizer in meta::finalizers(&tree(&entry)?) {
            *self.finalizers.entry(finalizer.to_string()).or_default() += 1;
        }
        Ok(())
    }

    /// The reason and the message of a condition that is not as it should be (`ProcessContentTotals`).
    fn trouble(&self, condition: &str) -> Option<(&'static str, String)> {
        let list = |counts: &BTreeMap<String, usize>, verb: &str| {
            let counts = counts.iter().map(|(what, count)| format!("{what} {verb} {count} resource instances"));
            counts.collect::<Vec<_>>().join(", ")
        };
        match condition {
            CONTENT_REMAINING if !self.resources.is_empty() => {
                Some(("SomeResourcesRemain", format!("Some resources are remaining: {}", list(&self.resources, "has"))))
            }
            FINALIZERS_REMAINING if !self.finalizers.is_empty() => {
                let message = "Some content in the namespace has finalizers remaining";
                Some(("SomeFinalizersRemain", format!("{message}: {}", list(&self.finalizers, "in"))))
            }
            _ => None,
        }
    }
}

/// `updateConditions`: those that are as they were keep their time.
fn write_conditions(cluster: &Cluster, namespace: &str, remaining: &Remaining, now: Timestamp) -> ApiResult<()> {
    let now = format_seconds(now);
    change(cluster, namespace, |object| {
        let mut conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        for (kind, reason, message) in CONDITIONS {
            let (status, reason, message) = match remaining.trouble(kind) {
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
    })
}

/// Takes the finalizer off, and the namespace away unless something else holds it.
fn finalize(cluster: &Cluster, namespace: &str) -> ApiResult<()> {
    change(cluster, namespace, |object| {
        if let Some(finalizers) = object["spec"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
    })
}

/// Changes the namespace, if it is still there; what nothing holds any longer goes.
fn change(cluster: &Cluster, namespace: &str, mut change: impl FnMut(&mut Value)) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let kind = catalog.registry.known(ids::NAMESPACES);
    let key = key(namespace);
    while let Some(entry) = cluster.store.get(&key) {
        let mut object = tree(&entry)?;
        change(&mut object);
        let free = !awaits_finalizers(kind, &object) && meta::finalizers(&object).next().is_none();
        let result = if free {
            cluster.store.delete(&key, entry.revision).map(drop)
        } else {
            cluster.store.update(draft(kind, kind.id, &object)?, entry.revision).map(drop)
        };
        match result {
            Err(WriteError::Modified(_)) => {}
            _ => break,
        }
    }
    Ok(())
}
