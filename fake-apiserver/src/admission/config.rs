//! The choice of plugins, and what they need to know.

use super::configuration::Configuration;
use super::error::PluginError;
use crate::clock::{Clock, SystemClock};
use crate::configuration::{Strictness, decode};
use std::path::PathBuf;
use std::sync::Arc;
use tree::Value;

/// The choice of plugins.
#[derive(Clone)]
pub(crate) struct Config {
    /// `--enable-admission-plugins`.
    pub(crate) enabled: Vec<String>,
    /// `--disable-admission-plugins`. Disabling an unsupported plugin has no effect.
    pub(crate) disabled: Vec<String>,
    /// `--admission-control-config-file`.
    pub(crate) file: Option<PathBuf>,
    /// The configurations that are given without a file.
    pub(crate) configuration: Configuration,
    /// The kind of tokens that the plugin `ServiceAccount` mounts.
    pub(crate) tokens: Tokens,
    /// Whether webhooks and policies in files are refused (`ManifestBasedAdmissionControlConfig`).
    pub(crate) without_manifests: bool,
    /// The clock by which reloads are told of.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            enabled: Vec::new(),
            disabled: Vec::new(),
            file: None,
            configuration: Configuration::default(),
            tokens: Tokens::default(),
            without_manifests: false,
            clock: Arc::new(SystemClock),
        }
    }
}

impl Config {
    /// The decoded configuration of a plugin; `None` without one.
    pub(super) fn decoded(
        &self,
        plugin: &str,
        kinds: &[(&str, &str)],
        strictness: Strictness,
    ) -> Result<Option<Value>, PluginError> {
        let text = self.configuration.of(plugin)?;
        let decoded = text.map(|text| decode(&text, kinds, strictness)).transpose();
        decoded.map_err(|error| PluginError::not_made(plugin, error.message()))
    }
}

/// The kind of token that pods get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tokens {
    /// A token that the kubelet requests, bound to the pod.
    #[default]
    Bound,
    /// The token of a secret that the account refers to, as before v1.21. Without such a secret the pod is refused.
    InSecrets,
}
