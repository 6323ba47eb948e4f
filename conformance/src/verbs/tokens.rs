//! The verbs about tokens: decoding them, and signing some that the server would not issue. All others are requested, used and
//! reviewed with ordinary requests.
//!
//! ```text
//! create serviceaccounts/builder/token spec.expirationSeconds=3600
//! ----
//! 201 status.token=$t
//!
//! claims of $t                                    its payload; the signature is not verified
//! ----
//! claims iat=$now nbf=$now exp=$exp
//!
//! as token $t: get configmaps/a
//!
//! create tokenreviews spec.token=$t
//!
//! sign token for serviceaccounts/builder uid=$sa as $early nbf=60s    a token that is not valid yet
//! sign token for serviceaccounts/builder uid=$sa as $old nbf=absent iat=absent exp=-61s
//! sign claims as $t                               a token of exactly those claims
//!   {"iss": "https://$hook/a", "aud": "me", "sub": "jane", "exp": 4102444800}
//! sign legacy token for serviceaccounts/builder uid=$sa secret=s as $t    the token of that secret, which never expires
//! ```
//!
//! The claims are those that the server would sign, but for the times given, in seconds from now. Other times are those of a
//! token of one hour that is issued now. They are exact for a server whose clock stands still, or that is
//! asked within half a second.

use super::server::seconds;
use crate::credentials::{ISSUER, SIGNING_KEY};
use crate::stage::Stage;
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use conformance_judge::observation::{Item, Observation};
use conformance_judge::scenario::command::RawCommand;
use controller::controllers::tokens::LEGACY_ISSUER;
use controller::keys::SigningKey;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// A verb about tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenVerb {
    /// `claims of TOKEN`.
    Claims(String),
    /// `sign claims as $TOKEN`.
    SignClaims(String, String),
    /// `sign token for serviceaccounts/NAME uid=UID as $TOKEN …`, or `sign legacy token …`.
    Sign(Signed),
}

/// A token to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    account: String,
    uid: String,
    /// The name to bind the token to.
    token: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Bound(Times),
    /// A legacy token of the secret with this name.
    Legacy(String),
}

/// Seconds from now; `None` leaves the claim out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Times {
    not_before: Option<i64>,
    issued_at: Option<i64>,
    expiry: Option<i64>,
}

impl TokenVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<TokenVerb, String> {
        match (command.verb.as_str(), &command.words()[..]) {
            ("claims", ["of", token]) => Ok(TokenVerb::Claims((*token).to_owned())),
            ("claims", _) => Err(command.usage("claims of $token")),
            (_, ["token", "for", reference, uid, "as", token, times @ ..]) => {
                let kind = Kind::Bound(Times::parse(times)?);
                Signed::parse(reference, uid, token, kind).map(TokenVerb::Sign).ok_or_else(|| command.usage(SIGN))
            }
            (_, ["claims", "as", token]) if token.starts_with('$') => {
                Ok(TokenVerb::SignClaims(token[1..].to_owned(), command.details.join(" ")))
            }
            (_, ["legacy", "token", "for", reference, uid, secret, "as", token]) => {
                let kind = secret.strip_prefix("secret=").map(|secret| Kind::Legacy(secret.to_owned()));
                let signed = kind.and_then(|kind| Signed::parse(reference, uid, token, kind));
                signed.map(TokenVerb::Sign).ok_or_else(|| command.usage(SIGN_LEGACY))
            }
            (_, ["legacy", ..]) => Err(command.usage(SIGN_LEGACY)),
            _ => Err(command.usage(SIGN)),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            TokenVerb::Claims(token) => {
                let token = stage.fill(token)?;
                let payload = token.split('.').nth(1).context("this is not a token")?;
                let claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload)?)?;
                Ok(vec![Item::new("claims", claims)].into())
            }
            TokenVerb::SignClaims(name, claims) => {
                let key = SigningKey::from_pem(&std::fs::read(SIGNING_KEY)?)?;
                let claims: Value = serde_json::from_str(&stage.fill(claims)?).context("claims are JSON")?;
                let bound = [(name.clone(), key.sign_jwt(&claims)?.into())];
                Ok(Observation { bound: bound.into(), ..Observation::default() })
            }
            TokenVerb::Sign(signed) => {
                let key = SigningKey::from_pem(stage.cluster.signing_key_pem()?.as_bytes())?;
                let token = key.sign_jwt(&signed.claims(stage).await?)?;
                Ok(Observation { bound: [(signed.token.clone(), token.into())].into(), ..Observation::default() })
            }
        }
    }
}

const SIGN: &str = "sign token for serviceaccounts/NAME uid=$uid as $token [nbf=60s] [iat=60s] [exp=3600s]";
const SIGN_LEGACY: &str = "sign legacy token for serviceaccounts/NAME uid=$uid secret=NAME as $token";

