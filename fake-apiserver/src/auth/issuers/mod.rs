//! Issuers of tokens that this server trusts: OpenID Connect.
//!
//! ```text
//!   description ──▶ Issuer ── every 10 s, until it answers ──▶ Provider: where its keys are
//!   token ──▶ its issuer? ──▶ signature, by the keys ──▶ audience, expiry ──▶ claims ──▶ user ──▶ rules
//! ```
//! Ports `plugin/pkg/authenticator/token/oidc/oidc.go` of `k8s.io/apiserver` (v0.37.1).

mod claims;
mod config;
mod fetches;
mod file;
mod keys;
mod provider;
mod token;

pub(crate) use config::{Anonymous, IssuerConfig};
pub(crate) use file::{AuthenticationFile, Refused, of_flags};

use super::jwt::claimed_issuer;
use crate::auth::families::TOKEN_DURATION;
use crate::clock::Clock;
use crate::measures::Measures;
use crate::reloads::hash_of;
use crate::user::User;
use crate::webhook::{Getter, Network};
use arc_swap::ArcSwap;
use fetches::{Fetches, Told};
use jiff::Timestamp;
use provider::Provider;
use std::sync::Arc;
use std::time::Duration;
use token::Demands;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The pause before an issuer is asked again that did not describe itself.
const PAUSE: Duration = Duration::from_secs(10);
/// The time for which new issuers are waited for (`UpdateAuthenticationConfigTimeout`).
const PATIENCE: Duration = Duration::from_secs(60);

/// All algorithms, in their order (`AllValidSigningAlgorithms`).
pub(crate) const ALGORITHMS: [&str; 9] =
    ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"];

/// The issuers of a server, which may be replaced by others while it runs.
#[derive(Default)]
pub(crate) struct Issuers {
    all: ArcSwap<Vec<Issuer>>,
    measures: Arc<Measures>,
}

/// An issuer.
struct Issuer {
    config: IssuerConfig,
    algorithms: Arc<[String]>,
    /// The issuer as it describes itself, or why it is not known.
    provider: watch::Receiver<Result<Arc<Provider>, String>>,
    fetches: Arc<Fetches>,
    /// Ends the attempts to find it with this.
    _found: tokio_util::sync::DropGuard,
}

/// The parts of a server that its issuers need.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) network: Arc<Network>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) measures: Arc<Measures>,
    pub(crate) runtime: Handle,
    /// The issuers of this server's own tokens, which no other may be.
    pub(crate) own: Vec<String>,
    pub(crate) algorithms: Vec<String>,
}

impl Issuers {
    /// Issuers that are looked for from now on.
    ///
    /// # Errors
    /// If one is this server itself, or certificates cannot be used.
    pub(crate) fn start(configs: Vec<IssuerConfig>, around: &Surroundings) -> Result<Issuers, String> {
        let all = ArcSwap::from_pointee(started(configs, around, &[])?);
        Ok(Issuers { all, measures: around.measures.clone() })
    }

    /// Replaces them, once the others have described themselves.
    ///
    /// # Errors
    /// If one is this server itself, or does not describe itself within a minute.
    pub(crate) async fn replace(&self, configs: Vec<IssuerConfig>, around: &Surroundings) -> Result<(), String> {
        let mut issuers = started(configs, around, &self.all.load())?;
        for Issuer { config, provider, .. } in &mut issuers {
            let found = timeout(PATIENCE, provider.wait_for(Result::is_ok)).await.is_ok();
            if !found && let Err(why) = &*provider.borrow() {
                return Err(format!("oidc: authenticator for issuer {:?} is not healthy: {why}", config.url));
            }
        }
        self.all.store(Arc::new(issuers));
        Ok(())
    }

