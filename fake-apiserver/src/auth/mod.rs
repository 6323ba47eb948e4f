//! Authentication and authorization: credentials, tokens, reviews, and the authorizers.
//!
//! Everything here but what asks others (`chain.rs`, `others.rs`, `hooks/`, `issuers/`) is synchronous and knows no clock: the time, live objects and
//! random ids are arguments. One [`Authenticator`] therefore serves several replicas whose clocks differ, which is the only way in which a token
//! can be good at one API server and not yet valid at another.
//!
//! The chain is that of `pkg/kubeapiserver/authenticator/config.go` (v1.37.1): front proxies, client certificates, static tokens, legacy
//! service account tokens, bound service account tokens, the anonymous user; tokens that none of them knows are shown to
//! [others](others::Others).
//!
//! GAP: authentication: bearer tokens in WebSocket subprotocols

pub(crate) mod abac;
mod attestations;
pub mod authentication_options;
mod authorities;
pub(crate) mod authorization_file;
pub mod authorization_options;
pub mod authorizer;
mod bound;
mod certificates;
pub mod chain;
mod claims;
mod expressions;
pub(crate) mod families;
mod front_proxy;
pub(crate) mod hooks;
pub mod impersonation;
pub(crate) mod issuers;
pub mod jwt;
pub mod keys;
mod legacy;
mod metadata;
pub mod modes;
pub mod node;
mod objects;
pub mod oidc;
mod others;
mod outcome;
mod own_keys;
mod parsed;
pub mod rbac;
pub mod requested;
pub mod reviews;
mod service_account;
#[cfg(test)]
mod tests;
pub mod token_file;
pub(crate) mod token_request;

pub use crate::user::{ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, ServiceAccount, User};
pub use authorities::{AuthorityError, ClientAuthorities};
pub use bound::WARN_ONLY_BOUND_TOKEN_EXPIRATION_SECONDS;
pub use certificates::ClientCertificate;
pub use front_proxy::FrontProxy;
pub use legacy::{LAST_USED_LABEL, LEGACY_ISSUER};
pub use objects::Objects;
pub(crate) use others::Others;
pub use outcome::{Authentication, Notes, Refusal};
pub use own_keys::OwnKeys;
pub(crate) use parsed::ParsedObjects;

use crate::error::aggregate;
use crate::memo::Memo;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::Timestamp;
use keys::{PublicKey, SigningKey};
use outcome::Unknown;
use service_account::{ServiceAccountTokens, intersection};
use std::collections::HashMap;
use std::sync::Arc;

/// The configuration of authentication, by the flags of kube-apiserver that each field stands for.
#[derive(Debug)]
pub struct Config {
    /// `--token-auth-file`, parsed: users by their tokens. See [`token_file::parse`].
    pub static_tokens: HashMap<String, User>,
    /// `--client-ca-file`; without it client certificates are ignored.
    pub client_authorities: Option<ClientAuthorities>,
    /// `--requestheader-*`.
    pub front_proxy: Option<FrontProxy>,
    /// `--service-account-issuer`: the first signs, all are trusted. At least one.
    pub issuers: Vec<String>,
    /// `--api-audiences`; if empty, the issuers.
    pub api_audiences: Vec<String>,
    /// `--service-account-signing-key-file`.
    pub signing_key: SigningKey,
    /// `--service-account-key-file`; if empty, the signing key's public half.
    pub keys: Vec<PublicKey>,
    /// `--service-account-lookup`: legacy tokens are good only as long as their secrets hold them.
    pub lookup: bool,
    /// `--service-account-max-token-expiration`, in seconds; 0 for no limit.
    pub max_token_expiration: i64,
    /// `--service-account-extend-token-expiration`: pods' tokens of 3607 seconds live a year.
    pub extend_token_expiration: bool,
    /// `--anonymous-auth`.
    pub anonymous: bool,
    /// The paths for which anonymous requests are served; if there are none, all.
    pub anonymous_paths: Vec<String>,
}

impl Config {
    /// The real server's defaults, with a fresh signing key and one issuer.
    pub fn new(issuer: impl Into<String>) -> Config {
        Config {
            static_tokens: HashMap::new(),
            client_authorities: None,
            front_proxy: None,
            issuers: vec![issuer.into()],
            api_audiences: Vec::new(),
            signing_key: SigningKey::generate(),
            keys: Vec::new(),
            lookup: true,
            max_token_expiration: 0,
            extend_token_expiration: true,
            anonymous: true,
            anonymous_paths: Vec::new(),
        }
    }
}

