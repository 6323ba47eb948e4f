//! Public keys with their algorithms (`SubjectPublicKeyInfo`): `parsePublicKey` of `crypto/x509/parser.go` (Go 1.26).
//!
//! GAP: certificates: the check that keys of the curve P-224 are on it, and signatures by them

use super::der::{self, SEQUENCE};
use aws_lc_rs::signature::VerificationAlgorithm;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ECDSA_P521_SHA512_ASN1, ParsedPublicKey};

pub(super) const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
pub(super) const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
pub(super) const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const DSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1];
/// The parameters of RSA keys.
const NULL: &[u8] = &[5, 0];

/// An elliptic curve: its identifier and name, the bytes of a coordinate, and the algorithm that checks its points.
struct Curve {
    id: &'static [u8],
    name: &'static str,
    bytes: usize,
    checker: Option<&'static dyn VerificationAlgorithm>,
}

const fn curve(
    id: &'static [u8],
    name: &'static str,
    bytes: usize,
    checker: Option<&'static dyn VerificationAlgorithm>,
) -> Curve {
    Curve { id, name, bytes, checker }
}

static CURVES: [Curve; 4] = [
    curve(&[0x2b, 0x81, 4, 0, 33], "P-224", 28, None),
    curve(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7], "P-256", 32, Some(&ECDSA_P256_SHA256_ASN1)),
    curve(&[0x2b, 0x81, 4, 0, 34], "P-384", 48, Some(&ECDSA_P384_SHA384_ASN1)),
    curve(&[0x2b, 0x81, 4, 0, 35], "P-521", 66, Some(&ECDSA_P521_SHA512_ASN1)),
];

/// The kinds of public keys that Go reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Ed25519,
    /// On the curve of that name.
    Ecdsa(&'static str),
    /// With a modulus of so many bits, in whole bytes.
    Rsa(usize),
    /// Of DSA, by which nothing is signed.
    Dsa,
}

/// The kind of a key: the identifier of its algorithm, its parameters, and its bytes. `None` if Go does not know the algorithm.
///
/// # Errors
/// Go's words.
pub(super) fn kind(algorithm: &[u8], parameters: &[u8], key: &[u8]) -> Result<Option<KeyKind>, String> {
    let kind = match algorithm {
        RSA if parameters != NULL => return Err("x509: RSA key missing NULL parameters".into()),
        RSA => rsa(key)?,
        ECDSA => ecdsa(parameters, key)?,
        ED25519 if !parameters.is_empty() => {
            return Err("x509: Ed25519 key encoded with illegal parameters".into());
        }
        ED25519 if key.len() != 32 => return Err("x509: wrong Ed25519 public key size".into()),
        ED25519 => KeyKind::Ed25519,
        DSA => dsa(parameters, key)?,
        _ => return Ok(None),
    };
    Ok(Some(kind))
}

fn rsa(key: &[u8]) -> Result<KeyKind, String> {
    let mut parts = der::element(&mut { key }, SEQUENCE).ok_or("x509: invalid RSA public key")?;
    let modulus = der::integer(&mut parts).ok_or("x509: invalid RSA modulus")?;
    let exponent = der::integer(&mut parts).and_then(der::number).ok_or("x509: invalid RSA public exponent")?;
    if !is_positive(modulus) {
        return Err("x509: RSA modulus is not a positive number".into());
    }
    if exponent <= 0 {
        return Err("x509: RSA public exponent is not a positive number".into());
    }
    Ok(KeyKind::Rsa((modulus.len() - usize::from(modulus[0] == 0)) * 8))
}

fn ecdsa(mut parameters: &[u8], point: &[u8]) -> Result<KeyKind, String> {
    let id = der::identifier(&mut parameters).ok_or("x509: invalid ECDSA parameters")?;
    let curve = CURVES.iter().find(|curve| curve.id == id).ok_or("x509: unsupported elliptic curve")?;
    if point.first() != Some(&4) {
        return Err("ecdsa: invalid uncompressed public key".into());
    }
    let name = curve.name.replace('-', "");
    if point.len() != 1 + 2 * curve.bytes {
        return Err(format!("invalid {name} point encoding"));
    }
    match curve.checker {
        Some(checker) if ParsedPublicKey::new(checker, point).is_err() => Err(format!("{name} point not on curve")),
        _ => Ok(KeyKind::Ecdsa(curve.name)),
    }
}

fn dsa(mut parameters: &[u8], mut key: &[u8]) -> Result<KeyKind, String> {
    let number = der::integer(&mut key).ok_or("x509: invalid DSA public key")?;
    const INVALID: &str = "x509: invalid DSA parameters";
    let mut parts = der::element(&mut parameters, SEQUENCE).ok_or(INVALID)?;
    let mut are_positive = is_positive(number);
    for _ in ["p", "q", "g"] {
        are_positive &= is_positive(der::integer(&mut parts).ok_or(INVALID)?);
    }
    match are_positive {
        true => Ok(KeyKind::Dsa),
        false => Err("x509: zero or negative DSA parameter".into()),
    }
}

/// Whether an integer is above zero.
fn is_positive(integer: &[u8]) -> bool {
    integer[0] & 0x80 == 0 && integer != [0]
}
