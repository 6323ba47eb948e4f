//! The checks of a token of an issuer.
//!
//! Ports `verify.go` of `go-oidc` v2.5.0.
//!
//! GAP: authentication: claims of tokens of issuers that are elsewhere (`_claim_names`)

use super::keys::Key;
use super::provider::Provider;
use crate::auth::jwt::Parsed;
use crate::schema::json_type;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tree::{Map, Value};

/// The leeway of `nbf`, in seconds.
const LEEWAY: i64 = 60;

/// The demands on a token.
pub(super) struct Demands<'a> {
    pub(super) issuer: &'a str,
    pub(super) audiences: &'a [String],
    pub(super) algorithms: &'a [String],
    pub(super) now: Timestamp,
}

/// The claims of a token that its issuer has signed and that meets the demands.
///
/// # Errors
/// In upstream's words, if it does not.
pub(super) async fn verified(token: &str, provider: &Provider, demands: &Demands<'_>) -> Result<Map, String> {
    let parsed = Parsed::new(token).ok_or("oidc: malformed jwt: go-jose/go-jose: compact JWS format is not valid")?;
    let algorithm = parsed.algorithm();
    if !demands.algorithms.iter().any(|known| known == algorithm) {
        let expected = quoted(demands.algorithms);
        return Err(format!("oidc: id token signed with unsupported algorithm, expected {expected} got {algorithm:?}"));
    }
    let is_of = |key: &Key| {
        let check = |message: &[u8], signature: &[u8]| key.verify(algorithm, message, signature);
        key.is_called(parsed.key_id()) && parsed.signed_with(check)
    };
    provider.verify(is_of).await.map_err(|why| format!("failed to verify signature: {why}"))?;
    let claims: Value = serde_json::from_slice(parsed.payload())
        .map_err(|error| format!("oidc: failed to unmarshal claims: {error}"))?;
    let Value::Object(claims) = claims else { return Err("oidc: failed to unmarshal claims: not an object".into()) };
    check(&claims, demands)?;
    Ok(claims)
}

fn check(claims: &Map, demands: &Demands<'_>) -> Result<(), String> {
    for name in ["iss", "sub", "nonce", "at_hash"] {
        if let Some(wrong) = claims.get(name).filter(|value| !value.is_string() && !value.is_null()) {
            let found = json_type(wrong);
            return Err(format!(
                "oidc: failed to unmarshal claims: json: cannot unmarshal {found} into Go struct field idToken.{name} of type string"
            ));
        }
    }
    let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default();
    let issuer = text("iss");
    let is_google = demands.issuer == "https://accounts.google.com" && issuer == "accounts.google.com";
    if issuer != demands.issuer && !is_google {
        let expected = demands.issuer;
        return Err(format!("oidc: id token issued by a different provider, expected {expected:?} got {issuer:?}"));
    }
    let audience = match claims.get("aud") {
        Some(Value::String(one)) => vec![one.to_string()],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let is_for = |wanted: &String| audience.contains(wanted);
    if let [only] = demands.audiences
        && !is_for(only)
    {
        return Err(format!("oidc: expected audience {only:?} got {}", quoted(&audience)));
    }
    let seconds = |name: &str| claims.get(name).and_then(whole_seconds);
    let expiry = seconds("exp").unwrap_or(ZERO_TIME);
    let expires = Timestamp::from_second(expiry).unwrap_or(if expiry < 0 { Timestamp::MIN } else { Timestamp::MAX });
    if expires < demands.now {
        return Err(format!("oidc: token is expired (Token Expiry: {})", shown(expires)));
    }
    if let Some(from) = seconds("nbf")
        && demands.now.as_second().saturating_add(LEEWAY) < from
    {
        let from = Timestamp::from_second(from).unwrap_or(Timestamp::MAX);
        let (now, from) = (shown(demands.now), shown(from));
        return Err(format!("oidc: current time {now} before the nbf (not before) time: {from}"));
    }
    if !demands.audiences.iter().any(is_for) {
        let mut expected = demands.audiences.to_vec();
        expected.sort();
        return Err(format!("oidc: expected audience in {} got {}", quoted(&expected), quoted(&audience)));
    }
    Ok(())
}

/// The zero of Go's time, in seconds: that of a token that does not expire, which is out of date.
const ZERO_TIME: i64 = -62_135_596_800;

/// `jsonTime`
fn whole_seconds(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|seconds| seconds as i64)),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A time as Go prints it, on a machine whose time is UTC.
fn shown(time: Timestamp) -> String {
    let time = time.to_zoned(TimeZone::UTC);
    let fraction = format!("{:09}", time.subsec_nanosecond());
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    format!("{}{fraction} +0000 UTC", time.strftime("%Y-%m-%d %H:%M:%S"))
}

/// A list as Go's `%q` prints it.
fn quoted(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(" "))
}
