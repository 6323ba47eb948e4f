//! Authentication: users by tokens and certificates, and service accounts by their tokens.

use super::{Builder, StartError};
use crate::auth::authentication_options::{AuthenticationOptions, AuthenticationWebhookOptions, FrontProxyOptions};
use crate::auth::hooks::TokenWebhook;
use crate::auth::issuers::{
    ALGORITHMS, Anonymous, AuthenticationFile, IssuerConfig, Issuers, Refused, Surroundings, of_flags,
};
use crate::auth::keys::{PublicKey, SigningKey};
use crate::auth::token_file;
use crate::auth::{Authenticator, ClientAuthorities, Config, FrontProxy, Others, User};
use crate::error::aggregate;
use crate::files;
use crate::measures::Measures;
use crate::reconcile::Trusted;
use crate::reloads::{Reloads, Subject};
use crate::server::follow::Followed;
use crate::webhook::Network;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Handle;

/// The issuers that a file or flags describe, and the file: its path, its content, and what it says of anonymous requests.
pub(super) struct DescribedOthers {
    issuers: Vec<IssuerConfig>,
    algorithms: Vec<String>,
    file: Option<(PathBuf, Vec<u8>, Option<Anonymous>)>,
}

impl Builder {
    /// Adds a user with a static bearer token.
    #[must_use]
    pub fn add_static_token(mut self, token: &str, user: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(ToString::to_string).collect();
        let user = User { name: user.into(), uid: user.into(), groups, ..User::default() };
        self.authentication.static_tokens.insert(token.into(), user);
        self
    }

    /// Adds users from the text of a token file: `token,user,uid,"group1,group2"` a line. `path` is for messages. A line that
    /// cannot be read fails the start.
    #[must_use]
    pub fn add_token_file(self, path: &str, text: &str) -> Self {
        self.checked(token_file::parse(path, text).map_err(StartError::TokenFile), |builder, users| {
            builder.authentication.static_tokens.extend(users);
        })
    }

    /// Authorities, as PEM, that sign the certificates of clients: the common name is the user, organizations are the groups.
    /// A client without a certificate is let in; one with a bad certificate gets 401. PEM without a certificate fails the start.
    #[must_use]
    pub fn client_ca_pem(self, pem: &str) -> Self {
        self.checked(ClientAuthorities::from_pem(pem).map_err(StartError::ClientAuthorities), |builder, authorities| {
            builder.authentication.client_authorities = Some(authorities);
        })
    }

    /// Issuers of service account tokens: the first one issues new tokens, those of all are accepted.
    #[must_use]
    pub fn service_account_issuers<S: Into<String>>(mut self, issuers: impl IntoIterator<Item = S>) -> Self {
        self.authentication.issuers = issuers.into_iter().map(Into::into).collect();
        self
    }

    /// Adds keys that verify service account tokens: public or private, as PEM. Without any, the signing key does. PEM without a
    /// key fails the start.
    #[must_use]
    pub fn add_service_account_key_pem(mut self, pem: &[u8]) -> Self {
        let index = self.key_pems;
        self.key_pems += 1;
        let keys = PublicKey::all_from_pem(pem).map_err(|source| StartError::ServiceAccountKey { index, source });
        self.checked(keys, |builder, keys| builder.authentication.keys.extend(keys))
    }

    /// The private key that signs service account tokens (RSA or ECDSA), as PEM. Without it a P-256 key is generated, which takes
    /// almost no time. PEM without a private key fails the start.
    #[must_use]
    pub fn service_account_signing_key_pem(self, pem: &[u8]) -> Self {
        self.checked(SigningKey::from_pem(pem).map_err(StartError::ServiceAccountSigningKey), |builder, key| {
            builder.authentication.signing_key = key;
        })
    }

    /// Whether legacy tokens must still exist as secrets; on by default.
    #[must_use]
    pub fn service_account_lookup(mut self, lookup: bool) -> Self {
        self.authentication.lookup = lookup;
        self
    }

    /// The longest lifetime of a requested token, in seconds; 0, the default, means no limit.
    #[must_use]
    pub fn service_account_max_token_expiration(mut self, seconds: i64) -> Self {
        self.authentication.max_token_expiration = seconds;
        self
    }

    /// Whether pods' tokens of 3607 seconds are valid for a year; on by default.
    #[must_use]
    pub fn service_account_extend_token_expiration(mut self, extend: bool) -> Self {
        self.authentication.extend_token_expiration = extend;
        self
    }

    /// Audiences of this server, which tokens for it must have; the issuers by default.
    #[must_use]
    pub fn api_audiences<S: Into<String>>(mut self, audiences: impl IntoIterator<Item = S>) -> Self {
        self.authentication.api_audiences = audiences.into_iter().map(Into::into).collect();
        self
    }

    /// Whether requests without credentials are `system:anonymous`'s rather than refused; on by default.
    #[must_use]
    pub fn anonymous_auth(mut self, allowed: bool) -> Self {
        self.authentication.anonymous = allowed;
        self
    }

    /// The authenticators that ask others about tokens. Options that are wrong, and files that cannot be used, fail the start.
    #[must_use]
    pub fn authentication(mut self, options: AuthenticationOptions) -> Self {
        self.others = options;
        self
    }

