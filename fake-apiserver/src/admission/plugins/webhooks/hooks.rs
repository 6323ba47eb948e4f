//! The webhooks of one kind of configurations, and those that are about a write.

use super::configurations::Configurations;
use super::hook::Hook;
use crate::admission::cel::{Matched as Met, Subject};
use crate::admission::matching::Matched;
use crate::admission::plugin::Attributes;
use crate::error::{ApiError, ApiResult};
use crate::index::Live;
use crate::store::{ResourceId, Store};
use crate::webhook::Services;
use std::sync::Arc;
use tree::Value;

/// The webhooks of one kind of configurations.
pub(super) struct Hooks {
    configurations: Live<Configurations>,
    pub(super) services: Arc<dyn Services>,
}

impl Hooks {
    pub(super) fn new(services: Arc<dyn Services>, store: &Store, configurations: ResourceId) -> Hooks {
        Hooks { configurations: Live::new(store.clone(), &[configurations]), services }
    }

    /// All webhooks, if the rules of one are about the write.
    pub(super) fn concerned(&self, write: &Attributes<'_>) -> Option<Vec<Arc<Hook>>> {
        let current = self.configurations.current();
        let is_one = current.hooks().any(|hook| hook.constraints.concerns(write));
        is_one.then(|| current.hooks().cloned().collect())
    }
}

/// Whether the conditions of a webhook hold for a write that its rules are about.
pub(super) fn is_about(
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
