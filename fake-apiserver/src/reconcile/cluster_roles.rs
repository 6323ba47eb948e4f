//! The ClusterRole aggregation controller of kube-controller-manager, built in: a role with an `aggregationRule` gets the rules of
//! all roles that its selectors select.
//!
//! Upstream does that a moment after a role was written; here it is done before the response to the write. Follows
//! `pkg/controller/clusterroleaggregation` of Kubernetes v1.37.1.

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use super::strides::Strides;
use crate::clock::format_seconds;
use crate::commit::{Change, draft};
use crate::error::ApiResult;
use crate::object::generation::equal;
use crate::object::meta;
use crate::object::selector::LabelSelector;
use crate::registry::managers::{self, Writer};
use crate::registry::{Resource, ids};
use crate::store::{Entry, Scope};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::HashSet;
use std::sync::Arc;
use tree::Value;

/// The manager of the aggregated rules.
const MANAGER: &str = "clusterrole-aggregation-controller";
/// Maximal length of a chain of roles that aggregate each other. Roles that do so in a circle may never settle.
const LONGEST_CHAIN: usize = 100;

pub(super) struct ClusterRoles;

impl Reconciler for ClusterRoles {
    /// One key stands for all roles.
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Stored(role) | Event::Removed(role) if role.key.resource == ids::CLUSTER_ROLES => vec!["".into()],
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, _: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        aggregate(context).boxed()
    }
}

/// Sets the rules of all aggregated roles, which may in turn be aggregated by others.
async fn aggregate(cluster: &Context<'_>) -> ApiResult<()> {
    let (now, mut strides) = (format_seconds(cluster.now), Strides::default());
    let catalog = cluster.catalog();
    let resource = catalog.registry.known(ids::CLUSTER_ROLES);
    let scope = Scope::all(resource.id);
    for _ in 0..LONGEST_CHAIN {
        let snapshot = cluster.store.snapshot();
        let all: Vec<Arc<Entry>> = snapshot.range(&scope, "").cloned().collect();
        let mut changed = false;
        for entry in all.iter().filter(|entry| may_aggregate(entry)) {
            changed |= fill(cluster, resource, entry, &all, &now).await?;
            strides.step().await;
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

/// Sets the aggregated rules of a role; true if it had others.
async fn fill(
    cluster: &Context<'_>,
    resource: &Resource,
    entry: &Entry,
    all: &[Arc<Entry>],
    now: &str,
) -> ApiResult<bool> {
    let changed = cluster.commits.change(&entry.key, |current| {
        let old = current.object();
        let mut role = old.clone();
        let Some(rules) = gathered(&role, all) else { return Ok((Change::Leave, false)) };
        // Where nothing is left to aggregate, only rules that were aggregated are removed.
        if equal(Some(&rules), role.get("rules")) || rules.is_null() && !managers::has_applied(&old, MANAGER) {
            return Ok((Change::Leave, false));
        }
        role["rules"] = rules;
        let writer = Writer { manager: MANAGER, subresource: "", now };
        resource.track_applied(writer, &old, &mut role, "rules")?;
        Ok((Change::Put(draft(resource, &role)?), true))
    });
    Ok(changed.await?.is_some_and(|(_, changed)| changed))
}

/// Whether the role may have an `aggregationRule`. This saves parsing all roles for each write of one.
fn may_aggregate(entry: &Entry) -> bool {
    std::str::from_utf8(entry.json()).is_ok_and(|text| text.contains("\"aggregationRule\":"))
}

/// The rules of all other selected roles, each once; `None` if the role has no `aggregationRule`, or an invalid selector.
fn gathered(role: &Value, all: &[Arc<Entry>]) -> Option<Value> {
    if role["aggregationRule"].is_null() {
        return None;
    }
    let mut rules: Vec<Value> = Vec::new();
    let mut known: HashSet<Value> = HashSet::new();
    for selector in role["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten() {
        let selector = LabelSelector::structured(selector)?;
        for entry in all.iter().filter(|entry| selector.matches(entry.meta.labels())) {
            if entry.key.name() == meta::name(role) {
                continue;
            }
            for rule in entry.object()["rules"].as_array().into_iter().flatten() {
                if known.insert(rule.clone()) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    Some(if rules.is_empty() { Value::Null } else { rules.into() })
}
