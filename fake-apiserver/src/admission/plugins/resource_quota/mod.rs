//! The plugin `ResourceQuota`: a write that uses more than the quotas of its namespace allow is refused, any other is counted in them.
//!
//! ```text
//!   the namespace's quotas ─▶ check ──▶ refused, or nothing to count
//!             ▲                 └─▶ count in each that changes ──▶ allowed
//!             └── those that another write has changed ──┘
//! ```
//! A quota limits what its status names; a controller, which is another program, fills in the status. A count is not given back
//! if the write fails later.
//!
//! Follows `pkg/admission/plugin/resourcequota/{admission,controller}.go` of k8s.io/apiserver (v0.37.1), which gathers the waiting
//! writes of a namespace, and gives up after three conflicts; and `pkg/quota/v1/install/registry.go` (v1.37.1). Several quotas are taken by name.

mod check;
mod claims;
mod evaluator;
mod limited;
mod pods;
mod refusal;
mod resource_claims;
mod scopes;
mod services;

use super::names::{Names, entries};
use crate::admission::configuration::Strictness;
use crate::admission::{Attributes, Operation, Plugin, Verdict};
use crate::admission::{Config, PluginError};
use crate::auth::Notes;
use crate::clock::format_seconds;
use crate::commit::server::MANAGER;
use crate::commit::{Change, draft};
use crate::error::{ApiError, ApiResult, aggregate};
use crate::registry::managers::Writer;
use crate::registry::{Amounts, child, ids};
use crate::store::{Entry, Key, Store};
use check::{Measured, check};
use claims::Claims;
use evaluator::{Evaluator, Objects};
use limited::Limited;
use pods::Pods;
use refusal::Refusal;
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

const NAME: &str = "ResourceQuota";
const KINDS: [(&str, &str); 3] = [
    ("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"),
    ("resourcequota.admission.k8s.io/v1beta1", "Configuration"),
    ("resourcequota.admission.k8s.io/v1alpha1", "Configuration"),
];

/// The plugin `ResourceQuota`.
pub(super) struct ResourceQuota {
    quotas: Names,
    limited: Limited,
}

impl ResourceQuota {
    /// The plugin with its configuration and the quotas of a store.
    ///
    /// # Errors
    /// If the configuration is wrong.
    pub(super) fn configured(config: &Config, store: &Store) -> Result<Box<dyn Plugin>, PluginError> {
        let configuration = config.decoded(NAME, &KINDS, Strictness::Strict)?.unwrap_or_default();
        let limited = Limited::read(&configuration);
        let limited =
            limited.map_err(|errors| PluginError::not_made(NAME, aggregate(errors.iter().map(ToString::to_string))))?;
        Ok(Box::new(ResourceQuota { quotas: Names::new(store, ids::RESOURCE_QUOTAS), limited }))
    }
}

impl Plugin for ResourceQuota {
    fn validate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a Value, _: &'a mut Notes) -> Verdict<'a> {
        let keys = self.quotas.in_namespace(write.namespace);
        let is_free = keys.is_empty() && self.limited.is_empty();
        if is_free || !concerns(write) {
            return Verdict::Now(Ok(()));
        }
        let evaluator = evaluator(write);
        match evaluator.handles(write, object) {
            false => Verdict::Now(Ok(())),
            true => Verdict::Later(Box::pin(count(write, object, evaluator, keys, &self.limited))),
        }
    }
}

/// Whether quotas can be about a write.
fn concerns(write: &Attributes<'_>) -> bool {
    let is_change = matches!(write.operation, Operation::Create | Operation::Update);
    let is_within = !write.namespace.is_empty() && write.resource.id != ids::NAMESPACES;
    is_change && is_within && !IGNORED.contains(&(&*write.version.group, &*write.version.plural))
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
    limited: &Limited,
) -> ApiResult<()> {
    let kind = (&*write.version.group, &*write.version.plural);
    let measured = Measured { object, old: write.old, is_status: write.subresource == "status", kind };
    let (mut limited, none) = (limited, Limited::default());
    loop {
        write.deadline.check()?;
        let entries = entries(write.store, &keys);
        let quotas: Vec<Value> = entries.iter().map(|entry| entry.object()).collect();
        let used = check(&quotas, &*evaluator, &measured, limited).map_err(|refusal| match refusal {
            Refusal::Forbidden(why) => write.forbidden(object, why),
            Refusal::Error(why) => ApiError::untyped(why),
        })?;
        if write.options.dry_run() {
            return Ok(());
        }
        keys = count_in(write, &entries, &quotas, used).await?;
        if keys.is_empty() {
            return Ok(());
        }
        // Those that were counted in cover the write.
        limited = &none;
    }
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
