//! OpenID Connect discovery: the documents by which relying parties verify this server's tokens.
//!
//! Ports `pkg/serviceaccount/openidmetadata.go` (v1.37.1).

use super::keys::{Numbers, PublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde::Serialize;

/// `OpenIDConfigPath`.
pub const CONFIG_PATH: &str = "/.well-known/openid-configuration";
/// `JWKSPath`.
pub const JWKS_PATH: &str = "/openid/v1/jwks";
/// `Cache-Control` of both documents.
pub const CACHE_CONTROL: &str = "public, max-age=3600";
/// `Content-Type` of the configuration.
pub const CONFIG_CONTENT_TYPE: &str = "application/json";
/// `Content-Type` of the key set.
pub const JWKS_CONTENT_TYPE: &str = "application/jwk-set+json";

/// The error of an issuer that cannot be discovered: the real server logs it and serves neither document.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DiscoveryError {
    /// The issuer is not an https URL.
    #[error("issuer URL must use https scheme, got: {0}")]
    Scheme(String),
    /// The issuer has a query.
    #[error("issuer URL may not include a query, got: {0}")]
    Query(String),
    /// The issuer has a fragment.
    #[error("issuer URL may not include a fragment, got: {0}")]
    Fragment(String),
    /// The URL of the keys is not an https URL.
    #[error("jwksURI requires https scheme, parsed as: {0}")]
    KeysScheme(String),
}

/// The two documents, rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// The document at [`CONFIG_PATH`].
    pub config: Bytes,
    /// The document at [`JWKS_PATH`].
    pub keys: Bytes,
}

/// The default of `--service-account-jwks-uri`: a URL at the server's external address (host and port).
pub fn default_jwks_uri(external_address: &str) -> String {
    format!("https://{external_address}{JWKS_PATH}")
}

#[derive(Serialize)]
struct Config<'a> {
    issuer: &'a str,
    jwks_uri: &'a str,
    response_types_supported: [&'a str; 1],
    subject_types_supported: [&'a str; 1],
    id_token_signing_alg_values_supported: Vec<&'a str>,
}

#[derive(Serialize)]
struct KeySet<'a> {
    keys: Vec<Key<'a>>,
}

/// A JSON Web Key, in the order of the real server's library.
#[derive(Serialize, Default)]
struct Key<'a> {
    #[serde(rename = "use")]
    usage: &'a str,
    kty: &'a str,
    kid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<&'a str>,
    alg: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
}

impl Discovery {
    /// Renders both documents.
    ///
    /// # Errors
    /// If the issuer or the URL of the keys is not an https URL without query and fragment.
    pub fn new(issuer: &str, jwks_uri: &str, keys: &[PublicKey]) -> Result<Discovery, DiscoveryError> {
        if !issuer.starts_with("https://") {
            return Err(DiscoveryError::Scheme(issuer.into()));
        }
        if issuer.split('#').next().is_some_and(|url| url.contains('?')) {
            return Err(DiscoveryError::Query(issuer.into()));
        }
        if issuer.contains('#') {
            return Err(DiscoveryError::Fragment(issuer.into()));
        }
        if !jwks_uri.starts_with("https://") {
            return Err(DiscoveryError::KeysScheme(jwks_uri.into()));
        }
        let mut algorithms: Vec<&str> = keys.iter().map(PublicKey::algorithm).collect();
        algorithms.sort_unstable();
        algorithms.dedup();
        let config = Config {
            issuer,
            jwks_uri,
            response_types_supported: ["id_token"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: algorithms,
        };
        let keys = KeySet { keys: keys.iter().filter_map(json_web_key).collect() };
        Ok(Discovery { config: render(&config), keys: render(&keys) })
    }
}

fn json_web_key(key: &PublicKey) -> Option<Key<'_>> {
    let encode = |number: &[u8]| Some(URL_SAFE_NO_PAD.encode(number));
    let common = Key { usage: "sig", kid: key.id(), alg: key.algorithm(), ..Key::default() };
    Some(match key.numbers()? {
        Numbers::Rsa { modulus, exponent } => Key { kty: "RSA", n: encode(modulus), e: encode(exponent), ..common },
        Numbers::Ec { curve, x, y } => Key { kty: "EC", crv: Some(curve), x: encode(x), y: encode(y), ..common },
    })
}

fn render(document: &impl Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec(document).expect("text and lists of text can be written"))
}
