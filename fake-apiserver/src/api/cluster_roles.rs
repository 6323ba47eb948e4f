//! The controller of kube-controller-manager that fills cluster roles with the rules of others, played by the server itself: a role
//! with an `aggregationRule` gets the rules of all roles that its selectors select.
//!
//! Upstream it does so a moment after a role was written; here before the writer gets an answer. Follows
//! `pkg/controller/clusterroleaggregation` of Kubernetes v1.37.1.

use super::Request;
use super::draft::{draft, tree};
use crate::cluster::Cluster;
use crate::error::{ApiError, ApiResult};
use crate::object::generation::equal;
use crate::object::meta;
use crate::object::selector::LabelSelector;
use crate::registry::{Resource, ids};
use crate::store::{Entry, Scope, WriteError};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// How many roles may gather from each other in a row. Those that do so in a circle need not ever settle.
const LONGEST_CHAIN: usize = 100;

/// What the controller remembers.
#[derive(Default)]
pub(crate) struct Aggregator {
    /// The roles, by uid, whose rules are its own: those it takes away when there is nothing left to gather. Upstream knows by
    /// its field manager.
    filled: Mutex<HashSet<Box<str>>>,
}

/// Does its work once a write was served that may have changed cluster roles.
pub(super) fn follow(request: &Request<'_>) -> ApiResult<()> {
    if request.kind.id == ids::CLUSTER_ROLES { aggregate(request.cluster) } else { Ok(()) }
}

/// Gives all roles that gather others' rules what is their due. What one role gathers another may gather in turn.
pub(super) fn aggregate(cluster: &Cluster) -> ApiResult<()> {
    let Some(aggregator) = &cluster.aggregator else { return Ok(()) };
    let catalog = cluster.catalog();
    let kind = catalog.registry.known(ids::CLUSTER_ROLES);
    let scope = Scope { resource: kind.id, namespace: None, name: None };
    // Held throughout, so that one writer's roles are done when the next one's begin.
    let mut filled = aggregator.filled.lock().expect("no code that runs under this lock panics");
    for _ in 0..LONGEST_CHAIN {
        let snapshot = cluster.store.snapshot();
        let all: Vec<&Arc<Entry>> = snapshot.range(&scope, "").collect();
        filled.retain(|uid| all.iter().any(|entry| entry.meta.uid == *uid));
        let mut changed = false;
        for entry in all.iter().filter(|entry| may_aggregate(entry)) {
            changed |= fill(cluster, kind, entry, &all, &mut filled)?;
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

/// Whether it is worth a look: parsing all roles for each write of one would take its time.
fn may_aggregate(entry: &Entry) -> bool {
    std::str::from_utf8(entry.json()).is_ok_and(|text| text.contains("\"aggregationRule\":"))
}

/// Gives a role the rules that are its due; whether it had others.
fn fill(
    cluster: &Cluster,
    kind: &Resource,
    entry: &Arc<Entry>,
    all: &[&Arc<Entry>],
    filled: &mut HashSet<Box<str>>,
) -> ApiResult<bool> {
    let mut role = tree(entry)?;
    if role["aggregationRule"].is_null() {
        return Ok(false);
    }
    let Some(rules) = gathered(&role, all)? else { return Ok(false) };
    let uid = &entry.meta.uid;
    if equal(Some(&rules), role.get("rules")) || rules.is_null() && !filled.contains(uid) {
        return Ok(false);
    }
    if rules.is_null() {
        filled.remove(uid);
    } else {
        filled.insert(uid.clone());
    }
    role["rules"] = rules;
    match cluster.store.update(draft(kind, kind.id, &role)?, entry.revision) {
        // It is looked at again as it is now.
        Ok(_) | Err(WriteError::Modified(_) | WriteError::NotFound) => Ok(true),
        Err(_) => Err(ApiError::internal("an update met the refusal of a create")),
    }
}

/// The rules of all other roles that are selected, each once; `None` if a selector is not valid.
fn gathered(role: &Value, all: &[&Arc<Entry>]) -> ApiResult<Option<Value>> {
    let mut rules: Vec<Value> = Vec::new();
    for selector in role["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten() {
        let Some(selector) = LabelSelector::structured(selector) else { return Ok(None) };
        for entry in all.iter().filter(|entry| selector.matches(|label| entry.meta.label(label))) {
            if entry.key.name() == meta::name(role) {
                continue;
            }
            for rule in tree(entry)?["rules"].as_array().into_iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    Ok(Some(if rules.is_empty() { Value::Null } else { rules.into() }))
}
