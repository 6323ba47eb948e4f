//! The authenticator of service account tokens, legacy and bound.
//!
//! Ports `JWTTokenAuthenticator` of `pkg/serviceaccount/jwt.go` (v1.37.1). A token is checked in these steps, and the first that
//! fails gives the error: the issuer is this server's (any other is left to other authenticators), a key signed it, its
//! audiences intersect the requested ones, its claims are complete, it is valid at this time, and the objects that it is bound
//! to exist.
//!
//! Signature and claims of a token never change, so they are cached. All that can change is checked each time. The real server
//! instead caches a successful authentication for ten seconds, and may accept a token for that long after it has expired or its
//! service account or pod was deleted.

use super::bound::Bound;
use super::claims::Registered;
use super::jwt::{NO_KEYS, Parsed, claimed_issuer};
use super::keys::PublicKey;
use super::legacy::{LEGACY_ISSUER, Legacy};
use super::own_keys::OwnKeys;
use super::{Authentication, Notes, Objects};
use crate::memo::Memo;
use crate::user::User;
use jiff::Timestamp;
use std::sync::Arc;
use tree::Map;

#[derive(Debug)]
pub(super) struct ServiceAccountTokens {
    pub(super) issuers: Vec<String>,
    pub(super) keys: Vec<PublicKey>,
    pub(super) api_audiences: Vec<String>,
    pub(super) lookup: bool,
    pub(super) verified: Memo<String, Arc<Verified>>,
}

/// The claims of a token whose signature was verified.
#[derive(Debug)]
pub(super) struct Verified {
    /// The id of the key, if it is not one of the server's, but of some cluster's alone.
    own: Option<Box<str>>,
    registered: Registered,
    private: Private,
    user: Arc<User>,
}

#[derive(Debug)]
enum Private {
    Legacy(Legacy),
    Bound(Bound),
}

impl ServiceAccountTokens {
    /// Authenticates `token`; `None` if another authenticator may know it.
    pub(super) fn authenticate(
        &self,
        token: &str,
        requested: &[String],
        now: Timestamp,
        objects: &dyn Objects,
        notes: &mut Notes,
    ) -> Result<Option<Authentication>, String> {
        let Some(verified) = self.verify(token, objects.keys())? else { return Ok(None) };
        let Verified { registered, private, user, .. } = &*verified;

        let own = match registered.audience.as_slice() {
            [] => {
                notes.annotate("authentication.k8s.io/legacy-token", registered.subject.clone());
                &self.api_audiences
            }
            _ => &registered.audience,
        };
        let audiences = intersection(own, requested);
        if audiences.is_empty() {
            let (own, requested) = (quoted(own), quoted(requested));
            return Err(format!("token audiences {own} is invalid for the target audiences {requested}"));
        }

        match private {
            Private::Legacy(legacy) => {
                legacy.check_claims(registered)?;
                if self.lookup {
                    legacy.look_up(token, now, objects, notes)?;
                }
            }
            Private::Bound(bound) => bound.validate(registered, now, objects, notes)?,
        }
        Ok(Some(Authentication { user: Arc::clone(user), audiences, notes: Notes::default() }))
    }

    fn verify(&self, token: &str, own: Option<&OwnKeys>) -> Result<Option<Arc<Verified>>, String> {
        let is_known = |key: &str| own.is_some_and(|own| own.with_id(key).is_some());
        if let Some(verified) = self.verified.get(token) {
            let is_good = verified.own.as_deref().is_none_or(is_known);
            return if is_good { Ok(Some(verified)) } else { Err(NO_KEYS.into()) };
        }
        if !claimed_issuer(token).is_some_and(|issuer| self.is_trusted(&issuer)) {
            return Ok(None);
        }
        let Some(parsed) = Parsed::new(token) else { return Ok(None) };
        let key = own.and_then(|own| own.with_id(parsed.key_id()));
        let claims = parsed.verify(key.map_or(&self.keys[..], std::slice::from_ref))?;
        let verified = Arc::new(self.read(&claims, key.map(|key| key.id().into()))?);
        // Its size is estimated by that of the token, which has the same claims.
        self.verified.insert(token, Arc::clone(&verified), size_of::<Verified>() + 2 * token.len());
        Ok(Some(verified))
    }

    fn read(&self, claims: &Map, own: Option<Box<str>>) -> Result<Verified, String> {
        let registered = Registered::read(claims)?;
        if !self.is_trusted(&registered.issuer) {
            return Err(format!("token issuer {:?} is invalid", registered.issuer));
        }
        let (private, user) = if registered.issuer == LEGACY_ISSUER {
            let legacy = Legacy::read(claims)?;
            let user = legacy.service_account().user();
            (Private::Legacy(legacy), user)
        } else {
            let bound = Bound::read(claims)?;
            let mut user = bound.service_account().user();
            bound.describe(&registered, &mut user);
            (Private::Bound(bound), user)
        };
        Ok(Verified { own, registered, private, user: Arc::new(user.authenticated()) })
    }

    fn is_trusted(&self, issuer: &str) -> bool {
        issuer == LEGACY_ISSUER || self.issuers.iter().any(|trusted| trusted == issuer)
    }
}

/// `Audiences.Intersect`: the members of `requested` that are in `own`.
pub(super) fn intersection(own: &[String], requested: &[String]) -> Vec<String> {
    requested.iter().filter(|audience| own.contains(audience)).cloned().collect()
}

/// A list as Go's `%q` prints it.
fn quoted(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(" "))
}