impl Signed {
    fn parse(reference: &str, uid: &str, token: &str, kind: Kind) -> Option<Signed> {
        Some(Signed {
            account: reference.strip_prefix("serviceaccounts/")?.to_owned(),
            uid: uid.strip_prefix("uid=")?.to_owned(),
            token: token.strip_prefix('$')?.to_owned(),
            kind,
        })
    }

    async fn claims(&self, stage: &Stage<'_>) -> Result<Value> {
        match &self.kind {
            Kind::Bound(times) => self.bound(times, stage, early_in_a_second(stage).await),
            Kind::Legacy(secret) => self.legacy(secret, stage),
        }
    }

    /// The claims of `LegacyClaims` in Kubernetes' `pkg/serviceaccount/legacy.go`.
    fn legacy(&self, secret: &str, stage: &Stage<'_>) -> Result<Value> {
        let (namespace, account) = (stage.cluster.namespace(), stage.fill(&self.account)?);
        Ok(json!({
            "iss": LEGACY_ISSUER,
            "sub": format!("system:serviceaccount:{namespace}:{account}"),
            "kubernetes.io/serviceaccount/namespace": namespace,
            "kubernetes.io/serviceaccount/secret.name": stage.fill(secret)?,
            "kubernetes.io/serviceaccount/service-account.name": account,
            "kubernetes.io/serviceaccount/service-account.uid": stage.fill(&self.uid)?,
        }))
    }

    /// The claims of `Claims` in Kubernetes' `pkg/serviceaccount/claims.go`.
    fn bound(&self, times: &Times, stage: &Stage<'_>, now: Timestamp) -> Result<Value> {
        let (namespace, account) = (stage.cluster.namespace(), stage.fill(&self.account)?);
        let mut claims = json!({
            "iss": ISSUER,
            "aud": [ISSUER],
            "sub": format!("system:serviceaccount:{namespace}:{account}"),
            "jti": self.token,
            "kubernetes.io": {
                "namespace": namespace, "serviceaccount": {"name": account, "uid": stage.fill(&self.uid)?},
            },
        });
        for (claim, time) in times.claims(now) {
            claims[claim] = time.into();
        }
        Ok(claims)
    }
}

impl Times {
    fn parse(settings: &[&str]) -> Result<Times, String> {
        let mut times = Times { not_before: Some(0), issued_at: Some(0), expiry: Some(3600) };
        for setting in settings {
            let (claim, value) = setting.split_once('=').unwrap_or((setting, ""));
            let time = match claim {
                "nbf" => &mut times.not_before,
                "iat" => &mut times.issued_at,
                "exp" => &mut times.expiry,
                _ => return Err(format!("{setting:?} is none of nbf=60s, iat=60s, exp=60s")),
            };
            *time = if value == "absent" { None } else { Some(seconds(value)?) };
        }
        Ok(times)
    }

    /// The times as claims, in whole seconds. `now` is within a second: `iat` and `nbf` count from its start, `exp` from its end,
    /// so that throughout that second a time a minute away is within a tolerance of a minute, and one second further is not.
    fn claims(&self, now: Timestamp) -> impl Iterator<Item = (&'static str, i64)> {
        let start = now.as_second();
        let end = if now.subsec_nanosecond() == 0 { start } else { start + 1 };
        let claim = |name, from: i64, shift: Option<i64>| shift.map(|shift| (name, from + shift));
        let claims =
            [claim("nbf", start, self.not_before), claim("iat", start, self.issued_at), claim("exp", end, self.expiry)];
        claims.into_iter().flatten()
    }
}

/// The current time, after a wait until at least half of the current second is left.
async fn early_in_a_second(stage: &Stage<'_>) -> Timestamp {
    loop {
        let now = (stage.cluster.clock())();
        let left = 1_000_000_000 - now.subsec_nanosecond().unsigned_abs();
        if left >= 500_000_000 {
            return now;
        }
        tokio::time::sleep(Duration::from_nanos(left.into())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_rounded_down_and_ends_up() {
        let times = Times::parse(&["nbf=60s", "iat=absent", "exp=-60s"]).unwrap();
        let claims = |nanosecond| times.claims(Timestamp::constant(1000, nanosecond)).collect::<Vec<_>>();
        assert_eq!(claims(0), [("nbf", 1060), ("exp", 940)]);
        assert_eq!(claims(1), [("nbf", 1060), ("exp", 941)]);
        assert_eq!(claims(999_999_999), [("nbf", 1060), ("exp", 941)]);
    }

    #[test]
    fn what_is_not_said_is_as_in_a_token_of_an_hour() {
        let times = Times::parse(&[]).unwrap();
        let claims: Vec<_> = times.claims(Timestamp::constant(1000, 0)).collect();
        assert_eq!(claims, [("nbf", 1000), ("iat", 1000), ("exp", 4600)]);
        assert!(Times::parse(&["nbf=60"]).is_err() && Times::parse(&["jti=x"]).is_err());
    }
}
