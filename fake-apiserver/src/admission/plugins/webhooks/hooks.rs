//! The webhooks of one kind of configurations, and those that are about a write.

use super::configurations::Configurations;
use super::configured::{Configured, configured};
use super::hook::Hook;
use crate::admission::cel::{Matched, Subject};
use crate::admission::manifests::Folder;
use crate::admission::{Config, Following, PluginError};
use crate::error::{ApiError, ApiResult};
use crate::store::{ResourceId, Store};
use crate::webhook::{Client, Credentials, Network};
use std::sync::Arc;

/// The webhooks of one kind of configurations.
pub(super) struct Hooks {
    pub(super) configurations: Following<Configurations>,
    network: Arc<Network>,
    credentials: Credentials,
}

impl Hooks {
    /// The webhooks of the configurations in that store, and in files.
    ///
    /// # Errors
    /// If the configuration of the plugin is wrong.
    pub(super) fn configured(
        plugin: &'static str,
        config: &Config,
        store: &Store,
        configurations: ResourceId,
    ) -> Result<Hooks, PluginError> {
        let Configured { credentials, folder } = configured(config, plugin)?;
        let files = Folder::named(&folder, plugin, vec![configurations], config)?;
        let configurations = Following::new(store, &[configurations]).with_files(files);
        Ok(Hooks { configurations, network: config.network(store), credentials })
    }

    /// The client of a webhook.
    ///
    /// # Errors
    /// The reason that there is none.
    pub(super) fn client<'h>(&self, hook: &'h Hook) -> Result<&'h Client, String> {
        hook.client(&self.network, &self.credentials)
    }
}

/// Whether the conditions of a webhook hold for a write that its rules are about.
pub(super) async fn is_about(hook: &Hook, subject: &Subject<'_>) -> ApiResult<bool> {
    let Some(conditions) = &hook.conditions else { return Ok(true) };
    let (conditions, scope) = conditions.get(subject.write.deadline).await?;
    match conditions.match_webhook(scope, subject, hook.fails)? {
        Matched::Yes => Ok(true),
        Matched::No => Ok(false),
        Matched::Failed(why) => Err(ApiError::forbidden(subject.write.version.qualified(), subject.write.name, why)),
    }
}