    /// The user of a token; `None` if it is not one of these issuers.
    ///
    /// # Errors
    /// In upstream's words, if it is not good.
    pub(crate) async fn authenticate(&self, token: &str, now: Timestamp) -> Result<Option<User>, String> {
        let issuers = self.all.load_full();
        if issuers.is_empty() {
            return Ok(None);
        }
        let claimed = match claimed_issuer(token) {
            Some(google) if google == "accounts.google.com" => "https://accounts.google.com".to_owned(),
            Some(claimed) => claimed,
            None => return Ok(None),
        };
        let Some(issuer) = issuers.iter().find(|issuer| issuer.config.url == claimed) else { return Ok(None) };
        let since = Instant::now();
        let user = issuer.user(token, now).await;
        let result = if user.is_ok() { "success" } else { "failure" };
        self.measures.time(&TOKEN_DURATION, &[&hash_of(claimed.as_bytes()), result], since.elapsed());
        user.map(Some)
    }

    /// The URLs of the issuers, each with what there is to tell of the times when their keys were fetched.
    pub(crate) fn fetches(&self) -> Vec<(String, Told)> {
        let mut all: Vec<(String, Told)> =
            self.all.load().iter().map(|issuer| (issuer.config.url.clone(), issuer.fetches.told())).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }
}

/// The issuers of those descriptions. The fetches of keys are counted on for those that there were before.
fn started(configs: Vec<IssuerConfig>, around: &Surroundings, before: &[Issuer]) -> Result<Vec<Issuer>, String> {
    let fetches = |url: &str| {
        let known = before.iter().find(|issuer| issuer.config.url == url).map(|issuer| issuer.fetches.clone());
        known.unwrap_or_default()
    };
    configs.into_iter().map(|config| Issuer::start(fetches(&config.url), config, around)).collect()
}

impl Issuer {
    /// The user of a token that says that it is one of this issuer.
    async fn user(&self, token: &str, now: Timestamp) -> Result<User, String> {
        let provider = self.provider.borrow().clone().map_err(|_| "oidc: authenticator not initialized".to_owned())?;
        let demands =
            Demands { issuer: &self.config.url, audiences: &self.config.audiences, algorithms: &self.algorithms, now };
        let claims = token::verified(token, &provider, &demands).await;
        let claims = claims.map_err(|why| format!("oidc: verify token: {why}"))?;
        claims::user(&self.config, &claims)
    }

    /// An issuer that is looked for from now on.
    fn start(fetches: Arc<Fetches>, config: IssuerConfig, around: &Surroundings) -> Result<Issuer, String> {
        let Surroundings { network, clock, runtime, own, algorithms, .. } = around;
        if own.contains(&config.url) {
            let mut own = own.clone();
            own.sort();
            let own = own.join(" ");
            let url = &config.url;
            return Err(format!(
                "issuer.url: Invalid value: {url:?}: URL must not overlap with disallowed issuers: [{own}]"
            ));
        }
        if let Some(unknown) = algorithms.iter().find(|one| !ALGORITHMS.contains(&one.as_str())) {
            return Err(format!("oidc: unsupported signing alg: {unknown:?}"));
        }
        if !config.egress.is_empty() {
            return Err(format!("oidc: egress lookup required with egress selector type {:?}", config.egress));
        }
        let getter = Arc::new(Getter::new(config.authorities.clone().into_bytes(), network)?);
        let (url, elsewhere) = (config.url.clone(), config.discovery_url.clone());
        let initial = format!("oidc: authenticator for issuer {url:?} is not initialized");
        let (sender, provider) = watch::channel(Err(initial));
        let (stop, clock, counted) = (CancellationToken::new(), clock.clone(), fetches.clone());
        let looking = async move {
            loop {
                match Provider::discover(&url, elsewhere.as_deref(), &getter, &clock, &counted).await {
                    Ok(provider) => return sender.send_replace(Ok(Arc::new(provider))),
                    Err(why) => {
                        tracing::error!("oidc authenticator: initializing plugin: {why}");
                        sender.send_modify(|state| *state = Err(why));
                    }
                }
                sleep(PAUSE).await;
            }
        };
        runtime.spawn(stop.clone().run_until_cancelled_owned(async move { drop(looking.await) }));
        Ok(Issuer { config, algorithms: algorithms.clone().into(), provider, fetches, _found: stop.drop_guard() })
    }
}
