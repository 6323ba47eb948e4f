//! The configuration of a plugin that calls webhooks: the kubeconfig with the credentials for them, and the folder with webhooks in files.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go`, and `tools/clientcmd/loader.go` of `k8s.io/client-go`
//! (v0.37.1).

use crate::admission::manifests;
use crate::admission::{Config, PluginError};
use crate::configuration::{Strictness, kubeconfig};
use crate::error::FieldError;
use crate::registry::text;
use crate::webhook::Credentials;
use std::path::Path;

const KINDS: [(&str, &str); 1] = [("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration")];

/// The content of the configuration of a plugin.
#[derive(Default)]
pub(super) struct Configuration {
    pub(super) credentials: Credentials,
    /// The folder with webhooks in files; "" for none.
    pub(super) folder: String,
}

/// Reads the configuration of a plugin.
///
/// # Errors
/// If it, or the kubeconfig that it names, cannot be read or is not supported.
pub(super) fn configuration(config: &Config, plugin: &str) -> Result<Configuration, PluginError> {
    let wrong = |why: String| PluginError::not_made(plugin, why);
    let Some(own) = config.decoded(plugin, &KINDS, Strictness::Strict)? else {
        return Ok(Configuration::default());
    };
    let (named, folder) = (text(&own, "/kubeConfigFile"), text(&own, "/staticManifestsDir"));
    if !named.is_empty() && !named.starts_with('/') {
        let finding = FieldError::invalid("kubeConfigFile", &named.into(), "must be an absolute file path");
        return Err(wrong(finding.to_string()));
    }
    manifests::check(folder, config).map_err(|finding| wrong(finding.to_string()))?;
    let credentials = match named {
        "" => Credentials::default(),
        path => read(Path::new(path)).map_err(wrong)?,
    };
    Ok(Configuration { credentials, folder: folder.to_owned() })
}

/// The credentials in a kubeconfig.
fn read(path: &Path) -> Result<Credentials, String> {
    let kubeconfig = kubeconfig::read(path)?;
    let credentials = Credentials::of(&kubeconfig, path.parent().unwrap_or(Path::new("/")));
    credentials.map_err(|why| kubeconfig::not_loaded(path, &why))
}
