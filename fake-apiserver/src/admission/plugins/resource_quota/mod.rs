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

use super::amounts::Amounts;
use super::names::{Names, entries};
use crate::admission::{Attributes, Operation, Plugin, Verdict};
use crate::auth::Notes;
use crate::clock::format_seconds;
use crate::commit::server::MANAGER;
use crate::commit::{Change, draft};
use crate::error::ApiResult;
use crate::registry::managers::Writer;
use crate::registry::{Registry, child, ids};
use crate::store::{Key, Store};
use check::{Measured, check};
use claims::Claims;
use evaluator::{Evaluator, Objects};
use pods::Pods;
use resource_claims::ResourceClaims;
use services::Services;
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
        let is_ignored = || IGNORED.contains(&(&*write.version.group, &*write.version.plural));
        if keys.is_empty() || write.operation == Operation::Delete || is_ignored() {
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
        ids::PODS => Box::new(Pods { now: write.now }),
        ids::SERVICES => Box::new(Services),
        ids::PERSISTENT_VOLUME_CLAIMS => Box::new(Claims),
        ids::RESOURCE_CLAIMS => Box::new(ResourceClaims::new(write)),
        _ => Box::new(Objects::new(&write.version.group, &write.version.plural)),
    }
}

/// Counts a write in the quotas, all of which have to allow it. Where another write was faster, only the quotas that it changed are checked
/// again (`checkQuotas`).
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
        keys.clear();
        if write.options.dry_run() {
            return Ok(());
        }
        for (place, used) in used {
            let change = with_used(write, &quotas[place], &used)?;
            if write.commits.commit(&entries[place], change).await.is_err() {
                keys.push(entries[place].key.clone());
            }
        }
    }
    Ok(())
}

/// The change of what is used of a quota.
fn with_used(write: &Attributes<'_>, quota: &Value, used: &Amounts) -> ApiResult<Change> {
    let registry = Registry::built_in();
    let resource = registry.known(ids::RESOURCE_QUOTAS);
    let now = format_seconds(write.now);
    let mut new = quota.clone();
    child(&mut new, "status")["used"] = used.value();
    resource.track(Writer { manager: MANAGER, subresource: "status", now: &now }, Some(quota), &mut new);
    Ok(Change::Put(draft(resource, &new)?))
}
