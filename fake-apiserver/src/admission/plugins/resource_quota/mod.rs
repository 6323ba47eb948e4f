//! The plugin `ResourceQuota`: a write that uses more than the quotas of its namespace allow is refused, any other is counted in them.
//!
//! ```text
//!   the namespace's quotas ─▶ check ──▶ refused, or nothing to count
//!             ▲                 └─▶ count in each that changes ──▶ allowed
//!             └── those that another write has changed ──┘
//! ```
//! A quota limits what its status names; the controller that fills in the status is no part of the server. What is counted is not given back
//! if the write fails later.
//!
//! Follows `pkg/admission/plugin/resourcequota/{admission,controller}.go` of k8s.io/apiserver (v0.37.1), which gathers the waiting
//! writes of a namespace, and gives up after three conflicts; and `pkg/quota/v1/install/registry.go` (v1.37.1). Several quotas are taken by name.

mod check;
mod claims;
mod evaluator;
mod pods;
mod resource_claims;
mod scopes;
mod services;

use super::names::{Names, entries};
use crate::admission::{Attributes, Operation, Plugin, Verdict};
use crate::auth::Notes;
use crate::clock::format_seconds;
use crate::commit::server::MANAGER;
use crate::commit::{Change, draft};
use crate::error::ApiResult;
use crate::registry::managers::Writer;
use crate::registry::{Amounts, child, ids};
use crate::store::{Entry, Key, Store};
use check::{Measured, check};
use claims::Claims;
use evaluator::{Evaluator, Objects};
use pods::Pods;
use resource_claims::ResourceClaims;
use services::Services;
use std::sync::Arc;
use tree::Value;

/// `ignoredResources`: those that are not stored, and events, by group.
const IGNORED: &[(&str, &str)] = &[
    ("", "bindings"),
    ("", "componentstatuses"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("", "events"),
    ("events.k8s.io", "events"),
];

/// The plugin `ResourceQuota`.
pub(super) struct ResourceQuota {
    quotas: Names,
}

impl ResourceQuota {
    /// The plugin, with the quotas of a store.
    pub(super) fn new(store: &Store) -> ResourceQuota {
        ResourceQuota { quotas: Names::new(store, ids::RESOURCE_QUOTAS) }
    }
}

impl Plugin for ResourceQuota {
    fn validate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a Value, _: &'a mut Notes) -> Verdict<'a> {
        let keys = self.quotas.in_namespace(write.namespace);
        let is_change = matches!(write.operation, Operation::Create | Operation::Update);
        let is_ignored = || IGNORED.contains(&(&*write.version.group, &*write.version.plural));
        if !is_change || keys.is_empty() || is_ignored() {
            return Verdict::Now(Ok(()));
        }
        let evaluator = evaluator(write);
        match evaluator.handles(write, object) {
            false => Verdict::Now(Ok(())),
            true => Verdict::Later(Box::pin(count(write, object, evaluator, keys))),
        }
    }
}

/// The evaluator for the kind of a write.
fn evaluator<'a>(write: &'a Attributes<'a>) -> Box<dyn Evaluator + 'a> {
    match write.resource.id {
        ids::PODS => Box::new(Pods { now: write.clock.now() }),
        ids::SERVICES => Box::new(Services),
        ids::PERSISTENT_VOLUME_CLAIMS => Box::new(Claims),
        ids::RESOURCE_CLAIMS => Box::new(ResourceClaims::new(write)),
        _ => Box::new(Objects::new(&write.version.group, &write.version.plural)),
    }
}

/// Counts a write in the quotas, all of which have to allow it. Where another write was faster, the quotas that are
/// left are checked again (`checkQuotas`).
///
/// # Errors
/// 403 if a quota does not allow it; 504 if the deadline passes.
async fn count<'a>(
    write: &'a Attributes<'a>,
    object: &'a Value,
    evaluator: Box<dyn Evaluator + 'a>,
    mut keys: Vec<Key>,
) -> ApiResult<()> {
    let measured = Measured { object, old: write.old, is_status: write.subresource == "status" };
    while !keys.is_empty() {
        write.deadline.check()?;
        let entries = entries(write.store, &keys);
        let quotas: Vec<Value> = entries.iter().map(|entry| entry.object()).collect();
        let used = check(&quotas, &*evaluator, &measured).map_err(|why| write.forbidden(object, why))?;
        if write.options.dry_run() {
            return Ok(());
        }
        keys = count_in(write, &entries, &quotas, used).await?;
    }
    Ok(())
}

/// Counts in one quota after the other, in the same order as all writes do, so that of those that want the last of several quotas one gets
/// it. Returns the keys from the first quota on that another write has changed.
async fn count_in(
    write: &Attributes<'_>,
    entries: &[Arc<Entry>],
    quotas: &[Value],
    used: Vec<(usize, Amounts)>,
) -> ApiResult<Vec<Key>> {
    for (done, (place, used_of)) in used.iter().enumerate() {
        let change = with_used(write, &quotas[*place], used_of)?;
        if write.commits.commit(&entries[*place], change).await.is_err() {
            return Ok(used[done..].iter().map(|(place, _)| entries[*place].key.clone()).collect());
        }
    }
    Ok(Vec::new())
}

/// The change of what is used of a quota.
fn with_used(write: &Attributes<'_>, quota: &Value, used: &Amounts) -> ApiResult<Change> {
    let resource = write.registry.known(ids::RESOURCE_QUOTAS);
    let now = format_seconds(write.clock.now());
    let mut new = quota.clone();
    child(&mut new, "status")["used"] = used.value();
    resource.track(Writer { manager: MANAGER, subresource: "status", now: &now }, Some(quota), &mut new);
    Ok(Change::Put(draft(resource, &new)?))
}
