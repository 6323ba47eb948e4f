//! Namespaces: what must exist before anything else can, and what takes everything with it when it goes.
//!
//! ```text
//!   Active ── DELETE ──▶ Terminating ── content gone ──▶ spec.finalizers emptied ── no finalizers ──▶ removed
//! ```
//! While terminating a namespace takes no new content. Who deletes the content is `namespace_controller.rs`.

use super::Request;
use super::draft::draft;
use super::options::DeleteOptions;
use crate::admission::displayed_name;
use crate::clock::format_seconds;
use crate::cluster::Cluster;
use crate::error::{ApiError, ApiResult, Qualified};
use crate::registry::{Resource, ids};
use crate::store::{Entry, Key, Parent};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Namespaces that a real server makes at start, and (all but the last) never lets go.
const INITIAL: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

const NAMESPACES: Qualified<'static> = Qualified { group: "", resource: "namespaces" };

pub(super) fn key(name: &str) -> Key {
    Key::new(ids::NAMESPACES, "", name)
}

/// Makes the namespaces of a new cluster.
pub(super) fn create_initial(cluster: &Cluster, now: Timestamp) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let kind = catalog.registry.known(ids::NAMESPACES);
    for name in INITIAL {
        let mut object = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "uid": cluster.ids.uid(), "creationTimestamp": format_seconds(now)},
        });
        (kind.strategy.default)(&mut object);
        (kind.strategy.prepare_create)(&mut object);
        let draft = draft(kind, kind.id, &object)?;
        cluster.store.create(draft, None).map_err(|_| ApiError::internal("a new cluster is not empty"))?;
    }
    Ok(())
}

/// What a new object of the request's kind must live in.
pub(super) fn parent(request: &Request<'_>) -> Option<Parent> {
    let namespaced = request.kind.meta.namespaced && !request.namespace.is_empty();
    namespaced.then(|| Parent { key: key(request.namespace), closed_when: ("status.phase", "Terminating") })
}

/// The admission plugin `NamespaceLifecycle`, for creations: of objects, and of what hangs below them.
pub(super) fn admit_content(request: &Request<'_>, object: &Value) -> ApiResult<()> {
    let Some(parent) = parent(request) else { return Ok(()) };
    let Some(entry) = request.cluster.store.get(&parent.key) else { return Err(missing(request.namespace)) };
    let (field, value) = parent.closed_when;
    if entry.meta.field(field) == Some(value) {
        return Err(terminating(request, displayed_name(request.name, object)));
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
    ApiError::forbidden(request.version.qualified(), name, why).with_cause(
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

pub(super) fn is_namespace(kind: &Resource) -> bool {
    kind.id == ids::NAMESPACES
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
pub(super) fn awaits_finalizers(kind: &Resource, object: &Value) -> bool {
    is_namespace(kind) && object["spec"]["finalizers"].as_array().is_some_and(|list| !list.is_empty())
}
