//! The options of the authenticators that ask others: kube-apiserver's flags, with its defaults.
//!
//! Ports `pkg/kubeapiserver/options/authentication.go` (v1.37.1).

use std::path::PathBuf;
use std::time::Duration;

/// The options of the authenticators that ask others.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AuthenticationOptions {
    /// `--authentication-config`: the file that says which issuers' tokens are good, and for whom, and whether anonymous requests are served. It
    /// is read again when it changes.
    pub config_file: Option<PathBuf>,
    /// `--anonymous-auth`, if it is said: a file must not say otherwise.
    pub anonymous: Option<bool>,
    /// `--oidc-*`: an issuer of tokens.
    pub oidc: OidcOptions,
    /// The webhook that is asked about tokens.
    pub webhook: AuthenticationWebhookOptions,
    /// `--requestheader-*`: the proxies that may say who makes a request.
    pub front_proxy: FrontProxyOptions,
}

/// The options of front proxies, which authenticate others' requests. A name of a header is the same in upper and lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrontProxyOptions {
    /// `--requestheader-client-ca-file`: the authorities of their certificates; without it there are none.
    pub client_ca_file: Option<PathBuf>,
    /// `--requestheader-allowed-names`: the common names of their certificates; if empty, any.
    pub allowed_names: Vec<String>,
    /// `--requestheader-username-headers`: the headers with the name of the user, of which the first one counts that has a value.
    pub username_headers: Vec<String>,
    /// `--requestheader-uid-headers`: those with the uid.
    pub uid_headers: Vec<String>,
    /// `--requestheader-group-headers`: those with groups, which all count.
    pub group_headers: Vec<String>,
    /// `--requestheader-extra-headers-prefix`: the beginnings of headers with further attributes, whose keys stand behind.
    pub extra_headers_prefix: Vec<String>,
}

/// The options of one issuer of tokens, in place of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OidcOptions {
    /// `--oidc-issuer-url`: its URL.
    pub issuer_url: Option<String>,
    /// `--oidc-client-id`: the audience of its tokens.
    pub client_id: Option<String>,
    /// `--oidc-ca-file`: the certificates that vouch for it; those of the system by default.
    pub ca_file: Option<PathBuf>,
    /// `--oidc-username-claim`: the claim that is the name of the user, `sub` by default.
    pub username_claim: Option<String>,
    /// `--oidc-username-prefix`: what goes before it; by default the URL, unless the claim is `email`; `-` for nothing.
    pub username_prefix: Option<String>,
    /// `--oidc-groups-claim`: the claim with the groups of the user.
    pub groups_claim: Option<String>,
    /// `--oidc-groups-prefix`: what goes before each of them.
    pub groups_prefix: Option<String>,
    /// `--oidc-signing-algs`: the algorithms of signatures; `RS256` by default.
    pub signing_algorithms: Option<Vec<String>>,
    /// `--oidc-required-claim`: claims, and the values that they must have.
    pub required_claims: Vec<(String, String)>,
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

impl AuthenticationOptions {
    /// The finding about options that contradict each other (`validateOIDCOptions`).
    pub(crate) fn finding(&self) -> Option<&'static str> {
        let has_oidc = self.oidc != OidcOptions::default();
        let is_named = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        let is_complete = is_named(&self.oidc.issuer_url) && is_named(&self.oidc.client_id);
        match &self.config_file {
            Some(_) if has_oidc => Some("authentication-config file and oidc-* flags are mutually exclusive"),
            None if has_oidc && !is_complete => {
                Some("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
            }
            _ => None,
        }
    }
}
