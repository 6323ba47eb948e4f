//! Namespaces: what must exist before anything else can, and what takes everything with it when it goes.
//!
//! ```text
//!   Active ── DELETE ──▶ Terminating ── content gone ──▶ spec.finalizers emptied ── no finalizers ──▶ removed
//! ```
//! While terminating a namespace takes no new content. The namespace controller of kube-controller-manager, which deletes
//! the content, is played here: at once, and again whenever something that held a namespace up is gone.

use super::draft::{draft, tree};
use super::options::DeleteOptions;
use super::{Request, delete};
use crate::clock::format_seconds;
use crate::cluster::Cluster;
use crate::error::{ApiError, ApiResult, Qualified};
use crate::object::meta;
use crate::registry::{self, Kind, KindId};
use crate::store::{Entry, Key, Parent, ResourceId, Scope, Updated, WriteError};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Namespaces that a real server makes at start, and (all but the last) never lets go.
const INITIAL: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];
/// `corev1.FinalizerKubernetes`, in `spec.finalizers`.
const FINALIZER: &str = "kubernetes";

const NAMESPACES: Qualified<'static> = Qualified { group: "", resource: "namespaces" };

fn resource() -> (ResourceId, &'static Kind) {
    let id = registry::by_resource("", "v1", "namespaces").expect("namespaces are in the table of kinds");
    (id.into(), id.kind())
}

fn key(name: &str) -> Key {
    Key::new(resource().0, "", name)
}

/// Makes the namespaces of a new cluster.
pub(crate) fn create_initial(cluster: &Cluster, now: Timestamp) -> ApiResult<()> {
    let (resource, kind) = resource();
    for name in INITIAL {
        let mut object = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "uid": cluster.ids.uid(), "creationTimestamp": format_seconds(now)},
        });
        (kind.strategy.default)(&mut object);
        (kind.strategy.prepare_create)(&mut object);
        let draft = draft(kind, resource, &object)?;
        cluster.store.create(draft, None).map_err(|_| ApiError::internal("a new cluster is not empty"))?;
    }
    Ok(())
}

/// What a new object of the request's kind must live in.
pub(super) fn parent(request: &Request<'_>) -> Option<Parent> {
    let namespaced = request.kind.namespaced && !request.namespace.is_empty();
    namespaced.then(|| Parent { key: key(request.namespace), closed_when: ("status.phase", "Terminating") })
}

/// The admission plugin `NamespaceLifecycle`, for creations.
pub(super) fn admit_content(request: &Request<'_>, name: &str) -> ApiResult<()> {
    let Some(parent) = parent(request) else { return Ok(()) };
    let Some(entry) = request.cluster.store.get(&parent.key) else { return Err(missing(request.namespace)) };
    let (field, value) = parent.closed_when;
    if entry.meta.field(field) == Some(value) {
        return Err(terminating(request, name));
    }
    Ok(())
}

/// 404: there is no such namespace.
pub(super) fn missing(namespace: &str) -> ApiError {
    ApiError::not_found(NAMESPACES, namespace)
}

/// 403: the namespace takes no new content.
pub(super) fn terminating(request: &Request<'_>, name: &str) -> ApiError {
    let namespace = request.namespace;
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let cause = format!("namespace {namespace} is being terminated");
    ApiError::forbidden(request.kind.qualified(), name, why).with_cause(
        "NamespaceTerminating",
        cause,
        "metadata.namespace",
    )
}

/// 403 for the namespaces that no cluster can do without.
pub(super) fn admit_delete(request: &Request<'_>) -> ApiResult<()> {
    if is_namespace(request.kind) && IMMORTAL.contains(&request.name) {
        return Err(ApiError::forbidden(NAMESPACES, request.name, "this namespace may not be deleted"));
    }
    Ok(())
}

pub(super) fn is_namespace(kind: &Kind) -> bool {
    kind.group.is_empty() && kind.resource == "namespaces"
}

/// From here on it takes no new content.
pub(super) fn close(namespace: &mut Value) {
    namespace["status"]["phase"] = "Terminating".into();
}

/// 409, in words of their own, if a delete means another namespace.
pub(super) fn check_preconditions(entry: &Entry, options: &DeleteOptions) -> ApiResult<()> {
    let revision = entry.revision.to_string();
    let wanted = [("UID", &options.uid, &*entry.meta.uid), ("ResourceVersion", &options.resource_version, &revision)];
    for (what, wanted, found) in wanted {
        if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != found) {
            let why = format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}");
            return Err(ApiError::conflict(NAMESPACES, entry.key.name(), why));
        }
    }
    Ok(())
}

/// Whether a namespace waits for its content to go.
pub(super) fn awaits_finalizers(kind: &Kind, object: &Value) -> bool {
    is_namespace(kind) && object["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty())
}

/// Plays the namespace controller after something in `namespace`, or the namespace itself, was deleted.
pub(super) fn reap(cluster: &Cluster, namespace: &str, now: Timestamp) -> ApiResult<()> {
    let terminating =
        cluster.store.get(&key(namespace)).is_some_and(|entry| entry.meta.field("status.phase") == Some("Terminating"));
    if !terminating || !cluster.namespace_controller {
        return Ok(());
    }
    let snapshot = cluster.store.snapshot();
    let mut left = 0;
    for (id, kind) in KindId::all().map(|id| (id, id.kind())).filter(|(_, kind)| kind.namespaced) {
        let scope = Scope { resource: id.into(), namespace: Some(namespace.into()), name: None };
        for entry in snapshot.range(&scope, "") {
            left += usize::from(!delete::by_controller(cluster, kind, &entry.key, now)?);
        }
    }
    if left == 0 { finalize(cluster, namespace) } else { Ok(()) }
}

/// Takes the finalizer off, and the namespace away unless something else holds it.
fn finalize(cluster: &Cluster, namespace: &str) -> ApiResult<()> {
    let (resource, kind) = resource();
    let key = key(namespace);
    while let Some(entry) = cluster.store.get(&key) {
        let mut object = tree(&entry)?;
        if let Some(finalizers) = object["spec"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        let free = !awaits_finalizers(kind, &object) && meta::finalizers(&object).next().is_none();
        let result = if free {
            cluster.store.delete(&key, entry.revision).map(|_| ())
        } else {
            let draft = draft(kind, resource, &object)?;
            cluster.store.update(draft, entry.revision).map(|_: Updated| ())
        };
        match result {
            Err(WriteError::Modified(_)) => {}
            _ => break,
        }
    }
    Ok(())
}
