//! The configuration of a plugin that calls webhooks: the kubeconfig with the credentials for them.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go`, and `tools/clientcmd/loader.go` of `k8s.io/client-go`
//! (v0.37.1).
//!
//! GAP: validatingwebhookconfigurations: webhooks in files (`staticManifestsDir`)

use crate::admission::{Config, PluginError};
use crate::configuration::{Strictness, kubeconfig};
use crate::error::FieldError;
use crate::registry::text;
use crate::webhook::Credentials;
use std::path::Path;

const KINDS: [(&str, &str); 1] = [("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration")];

/// The credentials for webhooks that the configuration of a plugin refers to.
///
/// # Errors
/// If the configuration, or the kubeconfig that it names, cannot be read or is not supported.
pub(super) fn credentials(config: &Config, plugin: &str) -> Result<Credentials, PluginError> {
    let wrong = |why: String| PluginError::not_made(plugin, why);
    let Some(own) = config.decoded(plugin, &KINDS, Strictness::Strict)? else {
        return Ok(Credentials::default());
    };
    let named = text(&own, "/kubeConfigFile");
    if !named.is_empty() && !named.starts_with('/') {
        let finding = FieldError::invalid("kubeConfigFile", &named.into(), "must be an absolute file path");
        return Err(wrong(finding.to_string()));
    }
    if !text(&own, "/staticManifestsDir").is_empty() {
        let finding = FieldError::forbidden("staticManifestsDir", "fake-apiserver does not support it");
        return Err(wrong(finding.to_string()));
    }
    match named {
        "" => Ok(Credentials::default()),
        path => read(Path::new(path)).map_err(wrong),
    }
}

/// The credentials in a kubeconfig.
fn read(path: &Path) -> Result<Credentials, String> {
    let kubeconfig = kubeconfig::read(path)?;
    let credentials = Credentials::of(&kubeconfig, path.parent().unwrap_or(Path::new("/")));
    credentials.map_err(|why| kubeconfig::not_loaded(path, &why))
}
