//! The error of an invalid choice of plugins, or of their configurations.

use std::fmt::Display;

/// The error of an invalid choice of plugins. The first two messages are the real server's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginError {
    /// The real server does not have a plugin of that name either.
    #[error("{flag} plugin {name:?} is unknown")]
    Unknown {
        /// The flag that names it.
        flag: &'static str,
        /// The name of the plugin.
        name: String,
    },
    /// Plugins are both enabled and disabled.
    #[error("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", .0.join(" "))]
    Overlapped(Vec<String>),
    /// A configuration that cannot be read or is wrong, in the real server's words.
    #[error("failed to apply admission: {0}")]
    Configuration(String),
    /// The plugin exists in the real server only.
    #[error("fake-apiserver does not have the admission plugin {0}")]
    Missing(String),
}

impl PluginError {
    /// The error of a plugin that cannot be made with its configuration.
    pub(super) fn not_made(plugin: &str, why: impl Display) -> PluginError {
        PluginError::Configuration(format!("couldn't init admission plugin {plugin:?}: {why}"))
    }

    /// The error of a plugin that is made, but does not find what it needs.
    pub(super) fn not_initialized(plugin: &str, why: impl Display) -> PluginError {
        PluginError::Configuration(format!("failed to initialize admission plugin {plugin:?}: {why}"))
    }
}
