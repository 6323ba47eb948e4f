//! The plugin `ResourceQuota`: a write that uses more than the quotas of its namespace allow is refused, any other is counted in them.
//!
//! ```text
//!   the namespace's quotas ─▶ check ──▶ refused, or nothing to count
//!             ▲                 └─▶ count in each that changes, with all who wait (`ledger.rs`) ──▶ allowed
//!             └── those that others have changed ──┘
//! ```
//! A quota limits what its status names; a controller, which is another program, fills in the status. A count is not given back
//! if the write fails later.
//!
//! Follows `pkg/admission/plugin/resourcequota/{admission,controller}.go` of k8s.io/apiserver (v0.37.1), which gives up after three
//! conflicts; and `pkg/quota/v1/install/registry.go` (v1.37.1). Several quotas are taken by name.

mod check;
mod claims;
mod evaluator;
mod ledger;
mod limited;
mod measure;
mod pods;
mod quota;
mod refusal;
mod resource_claims;
mod scopes;
mod services;

pub(crate) use measure::QuotaMeasure;

use super::names::{Named, Names};
use crate::admission::{Attributes, Operation, Plugin, Verdict};
use crate::admission::{Config, PluginError};
use crate::auth::Notes;
use crate::configuration::Strictness;
use crate::error::{ApiError, ApiResult, aggregate};
use crate::index::Place;
use crate::registry::ids;
use crate::store::{Key, ResourceId};
use check::{Measured, check};
use claims::Claims;
use evaluator::{Evaluator, Objects};
use ledger::Ledger;
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
    limited: Limited,
}

impl Named for Ledger {
    const RESOURCE: ResourceId = ids::RESOURCE_QUOTAS;
    const PLACE: Place = Place::Quotas;
}

impl ResourceQuota {
    /// The plugin with its configuration.
    ///
    /// # Errors
    /// If the configuration is wrong.
    pub(super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        let configuration = config.decoded(NAME, &KINDS, Strictness::Strict)?.unwrap_or_default();
        let limited = Limited::read(&configuration);
        let limited =
            limited.map_err(|errors| PluginError::not_made(NAME, aggregate(errors.iter().map(ToString::to_string))))?;
        Ok(Box::new(ResourceQuota { limited }))
    }
}

impl Plugin for ResourceQuota {
    fn validate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a Value, _: &'a mut Notes) -> Verdict<'a> {
        let ledger = Names::<Ledger>::own(write.server.store, write.namespace);
        let is_free = ledger.is_none() && self.limited.is_empty();
        if is_free || !concerns(write) {
            return Verdict::Now(Ok(()));
        }
        let evaluator = evaluator(write);
        match evaluator.handles(write, object) {
            false => Verdict::Now(Ok(())),
            true => {
                Verdict::Later(Box::pin(count(write, object, evaluator, ledger.unwrap_or_default(), &self.limited)))
            }
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
        ids::PODS => Box::new(Pods { now: write.server.clock.now() }),
        ids::SERVICES => Box::new(Services),
        ids::PERSISTENT_VOLUME_CLAIMS => Box::new(Claims),
        ids::RESOURCE_CLAIMS => Box::new(ResourceClaims::new(write)),
        _ => Box::new(Objects::new(&write.version.group, &write.version.plural)),
    }
}

/// Counts a write in the quotas, all of which have to allow it. Those that others have changed meanwhile are checked again (`checkQuotas`).
///
/// # Errors
/// 403 if a quota does not allow it; 504 if the deadline passes.
async fn count<'a>(
    write: &'a Attributes<'a>,
    object: &'a Value,
    evaluator: Box<dyn Evaluator + 'a>,
    ledger: Arc<Ledger>,
    limited: &Limited,
) -> ApiResult<()> {
    let kind = (&*write.version.group, &*write.version.plural);
    let measured = Measured { object, old: write.old, is_status: write.subresource == "status", kind };
    let (mut limited, none) = (limited, Limited::default());
    let mut left: Option<Vec<Key>> = None;
    loop {
        write.deadline.check()?;
        let mut page = ledger.open(write).await;
        let quotas = page.quotas(left.as_deref());
        let requested = check(&quotas, &*evaluator, &measured, limited).map_err(|refusal| match refusal {
            Refusal::Forbidden(why) => write.forbidden(object, why),
            Refusal::Error(why) => ApiError::untyped(why),
        })?;
        if requested.is_empty() || write.options.dry_run() {
            return Ok(());
        }
        let of_quota = |(place, requested): (usize, _)| (quotas[place].entry.key.clone(), requested);
        let requested = requested.into_iter().map(of_quota).collect();
        let promise = page.promise(requested);
        drop(page);
        let again = ledger.counted(write, promise).await?;
        if again.is_empty() {
            return Ok(());
        }
        left = Some(again);
        // Those that were counted in cover the write.
        limited = &none;
    }
}
