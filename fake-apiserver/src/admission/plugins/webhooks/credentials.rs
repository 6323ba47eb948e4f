//! The configuration of a plugin that calls webhooks: the kubeconfig with the credentials for them.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go`, and `tools/clientcmd/loader.go` of `k8s.io/client-go`
//! (v0.37.1).
//!
//! GAP: validatingwebhookconfigurations: webhooks in files (`staticManifestsDir`)

use crate::admission::configuration::{Strictness, decode_or_assume};
use crate::admission::{Config, PluginError};
use crate::error::FieldError;
use crate::files;
use crate::registry::text;
use crate::webhook::Credentials;
use std::path::Path;

const KINDS: [(&str, &str); 1] = [("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration")];
/// The version and kind of a kubeconfig that does not say them.
const KUBECONFIG: (&str, &str) = ("v1", "Config");

/// The credentials for webhooks that the configuration of a plugin refers to.
///
/// # Errors
/// If the configuration, or the kubeconfig that it names, cannot be read or is not supported.
pub(super) fn credentials(config: &Config, plugin: &str) -> Result<Credentials, PluginError> {
    let wrong = |why: String| PluginError::not_made(plugin, why);
    let Some(own) = config.decoded(plugin, &KINDS, Strictness::Strict)? else {
        return Ok(Credentials::default());
    };
    let kubeconfig = text(&own, "/kubeConfigFile");
    if !kubeconfig.is_empty() && !kubeconfig.starts_with('/') {
        let finding = FieldError::invalid("kubeConfigFile", &kubeconfig.into(), "must be an absolute file path");
        return Err(wrong(finding.to_string()));
    }
    if !text(&own, "/staticManifestsDir").is_empty() {
        let finding = FieldError::forbidden("staticManifestsDir", "fake-apiserver does not support it");
        return Err(wrong(finding.to_string()));
    }
    match kubeconfig {
        "" => Ok(Credentials::default()),
        path => read(path).map_err(wrong),
    }
}

/// The credentials in a kubeconfig.
fn read(path: &str) -> Result<Credentials, String> {
    if let Err(error) = std::fs::metadata(path)
        && error.kind() == std::io::ErrorKind::NotFound
    {
        return Err(format!("stat {path}: {}", files::reason(&error)));
    }
    let not_loaded = |why: String| format!("error loading config file \"{path}\": {why}");
    let content = files::read_text(path).map_err(not_loaded)?;
    if content.is_empty() {
        return Ok(Credentials::default());
    }
    let kubeconfig = decode_or_assume(&content, &[KUBECONFIG], KUBECONFIG, Strictness::Lenient);
    let kubeconfig = kubeconfig.map_err(|error| not_loaded(error.message()))?;
    Credentials::of(&kubeconfig, Path::new(path).parent().unwrap_or(Path::new("/"))).map_err(not_loaded)
}
