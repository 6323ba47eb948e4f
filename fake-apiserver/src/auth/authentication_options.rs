//! The options of the authenticators that ask others: kube-apiserver's flags, with its defaults.
//!
//! Ports `pkg/kubeapiserver/options/authentication.go` (v1.37.1).

use std::path::PathBuf;
use std::time::Duration;

/// The options of the authenticators that ask others.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AuthenticationOptions {
    /// The webhook that is asked about tokens.
    pub webhook: AuthenticationWebhookOptions,
}

/// The options of the webhook that is asked about tokens that nobody else knows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuthenticationWebhookOptions {
    /// `--authentication-token-webhook-config-file`: the kubeconfig that names it.
    pub config_file: Option<PathBuf>,
    /// `--authentication-token-webhook-version`: the version of the reviews that it is sent, `v1beta1` or `v1`.
    pub version: String,
    /// `--authentication-token-webhook-cache-ttl`: the time for which its answers are kept.
    pub cache_ttl: Duration,
}

impl Default for AuthenticationWebhookOptions {
    fn default() -> Self {
        AuthenticationWebhookOptions {
            config_file: None,
            version: "v1beta1".into(),
            cache_ttl: Duration::from_secs(2 * 60),
        }
    }
}
