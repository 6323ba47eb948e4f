//! The options of authorization: kube-apiserver's flags `--authorization-*`, with its defaults.
//!
//! Ports `pkg/kubeapiserver/options/authorization.go` (v1.37.1).

use super::authorization_file::{self, AuthorizerConfig};
use super::hooks::{AccessWebhookConfig, Conditions};
use super::modes::AuthorizationMode;
use crate::error::aggregate;
use std::path::PathBuf;
use std::time::Duration;

/// The time for which answers of the webhook that allow something are kept.
const ALLOWED_FOR: Duration = Duration::from_secs(5 * 60);
/// The time for which its other answers are kept.
const REFUSED_FOR: Duration = Duration::from_secs(30);
/// The time for an attempt to ask it.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The options of authorization.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AuthorizationOptions {
    /// `--authorization-mode`: the modes, in order. Without any, and without a file, [`AuthorizationMode::AlwaysAllow`].
    pub modes: Vec<AuthorizationMode>,
    /// `--authorization-policy-file`: the file with the policies of [`AuthorizationMode::Abac`].
    pub policy_file: Option<PathBuf>,
    /// The webhook of [`AuthorizationMode::Webhook`].
    pub webhook: AuthorizationWebhookOptions,
    /// `--authorization-config`: the file that says what else would be said by modes and options of a webhook. It is read again when it
    /// changes.
    pub config_file: Option<PathBuf>,
}

/// The options of the webhook that authorizes.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AuthorizationWebhookOptions {
    /// `--authorization-webhook-config-file`: the kubeconfig that names it.
    pub config_file: Option<PathBuf>,
    /// `--authorization-webhook-version`: the version of the reviews that it is sent, `v1beta1` or `v1`; the former by default.
    pub version: Option<String>,
    /// `--authorization-webhook-cache-authorized-ttl`: the time for which answers that allow something are kept; 5 minutes by default.
    pub authorized_ttl: Option<Duration>,
    /// `--authorization-webhook-cache-unauthorized-ttl`: the time for which other answers are kept; 30 seconds by default.
    pub unauthorized_ttl: Option<Duration>,
}

impl AuthorizationOptions {
    /// The authorizers, and the content of the file that describes them, if one does.
    ///
    /// # Errors
    /// If the options are wrong, or the file is.
    pub(crate) fn authorizers(&self) -> Result<(Vec<AuthorizerConfig>, Option<Vec<u8>>), String> {
        if let Some(path) = &self.config_file {
            if self.has_legacy() {
                let why = "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined";
                return Err(why.into());
            }
            let content = crate::files::read(path)?;
            return Ok((authorization_file::read(&content, &[])?, Some(content)));
        }
        let findings = self.findings();
        if !findings.is_empty() {
            return Err(aggregate(findings));
        }
        let authorizer = |mode: &AuthorizationMode| -> Result<AuthorizerConfig, String> {
            let webhook = (*mode == AuthorizationMode::Webhook).then(|| self.webhook.described()).transpose()?;
            let name = if webhook.is_some() { "default".into() } else { mode.authorizer_name() };
            Ok(AuthorizerConfig { mode: *mode, name, webhook })
        };
        let modes = if self.modes.is_empty() { &[AuthorizationMode::AlwaysAllow][..] } else { &self.modes };
        Ok((modes.iter().map(authorizer).collect::<Result<_, _>>()?, None))
    }

    /// Gives nodes their rights where roles decide, which give them none.
    pub(crate) fn allow_nodes(&mut self) {
        if self.modes.contains(&AuthorizationMode::Rbac) && !self.modes.contains(&AuthorizationMode::Node) {
            self.modes.insert(0, AuthorizationMode::Node);
        }
    }

    /// Whether there are options that a file makes superfluous.
    fn has_legacy(&self) -> bool {
        let AuthorizationWebhookOptions { config_file, version, authorized_ttl, unauthorized_ttl } = &self.webhook;
        let has_webhook =
            config_file.is_some() || version.is_some() || authorized_ttl.is_some() || unauthorized_ttl.is_some();
        !self.modes.is_empty() || has_webhook
    }

    /// `Validate`
    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let is_on = |mode| self.modes.contains(&mode);
        for mode in &self.modes {
            match mode {
                AuthorizationMode::Abac if self.policy_file.is_none() => {
                    findings.push("authorization-mode ABAC's authorization policy file not passed".into());
                }
                AuthorizationMode::Webhook if self.webhook.config_file.is_none() => {
                    findings.push("authorization-mode Webhook's authorization config file not passed".into());
                }
                _ => {}
            }
        }
        if self.policy_file.is_some() && !is_on(AuthorizationMode::Abac) {
            findings.push("cannot specify --authorization-policy-file without mode ABAC".into());
        }
        if self.webhook.config_file.is_some() && !is_on(AuthorizationMode::Webhook) {
            findings.push("cannot specify --authorization-webhook-config-file without mode Webhook".into());
        }
        if self.modes.iter().enumerate().any(|(index, mode)| self.modes[..index].contains(mode)) {
            let modes: Vec<String> = self.modes.iter().map(|mode| format!("{:?}", mode.as_str())).collect();
            findings.push(format!("authorization-mode [{}] has mode specified more than once", modes.join(" ")));
        }
        findings
    }
}

impl AuthorizationWebhookOptions {
    /// The webhook in the words of the file.
    fn described(&self) -> Result<AccessWebhookConfig, String> {
        let version = self.version.as_deref().unwrap_or("v1beta1");
        let known = ["v1", "v1beta1"].into_iter().find(|known| *known == version);
        Ok(AccessWebhookConfig {
            kubeconfig: self.config_file.clone().unwrap_or_default(),
            version: known.ok_or_else(|| {
                format!("invalid authorization config: unsupported webhook authorizer version {version:?}, supported versions are \"v1\", \"v1beta1\"")
            })?,
            timeout: TIMEOUT,
            allowed_for: self.authorized_ttl.unwrap_or(ALLOWED_FOR),
            refused_for: self.unauthorized_ttl.unwrap_or(REFUSED_FOR),
            denies_on_error: false,
            conditions: Conditions::default(),
        })
    }
}
