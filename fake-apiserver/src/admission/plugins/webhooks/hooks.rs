//! The webhooks of one kind of configurations, and those that are about a write.

use super::configurations::Configurations;
use super::credentials::credentials;
use super::hook::Hook;
use crate::admission::cel::{Matched, Subject};
use crate::admission::plugin::Attributes;
use crate::admission::{Config, PluginError};
use crate::error::{ApiError, ApiResult};
use crate::index::Live;
use crate::store::{ResourceId, Store};
use crate::webhook::{Client, Credentials, Network};
use std::sync::Arc;

/// The webhooks of one kind of configurations.
pub(super) struct Hooks {
    configurations: Live<Configurations>,
    network: Arc<Network>,
    credentials: Credentials,
}

impl Hooks {
    /// The webhooks of the configurations in that store.
    ///
    /// # Errors
    /// If the configuration of the plugin is wrong.
    pub(super) fn configured(
        plugin: &str,
        config: &Config,
        store: &Store,
        configurations: ResourceId,
    ) -> Result<Hooks, PluginError> {
        let credentials = credentials(config, plugin)?;
        let configurations = Live::new(store.clone(), &[configurations]);
        Ok(Hooks { configurations, network: config.network(store), credentials })
    }

    /// The client of a webhook.
    ///
    /// # Errors
    /// The reason that there is none.
    pub(super) fn client<'h>(&self, hook: &'h Hook) -> Result<&'h Client, String> {
        hook.client(&self.network, &self.credentials)
    }

    /// All webhooks, if the rules of one are about the write.
    pub(super) fn concerned(&self, write: &Attributes<'_>) -> Option<Vec<Arc<Hook>>> {
        let current = self.configurations.current();
        let is_one = current.hooks().any(|hook| hook.constraints.concerns(write));
        is_one.then(|| current.hooks().cloned().collect())
    }
}

/// Whether the conditions of a webhook hold for a write that its rules are about.
pub(super) fn is_about(hook: &Hook, subject: &Subject<'_>) -> ApiResult<bool> {
    match hook.conditions.match_webhook(&hook.scope, subject, hook.fails)? {
        Matched::Yes => Ok(true),
        Matched::No => Ok(false),
        Matched::Failed(why) => Err(ApiError::forbidden(subject.write.version.qualified(), subject.write.name, why)),
    }
}
