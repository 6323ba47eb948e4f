//! The webhooks of one kind of configurations, and those that are about a write.

use super::configurations::{Configurations, Configured};
use super::configured::{Configuration, configuration};
use super::hook::Hook;
use crate::admission::cel::{Matched, Subject};
use crate::admission::manifests::Folder;
use crate::admission::{Config, Following, PluginError};
use crate::coverage::Owner;
use crate::error::{ApiError, ApiResult};
use crate::webhook::{Client, Credentials, Network};
use std::sync::Arc;

/// The webhooks of one kind of configurations.
pub(super) struct Hooks<K> {
    pub(super) configurations: Following<Configurations<K>>,
    credentials: Credentials,
}

impl<K: Configured> Hooks<K> {
    /// The webhooks of stored configurations, and of those in files.
    ///
    /// # Errors
    /// If the configuration of the plugin is wrong.
    pub(super) fn configured(plugin: &'static str, config: &Config) -> Result<Self, PluginError> {
        let Configuration { credentials, folder } = configuration(config, plugin)?;
        let configurations = Following::new(Folder::named(&folder, plugin, config)?);
        Ok(Hooks { configurations, credentials })
    }

    /// The client of a webhook.
    ///
    /// # Errors
    /// The reason that there is none.
    pub(super) fn client<'h>(&self, hook: &'h Hook, network: &Arc<Network>) -> Result<&'h Client, String> {
        hook.client(network, &self.credentials)
    }
}

/// Whether the conditions of a webhook hold for a write that its rules are about.
pub(super) async fn is_about<K: Configured>(hook: &Hook, subject: &Subject<'_>) -> ApiResult<bool> {
    let Some(conditions) = &hook.conditions else { return Ok(true) };
    let (conditions, scope) = conditions.get(subject.write.deadline).await?;
    let whose = (Owner::of_cluster(K::KIND, &hook.configuration), &*format!("{} condition", hook.name));
    match conditions.match_webhook(scope, subject, hook.fails, whose)? {
        Matched::Yes => Ok(true),
        Matched::No => Ok(false),
        Matched::Failed(why) => Err(ApiError::forbidden(subject.write.version.qualified(), subject.write.name, why)),
    }
}
