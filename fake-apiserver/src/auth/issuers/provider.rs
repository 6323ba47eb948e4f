//! An issuer as it describes itself: where its keys are, and which.
//!
//! Ports `oidc.go` and `jwks.go` of `go-oidc` v2.5.0.
//!
//! GAP: authentication: the lifetime of an issuer's keys by `Expires` and `Last-Modified`

use super::fetches::Fetches;
use super::keys::{self, Key};
use crate::clock::{Clock, plus};
use crate::webhook::{Fetched, Getter};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use std::sync::{Arc, Mutex, PoisonError};

/// The path of the description, below the URL of the issuer.
const WELL_KNOWN: &str = "/.well-known/openid-configuration";
/// The time before keys are out of date from which unknown ones are looked for (`keysExpiryDelta`).
const MARGIN: SignedDuration = SignedDuration::from_secs(30);

/// An issuer that has described itself.
pub(super) struct Provider {
    keys_url: String,
    getter: Arc<Getter>,
    clock: Arc<dyn Clock>,
    fetches: Arc<Fetches>,
    /// The keys, and until when no others are expected.
    known: Mutex<(Arc<Vec<Key>>, Timestamp)>,
    /// Held by the one who fetches the keys.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    issuer: String,
    #[serde(default)]
    jwks_uri: String,
}

impl Provider {
    /// The issuer with that URL, which describes itself below it, or elsewhere.
    ///
    /// # Errors
    /// If it does not, or says that it is another one.
    pub(super) async fn discover(
        issuer: &str,
        elsewhere: Option<&str>,
        getter: &Arc<Getter>,
        clock: &Arc<dyn Clock>,
        fetches: &Arc<Fetches>,
    ) -> Result<Provider, String> {
        let own = format!("{}{WELL_KNOWN}", issuer.strip_suffix('/').unwrap_or(issuer));
        let fetched = getter.get(elsewhere.unwrap_or(&own)).await?;
        if fetched.status != 200 {
            return Err(fetched.told());
        }
        let description: Description =
            decoded(&fetched).map_err(|why| format!("oidc: failed to decode provider discovery object: {why}"))?;
        if description.issuer != issuer {
            return Err(format!(
                "oidc: issuer did not match the issuer returned by provider, expected {issuer:?} got {:?}",
                description.issuer
            ));
        }
        if description.jwks_uri.is_empty() {
            return Err("provider did not return JWKS URL".into());
        }
        Ok(Provider {
            keys_url: description.jwks_uri,
            getter: getter.clone(),
            clock: clock.clone(),
            fetches: fetches.clone(),
            known: Mutex::new((Arc::default(), Timestamp::MIN)),
            fetching: tokio::sync::Mutex::default(),
        })
    }

    /// Whether a key of the issuer verifies something. Keys that are not known are fetched.
    ///
    /// # Errors
    /// If none does, or the keys cannot be fetched.
    pub(super) async fn verify(&self, verifies: impl Fn(&Key) -> bool) -> Result<(), String> {
        const FAILED: &str = "failed to verify id token signature";
        let (keys, until) = self.known();
        if keys.iter().any(&verifies) {
            return Ok(());
        }
        if plus(self.clock.now(), MARGIN) <= until {
            return Err(FAILED.into());
        }
        let fetched = self.fetch(&keys).await.map_err(|why| format!("fetching keys {why}"))?;
        if fetched.iter().any(&verifies) { Ok(()) } else { Err(FAILED.into()) }
    }

    fn known(&self) -> (Arc<Vec<Key>>, Timestamp) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The keys as they are now; `old` are those that are not enough. Those who come meanwhile wait for one.
    async fn fetch(&self, old: &Arc<Vec<Key>>) -> Result<Arc<Vec<Key>>, String> {
        let _only = self.fetching.lock().await;
        let (keys, _) = self.known();
        if !Arc::ptr_eq(&keys, old) {
            return Ok(keys);
        }
        let fetched = self.fetched().await;
        let body = fetched.as_ref().ok().map(|(fetched, _)| &*fetched.body);
        self.fetches.note(self.clock.now(), body);
        let (fetched, keys) = fetched?;
        let keys = Arc::new(keys);
        let until = plus(self.clock.now(), SignedDuration::from_secs(max_age(&fetched.cache_control)));
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = (keys.clone(), until);
        Ok(keys)
    }

    /// The response with the keys, and these.
    async fn fetched(&self) -> Result<(Fetched, Vec<Key>), String> {
        let fetched = self.getter.get(&self.keys_url).await.map_err(|why| format!("oidc: get keys failed {why}"))?;
        if fetched.status != 200 {
            return Err(format!("oidc: get keys failed: {}", fetched.told().replacen(": ", " ", 1)));
        }
        let keys = decoded::<serde_json::Value>(&fetched).and_then(|_| keys::parse(&fetched.body));
        let body = || String::from_utf8_lossy(&fetched.body).into_owned();
        let keys = keys.map_err(|why| format!("oidc: failed to decode keys: {why} {}", body()))?;
        Ok((fetched, keys))
    }
}

/// `unmarshalResp`
fn decoded<T: for<'d> Deserialize<'d>>(fetched: &Fetched) -> Result<T, String> {
    serde_json::from_slice(&fetched.body).map_err(|error| {
        let content_type = &fetched.content_type;
        match content_type.split(';').next().map(str::trim) {
            Some("application/json") => {
                format!("got Content-Type = application/json, but could not unmarshal as JSON: {error}")
            }
            _ => format!("expected Content-Type = application/json, got {content_type:?}: {error}"),
        }
    })
}

/// The seconds for which a response may be kept, by its header `Cache-Control`.
fn max_age(header: &str) -> i64 {
    let directives: Vec<&str> = header.split(',').map(str::trim).collect();
    if ["no-store", "no-cache", "private"].iter().any(|no| directives.contains(no)) {
        return 0;
    }
    let age = |name: &str| directives.iter().find_map(|one| one.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
    age("s-maxage").or_else(|| age("max-age")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_as_long_as_the_issuer_says() {
        for (header, seconds) in [
            ("", 0),
            ("max-age=60", 60),
            ("public, max-age=60, s-maxage=90", 90),
            ("private, max-age=60", 0),
            ("no-store, max-age=60", 0),
            ("max-age=soon", 0),
        ] {
            assert_eq!(max_age(header), seconds, "{header}");
        }
    }
}
