//! The token manager: service account tokens for pods, requested with `serviceaccounts/token`, cached, and renewed before
//! they expire.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/token/token_manager.go`. As there, concurrent calls for the same token may each
//! make a request, and a request that fails is repeated with the next call. Differences:
//! * A pod's tokens are found by the request's bound object, which an answer may leave out.
//! * Whether the API server has TokenRequest is asked again if discovery failed.
//! * Nothing runs by itself: [`TokenManager::sweep`] is to be called every [`SWEEP_PERIOD`].

mod cache;
mod spec;
mod token;

pub use cache::{is_expired, requires_refresh};
pub use spec::{BoundObject, TokenSpec};
pub use token::Token;

use crate::clock::Clock;
use cache::TokenCache;
use controller::client_go::api_errors;
use controller::client_go::objects::Objects;
use jiff::SignedDuration;
use k8s_openapi::api::authentication::v1::TokenRequest;
use kube::Client;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tracing::{error, warn};

/// The period of [`TokenManager::sweep`] (`gcPeriod`).
pub const SWEEP_PERIOD: SignedDuration = SignedDuration::from_mins(1);
/// The bound of the jitter, in seconds, by which a token is renewed early (`maxJitter`); the jitter is less.
const MAX_JITTER_SECONDS: i64 = 10;

/// An error of getting a token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// There was no token, and none could be requested.
    #[error("failed to fetch token: {0}")]
    Fetch(FetchError),
    /// The token has expired, and no other could be requested.
    #[error("token {0} expired and refresh failed: {1}")]
    Expired(Box<TokenSpec>, FetchError),
}

/// An error of requesting a token.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The API server's status, with its message unchanged.
    #[error("{}", .0.message)]
    Api(Box<kube::core::Status>),
    /// The API server does not have TokenRequest.
    #[error("the API server does not have TokenRequest endpoints enabled")]
    Unsupported,
    /// The answer lacks the token or its expiry.
    #[error("the API server's answer has no token")]
    Incomplete,
    /// The request failed without an answer of the API server.
    #[error(transparent)]
    Client(kube::Error),
}

impl From<kube::Error> for FetchError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => FetchError::Api(status),
            other => FetchError::Client(other),
        }
    }
}

/// A manager that requests tokens and caches them.
pub struct TokenManager {
    client: Client,
    clock: Arc<dyn Clock>,
    jitter: Mutex<fastrand::Rng>,
    cache: Mutex<TokenCache>,
    supported: OnceLock<bool>,
}

impl TokenManager {
    /// A manager without tokens. `jitter` is the source of the jitter of renewals.
    pub fn new(client: Client, clock: Arc<dyn Clock>, jitter: fastrand::Rng) -> Self {
        let (jitter, cache) = (Mutex::new(jitter), Mutex::default());
        TokenManager { client, clock, jitter, cache, supported: OnceLock::new() }
    }

    /// The token for `spec`: the cached one if it is fresh, else a new one. If the request fails, the cached one until it
    /// expires.
    ///
    /// # Errors
    /// If the request fails and no token is cached, or it has expired.
    pub async fn get(&self, spec: &TokenSpec) -> Result<Token, TokenError> {
        let kept = self.cache().get(spec);
        if let Some(token) = &kept
            && !self.requires_refresh(token)
        {
            return Ok(token.clone());
        }
        match (self.fetch(spec).await, kept) {
            (Ok(token), _) => {
                if token.lifetime_seconds.is_none() {
                    warn!(key = %spec, "Expiration seconds was nil for token request");
                }
                self.cache().set(spec.clone(), token.clone());
                Ok(token)
            }
            (Err(error), None) => Err(TokenError::Fetch(error)),
            (Err(error), Some(token)) if is_expired(&token, self.clock.now()) => {
                Err(TokenError::Expired(Box::new(spec.clone()), error))
            }
            (Err(error), Some(token)) => {
                error!(key = %spec, %error, "Couldn't update token");
                Ok(token)
            }
        }
    }

    /// Drops the tokens of the pod with that uid (`DeleteServiceAccountToken`).
    pub fn delete_bound_to(&self, pod_uid: &str) {
        self.cache().delete_bound_to(pod_uid);
    }

    /// Drops expired tokens.
    pub fn sweep(&self) {
        let now = self.clock.now();
        self.cache().sweep(now);
    }

    /// The number of cached tokens.
    pub fn count(&self) -> usize {
        self.cache().len()
    }

    fn requires_refresh(&self, token: &Token) -> bool {
        let seconds = self.jitter.lock().expect("no holder of this lock can panic").i64(0..MAX_JITTER_SECONDS);
        requires_refresh(token, self.clock.now(), SignedDuration::from_secs(seconds))
    }

    async fn fetch(&self, spec: &TokenSpec) -> Result<Token, FetchError> {
        let accounts = Objects::namespaced(self.client.clone(), &spec.namespace);
        match accounts.create_token(&spec.service_account, &spec.request()).await {
            Ok(answer) => token(answer).ok_or(FetchError::Incomplete),
            Err(error) if api_errors::is_not_found(&error) && self.is_unsupported().await => {
                Err(FetchError::Unsupported)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether discovery says that the API server has no `serviceaccounts/token`. Its answer is cached.
    async fn is_unsupported(&self) -> bool {
        if let Some(supported) = self.supported.get() {
            return !supported;
        }
        let Ok(known) = self.client.list_core_api_resources("v1").await else { return false };
        let supported = known.resources.iter().any(|resource| resource.name == "serviceaccounts/token");
        !self.supported.get_or_init(|| supported)
    }

    fn cache(&self) -> MutexGuard<'_, TokenCache> {
        self.cache.lock().expect("no holder of this lock can panic")
    }
}

impl fmt::Debug for TokenManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenManager").field("tokens", &self.count()).finish_non_exhaustive()
    }
}

fn token(answer: TokenRequest) -> Option<Token> {
    let status = answer.status?;
    let lifetime_seconds = answer.spec.and_then(|spec| spec.expiration_seconds);
    Some(Token { token: status.token?, expires: status.expiration_timestamp?.0, lifetime_seconds })
}
