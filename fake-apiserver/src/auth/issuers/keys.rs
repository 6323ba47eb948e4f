//! The keys of an issuer, as it publishes them: JSON Web Keys.
//!
//! Follows `go-jose` v2.6.3.
//!
//! GAP: authentication: RSA keys of issuers of fewer than 2048 bits, and their keys for HMAC

use aws_lc_rs::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// The algorithms of RSA keys.
const RSA: [(&str, &RsaParameters); 6] = [
    ("RS256", &signature::RSA_PKCS1_2048_8192_SHA256),
    ("RS384", &signature::RSA_PKCS1_2048_8192_SHA384),
    ("RS512", &signature::RSA_PKCS1_2048_8192_SHA512),
    ("PS256", &signature::RSA_PSS_2048_8192_SHA256),
    ("PS384", &signature::RSA_PSS_2048_8192_SHA384),
    ("PS512", &signature::RSA_PSS_2048_8192_SHA512),
];
/// The curves, the number of bytes of a coordinate, and the algorithm of keys on them.
static CURVES: [(&str, usize, &str, &dyn VerificationAlgorithm); 3] = [
    ("P-256", 32, "ES256", &signature::ECDSA_P256_SHA256_FIXED),
    ("P-384", 48, "ES384", &signature::ECDSA_P384_SHA384_FIXED),
    ("P-521", 66, "ES512", &signature::ECDSA_P521_SHA512_FIXED),
];
/// The byte before the coordinates of a point.
const UNCOMPRESSED: u8 = 4;

/// A key.
#[derive(Debug)]
pub(super) struct Key {
    id: String,
    numbers: Numbers,
}

#[derive(Debug)]
enum Numbers {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point on a curve, which has that place in the list.
    Ec(usize, Vec<u8>),
    /// Of no use here.
    Other,
}

#[derive(Deserialize)]
struct Set {
    #[serde(default)]
    keys: Vec<Published>,
}

#[derive(Deserialize)]
struct Published {
    #[serde(default)]
    kty: String,
    #[serde(default)]
    kid: String,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
}

/// The keys in a document.
///
/// # Errors
/// If it is none, or has a key that is none.
pub(super) fn parse(document: &[u8]) -> Result<Vec<Key>, String> {
    let set: Set = serde_json::from_slice(document).map_err(|error| error.to_string())?;
    set.keys.into_iter().map(Key::of).collect()
}

impl Key {
    fn of(published: Published) -> Result<Key, String> {
        let Published { kty, kid, crv, n, e, x, y } = published;
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|error| error.to_string());
        let numbers = match &*kty {
            "RSA" if n.is_empty() || e.is_empty() => {
                return Err("go-jose/go-jose: invalid RSA key, missing n/e values".into());
            }
            "RSA" => Numbers::Rsa { modulus: bytes(&n)?, exponent: bytes(&e)? },
            "EC" => {
                let place = CURVES.iter().position(|(name, ..)| *name == crv);
                let place = place.ok_or_else(|| format!("go-jose/go-jose: unsupported elliptic curve '{crv}'"))?;
                if x.is_empty() || y.is_empty() {
                    return Err("go-jose/go-jose: invalid EC key, missing x/y values".into());
                }
                let size = CURVES[place].1;
                let mut point = vec![UNCOMPRESSED];
                for coordinate in [bytes(&x)?, bytes(&y)?] {
                    if coordinate.len() != size {
                        return Err("go-jose/go-jose: invalid EC public key, wrong length for x".into());
                    }
                    point.extend(coordinate);
                }
                Numbers::Ec(place, point)
            }
            "oct" | "OKP" => Numbers::Other,
            kty => return Err(format!("go-jose/go-jose: unknown json web key type '{kty}'")),
        };
        Ok(Key { id: kid, numbers })
    }

    /// Whether it is the key of that id; "" means any.
    pub(super) fn is_called(&self, id: &str) -> bool {
        id.is_empty() || self.id == id
    }

    /// Whether a signature of that algorithm is its own.
    pub(super) fn verify(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        match &self.numbers {
            Numbers::Rsa { modulus, exponent } => {
                let parameters = RSA.iter().find(|(name, _)| *name == algorithm);
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                parameters.is_some_and(|(_, parameters)| key.verify(parameters, message, signature).is_ok())
            }
            Numbers::Ec(place, point) => {
                let (_, _, own, verification) = CURVES[*place];
                own == algorithm && UnparsedPublicKey::new(verification, point).verify(message, signature).is_ok()
            }
            Numbers::Other => false,
        }
    }
}
