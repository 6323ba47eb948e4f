//! The roles and bindings that a server with RBAC makes at start. `rbac_policy.jsonl` holds those of a real one
//! (`cargo xtask conformance policy` records them anew), an object a line, without what all of them have.
//!
//! Upstream: `EnsureRBACPolicy` of `pkg/registry/rbac/rest` (v1.37.1), which without RBAC does nothing.

use super::cluster_roles;
use super::draft::draft;
use crate::auth::rbac::Rule;
use crate::clock::format_seconds;
use crate::cluster::Cluster;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use jiff::Timestamp;
use serde_json::Value;

const POLICY: &str = include_str!("rbac_policy.jsonl");

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// A label and an annotation that all of them have.
const LABEL: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");
const ANNOTATION: (&str, &str) = ("rbac.authorization.kubernetes.io/autoupdate", "true");

/// The rules of `system:node`, by which every node is judged whatever becomes of that role: `NodeRules`.
pub(crate) fn node_rules() -> Vec<Rule> {
    let roles = POLICY.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut nodes = roles.filter(|role| role["kind"] == "ClusterRole" && meta::name(role) == "system:node");
    nodes.next().map(|role| Rule::all_of(&role)).unwrap_or_default()
}

/// Makes the roles and bindings of a new cluster whose namespaces are there already.
pub(crate) fn create(cluster: &Cluster, now: Timestamp) -> ApiResult<()> {
    let now = format_seconds(now);
    let catalog = cluster.catalog();
    for line in POLICY.lines() {
        let mut object: Value =
            serde_json::from_str(line).map_err(|why| ApiError::internal(format!("the policy is no JSON: {why}")))?;
        let kind = object["kind"].as_str().unwrap_or_default();
        let served = catalog.registry.kind(API_VERSION, kind);
        let kind = served.ok_or_else(|| ApiError::internal(format!("no kind {kind}")))?.resource;
        object["apiVersion"] = API_VERSION.into();
        object["metadata"]["labels"][LABEL.0] = LABEL.1.into();
        object["metadata"]["annotations"][ANNOTATION.0] = ANNOTATION.1.into();
        meta::set(&mut object, "uid", cluster.ids.uid());
        meta::set(&mut object, "creationTimestamp", now.as_str());
        (kind.strategy.default)(&mut object);
        let draft = draft(kind, kind.id, &object)?;
        cluster.store.create(draft, None).map_err(|_| ApiError::internal("a new cluster is not empty"))?;
    }
    cluster_roles::aggregate(cluster)
}
