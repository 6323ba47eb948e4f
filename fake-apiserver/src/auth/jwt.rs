//! JSON Web Tokens in compact form: signing, and verifying with the texts of the real server's JOSE library.
//!
//! Ports what `pkg/serviceaccount/jwt.go` (v1.37.1) uses of `go-jose` v2.6.3. Verification is of the signature alone; user and
//! validity are decided in `service_account`.
//!
//! GAP: tokens: the refusal of a token that repeats a claim, of which the last counts, and the critical header `b64`, which is refused

use super::keys::{PublicKey, SigningKey};
use crate::schema::json_type;
use aws_lc_rs::error::Unspecified;
use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use tree::{Map, Value, json};

/// Base64 as Go decodes it: the unused bits of the last character may have any value.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// The error of a token whose key is not known.
pub(super) const NO_KEYS: &str = "invalid signature, no keys found";
/// `ErrCryptoFailure`: the error of every mismatch.
const CRYPTO_FAILURE: &str = "go-jose/go-jose: error in cryptographic primitive";

/// A token of these claims. Keys are sorted, the header names the algorithm and the key and nothing else: equal
/// claims make equal tokens wherever the algorithm is deterministic (RS256 is, ES256 is not).
///
/// # Errors
/// If the key cannot sign.
pub fn sign(key: &SigningKey, claims: &Value) -> Result<String, Unspecified> {
    let header = json!({"alg": key.public().algorithm(), "kid": key.public().id()});
    let mut token = URL_SAFE_NO_PAD.encode(header.to_string());
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(claims.to_string(), &mut token);
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}

/// The `iss` that a token claims, unverified; `None` if it is not a token in compact form.
pub(super) fn claimed_issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Claims {
        #[serde(default)]
        iss: Option<String>,
    }
    let mut parts = token.split('.');
    let (_, payload, _, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else { return None };
    let claims: Claims = serde_json::from_slice(&LENIENT.decode(payload).ok()?).ok()?;
    Some(claims.iss.unwrap_or_default())
}

/// A parsed token, unverified.
pub(super) struct Parsed<'a> {
    message: &'a [u8],
    header: Header,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    alg: Option<String>,
    #[serde(default)]
    kid: Option<String>,
    /// Critical extensions, of which none is supported.
    #[serde(default)]
    crit: Option<Value>,
}

impl<'a> Parsed<'a> {
    /// Parses `token`; `None` if it is not a token in compact form.
    pub(super) fn new(token: &'a str) -> Option<Self> {
        let (message, signature) = token.rsplit_once('.')?;
        let (header, payload) = message.split_once('.')?;
        let header = LENIENT.decode(header).ok()?;
        // The derived decoder would accept an array, Go's does not.
        let header: Map = serde_json::from_slice(&header).ok()?;
        Some(Parsed {
            message: message.as_bytes(),
            header: serde_json::from_value(Value::Object(header).into()).ok()?,
            payload: LENIENT.decode(payload).ok()?,
            signature: LENIENT.decode(signature).ok()?,
        })
    }

    /// The claims, if one of `keys` signed them: the one that the token names, or any if it names none.
    pub(super) fn verify(&self, keys: &[PublicKey]) -> Result<Map, String> {
        let id = self.header.kid.as_deref().unwrap_or_default();
        let mut candidates = keys.iter().filter(|key| id.is_empty() || key.id() == id).peekable();
        if candidates.peek().is_none() {
            return Err(NO_KEYS.into());
        }
        if !candidates.any(|key| self.signed_by(key)) {
            return Err(CRYPTO_FAILURE.into());
        }
        match serde_json::from_slice(&self.payload) {
            Ok(Value::Object(claims)) => Ok(claims),
            Ok(other) => Err(format!("json: cannot unmarshal {} into Go value of type jwt.Claims", json_type(&other))),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The algorithm that it names, or "".
    pub(super) fn algorithm(&self) -> &str {
        self.header.alg.as_deref().unwrap_or_default()
    }

    /// The id of the key that it names, or "".
    pub(super) fn key_id(&self) -> &str {
        self.header.kid.as_deref().unwrap_or_default()
    }

    /// The payload, unverified.
    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Whether its signature is one, by a check of what was signed, and of the signature.
    pub(super) fn signed_with(&self, check: impl FnOnce(&[u8], &[u8]) -> bool) -> bool {
        self.header.crit.is_none() && check(self.message, &self.signature)
    }

    fn signed_by(&self, key: &PublicKey) -> bool {
        let algorithm = self.header.alg.as_deref().unwrap_or_default();
        self.header.crit.is_none() && key.verify(algorithm, self.message, &self.signature)
    }
}