/// The error of an invalid configuration. The messages are the real server's, where it has one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No issuer is given.
    #[error("service-account-issuer is a required flag")]
    NoIssuer,
    /// An issuer is empty.
    #[error("service-account-issuer should not be an empty string")]
    EmptyIssuer,
    /// An issuer is given twice.
    #[error("service-account-issuer {0:?} is already specified")]
    DuplicateIssuer(String),
    /// An issuer is that of legacy tokens, from which the real server would accept tokens of both kinds.
    #[error(
        "service-account-issuer {LEGACY_ISSUER:?} is that of tokens in secrets; using it for others is not supported"
    )]
    LegacyIssuer,
    /// The maximum expiration is out of range.
    #[error("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")]
    MaxTokenExpiration,
}

/// The authenticator of requests, which issues tokens as well. Built once; immutable but for its cache of signatures.
#[derive(Debug)]
pub struct Authenticator {
    static_tokens: HashMap<String, Arc<User>>,
    client_authorities: Option<ClientAuthorities>,
    front_proxy: Option<FrontProxy>,
    service_accounts: ServiceAccountTokens,
    anonymous: Option<Arc<User>>,
    anonymous_paths: Vec<String>,
    signing_key: SigningKey,
    max_token_expiration: i64,
    extend_token_expiration: bool,
}

/// The first part of every refusal: that of the real server's loopback authenticator, which accepts one internal token only.
const INVALID_TOKEN: &str = "invalid bearer token";
const EXTRA_SPACE_WARNING: &str =
    "the provided Authorization header contains extra space before the bearer token, and is ignored";

impl Authenticator {
    /// An authenticator with the given configuration.
    ///
    /// # Errors
    /// [`ConfigError`] if the real server would not start with it.
    pub fn new(config: Config) -> Result<Authenticator, ConfigError> {
        check_issuers(&config.issuers)?;
        if config.max_token_expiration != 0 && !(3600..=1 << 32).contains(&config.max_token_expiration) {
            return Err(ConfigError::MaxTokenExpiration);
        }
        let or = |list: Vec<String>, default: &[String]| if list.is_empty() { default.to_vec() } else { list };
        let keys = if config.keys.is_empty() { vec![config.signing_key.public().clone()] } else { config.keys };
        let users = config.static_tokens.into_iter();
        Ok(Authenticator {
            client_authorities: config.client_authorities,
            front_proxy: config.front_proxy,
            static_tokens: users.map(|(token, user)| (token, Arc::new(user.authenticated()))).collect(),
            service_accounts: ServiceAccountTokens {
                api_audiences: or(config.api_audiences, &config.issuers),
                issuers: config.issuers,
                keys,
                lookup: config.lookup,
                verified: Memo::default(),
            },
            anonymous: config.anonymous.then(|| Arc::new(User::anonymous())),
            anonymous_paths: config.anonymous_paths,
            signing_key: config.signing_key,
            max_token_expiration: config.max_token_expiration,
            extend_token_expiration: config.extend_token_expiration,
        })
    }

    /// Authenticates a request by its headers and the certificate of its connection; nobody in particular may make one for some paths only.
    ///
    /// # Errors
    /// [`Refusal`] if the credentials are bad, which is not the same as anonymous, or missing where anonymous users are refused.
    pub fn request(
        &self,
        headers: &HeaderMap,
        path: &str,
        certificate: Option<&ClientCertificate>,
        now: Timestamp,
        objects: &dyn Objects,
    ) -> Result<Authentication, Refusal> {
        let mut objections = Vec::new();
        for certified in certificate.into_iter().flat_map(|certificate| self.certified(headers, certificate, now)) {
            match certified {
                Ok(Some(user)) => {
                    let (user, audiences) = (Arc::new(user.authenticated()), self.api_audiences().to_vec());
                    return Ok(Authentication { user, audiences, notes: Notes::default() });
                }
                Ok(None) => {}
                Err(reason) => objections.push(reason),
            }
        }
        let is_open = self.anonymous_paths.is_empty() || self.anonymous_paths.iter().any(|open| open == path);
        let anonymous = self.anonymous.as_ref().filter(|_| is_open);
        let header = headers.get(AUTHORIZATION).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let header = header.as_deref().unwrap_or_default();
        self.authorization(header, objections, anonymous, self.api_audiences(), now, objects)
    }

