//! The claims of a verified payload: the registered ones with their rules about time, and the reading of claims.
//!
//! Ports `jwt.Claims` of `go-jose` v2.6.3. Reading is as strict as Go's decoder and fails with its texts.

use crate::schema::json_type;
use jiff::Timestamp;
use tree::{Map, Value};

/// `jwt.DefaultLeeway`, in seconds: the tolerated difference between clocks. The same for deletions.
pub(super) const DEFAULT_LEEWAY: i64 = 60;

/// The claims that every token may carry. Times are whole seconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Registered {
    pub(super) issuer: String,
    pub(super) subject: String,
    pub(super) audience: Vec<String>,
    pub(super) expiry: Option<i64>,
    pub(super) not_before: Option<i64>,
    pub(super) issued_at: Option<i64>,
    pub(super) id: String,
}

impl Registered {
    pub(super) fn read(claims: &Map) -> Result<Self, String> {
        Ok(Registered {
            issuer: text(claims, "iss")?,
            subject: text(claims, "sub")?,
            audience: audience(claims.get("aud"))?,
            expiry: date(claims, "exp")?,
            not_before: date(claims, "nbf")?,
            issued_at: date(claims, "iat")?,
            id: text(claims, "jti")?,
        })
    }

    /// Checks that the token is valid at a time. A missing claim is not checked; the leeway is inclusive.
    pub(super) fn check_time(&self, now: Timestamp) -> Result<(), &'static str> {
        if self.not_before.is_some_and(|time| is_before(now, DEFAULT_LEEWAY, time)) {
            return Err("service account token is not valid yet");
        }
        if self.expiry.is_some_and(|time| is_after(now, -DEFAULT_LEEWAY, time)) {
            return Err("service account token has expired");
        }
        if self.issued_at.is_some_and(|time| is_before(now, DEFAULT_LEEWAY, time)) {
            return Err("service account token is issued in the future");
        }
        Ok(())
    }
}

/// `now + shift < time`, to the nanosecond and for every `time` that a token can name.
fn is_before(now: Timestamp, shift: i64, time: i64) -> bool {
    nanoseconds(now, shift) < i128::from(time) * NANOSECONDS
}

/// `now + shift > time`.
pub(super) fn is_after(now: Timestamp, shift: i64, time: i64) -> bool {
    nanoseconds(now, shift) > i128::from(time) * NANOSECONDS
}

const NANOSECONDS: i128 = 1_000_000_000;

fn nanoseconds(now: Timestamp, shift: i64) -> i128 {
    now.as_nanosecond() + i128::from(shift) * NANOSECONDS
}

/// A string; absent and null are empty.
pub(super) fn text(claims: &Map, name: &str) -> Result<String, String> {
    match claims.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(other) => Err(mismatch(other, "string")),
    }
}

/// An object; absent and null are `None`. `go_type` is the expected type in the error.
pub(super) fn object<'a>(claims: &'a Map, name: &str, go_type: &str) -> Result<Option<&'a Map>, String> {
    match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(other) => Err(mismatch(other, go_type)),
    }
}

/// A `jwt.NumericDate`: fractions are cut off, and a number out of range is the smallest integer, as on amd64.
pub(super) fn date(claims: &Map, name: &str) -> Result<Option<i64>, String> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(seconds), _) => Ok(Some(seconds)),
            (None, Some(seconds)) if seconds.abs() < LIMIT => Ok(Some(seconds as i64)),
            _ => Ok(Some(i64::MIN)),
        },
        Some(_) => Err("go-jose/go-jose/jwt: expected number value to unmarshal NumericDate".into()),
    }
}

/// One string or a list of them. Null is neither.
fn audience(claim: Option<&Value>) -> Result<Vec<String>, String> {
    let unexpected = || "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience".to_string();
    match claim {
        None => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.to_string()]),
        Some(Value::Array(many)) => {
            many.iter().map(|one| one.as_str().map(str::to_string).ok_or_else(unexpected)).collect()
        }
        Some(_) => Err(unexpected()),
    }
}

fn mismatch(value: &Value, go_type: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {go_type}", json_type(value))
}
