//! The plugins that call webhooks.
//!
//! ```text
//!   configurations ──▶ hooks that are about the write ──▶ review ──▶ call ──▶ verdict ──▶ (mutating) patch ──▶ object
//! ```
//! While no webhook's rules are about a write, it costs a look at the index. Waiting for webhooks holds no lock and no thread.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/generic/webhook.go` (v0.37.1).

mod call;
mod configurations;
mod hook;
pub(super) mod mutating;
mod patch;
pub(super) mod review;
pub(super) mod validating;

use crate::admission::Config;
use crate::admission::cel::{Matched as Met, Subject};
use crate::admission::matching::Matched;
use crate::admission::plugin::Attributes;
use crate::error::{ApiError, ApiResult};
use crate::index::Live;
use crate::store::{ResourceId, Store};
use crate::webhook::Services;
use configurations::Configurations;
use hook::Hook;
use std::sync::Arc;
use tree::Value;

/// The webhooks of one kind of configurations.
struct Hooks {
    configurations: Live<Configurations>,
    services: Arc<dyn Services>,
}

impl Hooks {
    fn new(config: &Config, store: &Store, configurations: ResourceId) -> Hooks {
        Hooks { configurations: Live::new(store.clone(), &[configurations]), services: config.services(store) }
    }

    /// All webhooks, if the rules of one are about the write.
    fn concerned(&self, write: &Attributes<'_>) -> Option<Vec<Arc<Hook>>> {
        let current = self.configurations.current();
        let is_one = current.hooks().any(|hook| hook.constraints.concerns(write));
        is_one.then(|| current.hooks().cloned().collect())
    }
}

/// Whether the conditions of a webhook hold for a write that its rules are about.
fn is_about(
    hook: &Hook,
    write: &Attributes<'_>,
    matched: Matched<'_>,
    object: &Value,
    old: Option<&Value>,
) -> ApiResult<bool> {
    let subject = Subject { write, matched, object, old };
    match hook.conditions.match_webhook(&hook.scope, &subject, hook.fails)? {
        Met::Yes => Ok(true),
        Met::No => Ok(false),
        Met::Failed(why) => Err(ApiError::forbidden(write.version.qualified(), write.name, why)),
    }
}