    /// The users by a certificate: the one whom a proxy names, and the one whose it is.
    fn certified<'r>(
        &'r self,
        headers: &'r HeaderMap,
        certificate: &'r ClientCertificate,
        now: Timestamp,
    ) -> impl Iterator<Item = Result<Option<User>, String>> {
        let named = self.front_proxy.iter().map(move |proxy| proxy.user(headers, certificate, now));
        named.chain(self.client_authorities.iter().map(move |authorities| certificate.user(authorities, now)))
    }

    /// Authenticates a token, as a token review asks: for these audiences, or the API server's if empty.
    ///
    /// # Errors
    /// [`Refusal`] if the token is not valid.
    pub fn token(
        &self,
        token: &str,
        audiences: &[String],
        now: Timestamp,
        objects: &dyn Objects,
    ) -> Result<Authentication, Refusal> {
        let audiences = if audiences.is_empty() { self.api_audiences() } else { audiences };
        self.authorization(&format!("Bearer {token}"), Vec::new(), self.anonymous.as_ref(), audiences, now, objects)
    }

    /// The audiences of tokens that this server accepts.
    pub fn api_audiences(&self) -> &[String] {
        &self.service_accounts.api_audiences
    }

    /// The keys that verify service account tokens.
    pub fn keys(&self) -> &[PublicKey] {
        &self.service_accounts.keys
    }

    /// The key that signs this server's tokens.
    #[cfg(feature = "controllers")]
    pub(crate) fn signing_key(&self) -> &SigningKey {
        &self.signing_key
    }

    /// All issuers of tokens that are trusted, the own one first.
    pub fn issuers(&self) -> &[String] {
        &self.service_accounts.issuers
    }

    /// The issuer of the tokens that this server signs.
    pub fn issuer(&self) -> &str {
        &self.service_accounts.issuers[0]
    }

    /// Authenticates an `Authorization` header. `objections` are the errors of other credentials of the same request.
    fn authorization(
        &self,
        header: &str,
        objections: Vec<String>,
        anonymous: Option<&Arc<User>>,
        audiences: &[String],
        now: Timestamp,
        objects: &dyn Objects,
    ) -> Result<Authentication, Refusal> {
        let mut notes = Notes::default();
        let Some(token) = bearer_token(header, &mut notes) else {
            return match anonymous.filter(|_| objections.is_empty()) {
                Some(user) => Ok(Authentication { user: Arc::clone(user), audiences: audiences.to_vec(), notes }),
                None if objections.is_empty() => Err(Refusal { reason: String::new(), notes, unknown: None }),
                None => Err(Refusal { reason: aggregate(objections), notes, unknown: None }),
            };
        };
        if let Some(user) = self.static_tokens.get(token).cloned().or_else(|| objects.user(token)) {
            let audiences = intersection(self.api_audiences(), audiences);
            if !audiences.is_empty() {
                return Ok(Authentication { user, audiences, notes });
            }
        }
        let reason = match self.service_accounts.authenticate(token, audiences, now, objects, &mut notes) {
            Ok(Some(authentication)) => return Ok(Authentication { notes, ..authentication }),
            Ok(None) => None,
            Err(reason) => Some(reason),
        };
        let reasons = std::iter::once(INVALID_TOKEN.to_owned()).chain(objections).chain(reason).collect();
        let unknown = Unknown { token: token.to_owned(), reasons };
        Err(Refusal { reason: aggregate(unknown.reasons.iter().cloned()), notes, unknown: Some(unknown) })
    }
}

fn check_issuers(issuers: &[String]) -> Result<(), ConfigError> {
    if issuers.is_empty() {
        return Err(ConfigError::NoIssuer);
    }
    for (index, issuer) in issuers.iter().enumerate() {
        match issuer.as_str() {
            "" => return Err(ConfigError::EmptyIssuer),
            LEGACY_ISSUER => return Err(ConfigError::LegacyIssuer),
            _ if issuers[..index].contains(issuer) => return Err(ConfigError::DuplicateIssuer(issuer.clone())),
            _ => {}
        }
    }
    Ok(())
}

/// The token in an `Authorization` header: `bearertoken.AuthenticateRequest`. Other schemes are ignored.
fn bearer_token<'a>(header: &'a str, notes: &mut Notes) -> Option<&'a str> {
    let mut parts = header.trim().splitn(3, ' ');
    let (scheme, token, rest) = (parts.next()?, parts.next()?, parts.next());
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    if token.is_empty() {
        if rest.is_some() {
            notes.warnings.push(EXTRA_SPACE_WARNING.into());
        }
        return None;
    }
    Some(token)
}
