//! The configurations of plugins: `AdmissionConfiguration`, the file of `--admission-control-config-file`.
//!
//! ```text
//!   file ──decode──▶ plugins: name ──┬── text, within that file
//!                                    └── path of another file, read when the plugin is made
//! ```
//! Follows `k8s.io/apiserver/pkg/admission/config.go` (v0.37.1).

use super::error::PluginError;
use crate::configuration::{Strictness, Undecoded, decode};
use crate::deadline::Deadline;
use crate::files;
use crate::registry::{items, text};
use crate::{schema, yaml};
use std::path::{Path, PathBuf};

const KINDS: [(&str, &str); 2] =
    [("apiserver.config.k8s.io/v1", "AdmissionConfiguration"), ("apiserver.k8s.io/v1alpha1", "AdmissionConfiguration")];

/// The plugin whose configuration may stand in the place of all of them.
const LEGACY: &str = "PodNodeSelector";
/// Members by which the configurations are known that may do so.
const LEGACY_MEMBERS: [&str; 2] = ["imagePolicy", "podNodeSelectorPluginConfig"];

/// The configurations of plugins by name; of several of one plugin the first counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Configuration(Vec<(String, Source)>);

/// The place of a plugin's configuration.
#[derive(Debug, Clone)]
enum Source {
    Text(String),
    File(PathBuf),
    /// The plugin is named without one.
    None,
}

impl Configuration {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or is not such a configuration.
    pub(crate) fn read(path: &Path) -> Result<Configuration, PluginError> {
        let text = files::read_text(path).map_err(|why| {
            let why = format!("unable to read admission control configuration from \"{}\" [{why}]", path.display());
            PluginError::Configuration(format!("failed to read plugin config: {why}"))
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder, path)
            .map_err(|why| PluginError::Configuration(format!("failed to read plugin config: {why}")))
    }

    fn parse(content: &str, folder: &Path, path: &Path) -> Result<Configuration, String> {
        let configuration = match decode(content, &KINDS, Strictness::Strict) {
            Ok(configuration) => configuration,
            Err(Undecoded::Unknown(_)) if is_legacy(content) => {
                return Ok(Configuration(vec![(LEGACY.into(), Source::File(path.to_owned()))]));
            }
            Err(error) => return Err(error.message()),
        };
        let plugins = items(&configuration, "/plugins").iter().map(|plugin| {
            let source = match (plugin.get("configuration").filter(|own| !own.is_null()), text(plugin, "/path")) {
                (Some(own), _) => Source::Text(schema::encode_any(own)),
                (None, "") => Source::None,
                (None, path) => Source::File(folder.join(path)),
            };
            (text(plugin, "/name").to_owned(), source)
        });
        Ok(Configuration(plugins.collect()))
    }

    /// Adds the configuration of a plugin, which goes before others of it.
    pub(crate) fn add(&mut self, plugin: String, text: String) {
        self.0.insert(0, (plugin, Source::Text(text)));
    }

    /// The configurations of this one and of another, which go behind.
    pub(crate) fn and(mut self, other: Configuration) -> Configuration {
        self.0.extend(other.0);
        self
    }

    /// The configuration of a plugin; `None` without one.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub(super) fn of(&self, plugin: &str) -> Result<Option<String>, PluginError> {
        match self.source(plugin) {
            None | Some(Source::None) => Ok(None),
            Some(Source::Text(text)) => Ok(Some(text.clone())),
            Some(Source::File(path)) => std::fs::read_to_string(path).map(Some).map_err(|error| {
                let (path, error) = (path.display(), files::reason(&error));
                let why = format!("Couldn't open admission plugin configuration {path}: {error}");
                PluginError::Configuration(why)
            }),
        }
    }

    fn source(&self, plugin: &str) -> Option<&Source> {
        self.0.iter().find(|(name, _)| name == plugin).map(|(_, source)| source)
    }
}

/// Whether a text has a member of an older form of the file, which was about one plugin.
fn is_legacy(text: &str) -> bool {
    let members = yaml::parse(text.as_bytes(), &Deadline::default()).ok().map(|document| document.value);
    members.is_some_and(|members| LEGACY_MEMBERS.iter().any(|member| members.get(*member).is_some()))
}

#[cfg(test)]
mod tests;
