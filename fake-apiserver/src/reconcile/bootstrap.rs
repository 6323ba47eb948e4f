//! The objects that a server creates at its first start. `bootstrap.jsonl` holds the roles and bindings of a real one, an object a
//! line, without the fields that all of them have (`cargo xtask conformance policy` records them).
//!
//! Upstream: `EnsureRBACPolicy` of `pkg/registry/rbac/rest` (v1.37.1), which without RBAC does nothing, and `systemnamespaces` of
//! `pkg/controlplane/controller`.

use super::{Event, Reconcilers, Shared};
use crate::auth::rbac::Rule;
use crate::clock::format_seconds;
use crate::commit::server::{self, MANAGER};
use crate::commit::{Commits, draft};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::ids;
use crate::registry::managers::Writer;
use crate::store::Draft;
use jiff::Timestamp;
use tree::{Value, json};

const POLICY: &str = include_str!("bootstrap.jsonl");

/// The API version of roles and bindings.
const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// A label and an annotation that all of them have.
const LABEL: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");
const ANNOTATION: (&str, &str) = ("rbac.authorization.kubernetes.io/autoupdate", "true");

/// The rules of `system:node`, which hold for every node even if that role is changed: `NodeRules`.
pub(crate) fn node_rules() -> Vec<Rule> {
    let roles = POLICY.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut nodes = roles.filter(|role| role["kind"] == "ClusterRole" && meta::name(role) == "system:node");
    nodes.next().map(|role| Rule::all_of(&role)).unwrap_or_default()
}

/// Namespaces of a new cluster.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Creates the objects of a real server's first start: namespaces, with RBAC its roles and bindings, and those of the
/// reconcilers.
///
/// # Errors
/// If the store is not empty.
pub(crate) async fn create(reconcilers: &Reconcilers, rbac: bool) -> ApiResult<()> {
    let (cluster, ticket) = (reconcilers.cluster(), reconcilers.ticket());
    let (commits, now) = (ticket.commits(&cluster.store), cluster.clock.now());
    namespaces(cluster, commits, now).await?;
    if rbac {
        policy(cluster, commits, now).await?;
    }
    ticket.note(&Event::Start);
    ticket.done().await;
    Ok(())
}

async fn namespaces(cluster: &Shared, commits: Commits<'_>, now: Timestamp) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let resource = catalog.registry.known(ids::NAMESPACES);
    for name in NAMESPACES {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        store(commits, server::created(resource, object, &cluster.store, &cluster.ids, now)?).await?;
    }
    Ok(())
}

async fn policy(cluster: &Shared, commits: Commits<'_>, now: Timestamp) -> ApiResult<()> {
    let now = format_seconds(now);
    let catalog = cluster.catalog();
    for line in POLICY.lines() {
        let mut object: Value =
            serde_json::from_str(line).map_err(|why| ApiError::internal(format!("the policy is not JSON: {why}")))?;
        let kind = object["kind"].as_str().unwrap_or_default();
        let served = catalog.registry.kind(API_VERSION, kind);
        let resource = served.ok_or_else(|| ApiError::internal(format!("no kind {kind}")))?.resource;
        object["apiVersion"] = API_VERSION.into();
        object["metadata"]["labels"][LABEL.0] = LABEL.1.into();
        object["metadata"]["annotations"][ANNOTATION.0] = ANNOTATION.1.into();
        meta::set(&mut object, "uid", cluster.ids.uid());
        meta::set(&mut object, "creationTimestamp", now.as_str());
        (resource.rules.strategy.default)(&mut object);
        resource.track(writer(&now), None, &mut object);
        store(commits, draft(resource, &object)?).await?;
    }
    Ok(())
}

/// The writer of all this.
fn writer(now: &str) -> Writer<'_> {
    Writer { manager: MANAGER, subresource: "", now }
}

async fn store(commits: Commits<'_>, draft: Draft) -> ApiResult<()> {
    let created = commits.create(draft, None).await;
    created.map(drop).map_err(|_| ApiError::internal("a new cluster is not empty"))
}