    /// The front proxies, after a look at all options.
    pub(super) fn front_proxy(&self) -> Result<Option<FrontProxy>, StartError> {
        let options = &self.others;
        let findings = options.finding().map(str::to_owned).into_iter().chain(options.front_proxy.findings());
        let mut findings: Vec<String> = findings.collect();
        let proxy = FrontProxy::read(&options.front_proxy);
        let clients = self.authentication.client_authorities.as_ref();
        let overlap = proxy.as_ref().ok().and_then(|proxy| FrontProxyOptions::overlap(proxy.as_ref()?, clients));
        findings.extend(overlap.map(str::to_owned));
        match findings.is_empty() {
            true => proxy.map_err(StartError::AuthenticationFile),
            false => Err(StartError::AuthenticationFile(aggregate(findings))),
        }
    }

    /// The authorities whose certificates clients are asked for: of users and of front proxies.
    pub(super) fn authorities_of_connections(&self) -> Option<ClientAuthorities> {
        let Config { client_authorities: users, front_proxy, .. } = &self.authentication;
        let proxies = front_proxy.as_ref().map(|proxy| &proxy.authorities);
        match (users, proxies) {
            (Some(users), Some(proxies)) => Some(users.and(proxies).expect("each can be used")),
            (one, other) => one.as_ref().or(other).cloned(),
        }
    }

    /// Reads the file and the flags about others, which may also say whether anonymous requests are served.
    pub(super) fn read_others(&self, authentication: &mut Config) -> Result<DescribedOthers, StartError> {
        let refused = StartError::AuthenticationFile;
        let options = &self.others;
        authentication.anonymous = options.anonymous.unwrap_or(authentication.anonymous);
        let Some(path) = &options.config_file else {
            let algorithms = options.oidc.signing_algorithms.clone().unwrap_or_else(|| vec!["RS256".into()]);
            let issuers = of_flags(&options.oidc).map_err(refused)?;
            return Ok(DescribedOthers { issuers, algorithms, file: None });
        };
        let not_loaded = |why| {
            format!("failed to load authentication configuration from file {:?}: {why}", path.display().to_string())
        };
        let content = files::read(path).map_err(|why| refused(not_loaded(why)))?;
        let objection = |said: Option<&Anonymous>| {
            let why = "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file";
            said.filter(|_| options.anonymous.is_some()).map(|_| why.to_owned())
        };
        let file = AuthenticationFile::read(&content, objection).map_err(|why| match why {
            Refused::NotLoaded(why) => refused(not_loaded(why)),
            Refused::Objection(why) => refused(why),
            Refused::Invalid(why) => refused(format!("invalid authentication configuration: {why}")),
        })?;
        if let Some(Anonymous { enabled, paths }) = &file.anonymous {
            authentication.anonymous = *enabled;
            authentication.anonymous_paths.clone_from(paths);
        }
        let algorithms = ALGORITHMS.map(str::to_owned).to_vec();
        let AuthenticationFile { issuers, anonymous } = file;
        Ok(DescribedOthers { issuers, algorithms, file: Some((path.clone(), content, anonymous)) })
    }

    /// Those who are asked about tokens that the authenticator does not know, and the file that says who, if there is one.
    pub(super) fn others(
        &self,
        described: DescribedOthers,
        own: &Authenticator,
        network: &Arc<Network>,
        measures: &Arc<Measures>,
        runtime: &Handle,
    ) -> Result<(Others, Option<Followed>), StartError> {
        let refused = StartError::AuthenticationFile;
        let DescribedOthers { issuers, algorithms, file } = described;
        let around = Surroundings {
            network: network.clone(),
            clock: self.clock.clone(),
            measures: measures.clone(),
            runtime: runtime.clone(),
            own: own.issuers().to_vec(),
            algorithms,
        };
        let issuers = Arc::new(Issuers::start(issuers, &around).map_err(refused)?);
        let AuthenticationWebhookOptions { config_file, version, cache_ttl } = &self.others.webhook;
        let audiences = || own.api_audiences().to_vec();
        let webhook = |path| TokenWebhook::new(path, version, *cache_ttl, audiences(), network, &self.clock);
        let webhook = config_file.as_deref().map(webhook).transpose().map_err(refused)?;
        let followed = file.map(|(path, content, anonymous)| {
            let issuers = issuers.clone();
            let reloads = Reloads::new(Subject::Authentication, self.clock.clone());
            Followed::file("authentication config", path, content, reloads, move |content| {
                let changed = |said: Option<&Anonymous>| {
                    let why = "anonymous: Forbidden: changed from initial configuration file";
                    (said != anonymous.as_ref()).then(|| why.to_owned())
                };
                let file = AuthenticationFile::read(content, changed).map_err(|why| match why {
                    Refused::NotLoaded(why) | Refused::Objection(why) | Refused::Invalid(why) => why,
                })?;
                around.runtime.block_on(issuers.replace(file.issuers, &around))
            })
        });
        Ok((Others::new(issuers, webhook), followed))
    }

    /// The authorities of which API servers are told that extend this one.
    pub(super) fn trusted(config: &Config) -> Trusted {
        let clients = config.client_authorities.as_ref().map(|all| all.pool().clone()).unwrap_or_default();
        let Some(FrontProxy { authorities, options }) = &config.front_proxy else {
            return Trusted { clients, ..Trusted::default() };
        };
        let FrontProxyOptions { allowed_names, username_headers, uid_headers, group_headers, .. } = options;
        Trusted {
            clients,
            proxies: authorities.pool().clone(),
            lists: [username_headers, uid_headers, group_headers, &options.extra_headers_prefix, allowed_names]
                .map(Clone::clone),
        }
    }

    /// Sets a value that was read; keeps the first error for the start.
    pub(super) fn checked<T>(mut self, value: Result<T, StartError>, set: impl FnOnce(&mut Self, T)) -> Self {
        match value {
            Ok(value) => set(&mut self, value),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        self
    }
}
