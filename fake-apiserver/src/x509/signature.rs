//! The check that a certificate is signed by another one (`CheckSignatureFrom`), and that of any signature by a key.
//!
//! GAP: certificates: signatures with SHA-1 by ECDSA keys in requests, and those by RSA keys of less than 2048 bits

use super::Certificate;
use super::key::{ECDSA, ED25519, RSA};
use aws_lc_rs::signature::{RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY, UnparsedPublicKey};
use rustls::crypto::aws_lc_rs::default_provider;

/// Algorithms that Go knows and does not trust: identifiers, and its names for them.
const INSECURE: [(&[u8], &str); 3] = [
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 4], "MD5-RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5], "SHA1-RSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], "ECDSA-SHA1"),
];
/// The algorithms of keys: identifiers, and Go's error for a signature that does not verify.
const KEYS: [(&[u8], &str); 3] = [
    (RSA, "crypto/rsa: verification error"),
    (ECDSA, "x509: ECDSA verification failure"),
    (ED25519, "x509: Ed25519 verification failure"),
];
/// Likewise, with their names.
const NAMES: [(&[u8], &str); 3] = [(RSA, "RSA"), (ECDSA, "ECDSA"), (ED25519, "Ed25519")];
/// Likewise, with Go's types of them.
const TYPES: [(&[u8], &str); 3] =
    [(RSA, "*rsa.PublicKey"), (ECDSA, "*ecdsa.PublicKey"), (ED25519, "ed25519.PublicKey")];
/// The algorithms of signatures: identifiers, and the keys that they are for.
const SIGNATURES: [(&[u8], &str); 14] = [
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 4], "RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5], "RSA"),
    (&[0x2b, 0x0e, 3, 2, 29], "RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10], "RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11], "RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 12], "RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13], "RSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x38, 4, 3], "DSA"),
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 2], "DSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], "ECDSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2], "ECDSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3], "ECDSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4], "ECDSA"),
    (ED25519, "Ed25519"),
];
const UNKNOWN: &str = "x509: cannot verify signature: algorithm unimplemented";

/// Checks that `parent` may sign certificates, and has signed that one.
///
/// # Errors
/// Go's words.
pub(super) fn check(certificate: &Certificate<'_>, parent: &Certificate<'_>) -> Result<(), String> {
    let is_authority = parent.extensions.is_authority.unwrap_or(parent.version != 3);
    if !is_authority || parent.extensions.signs_no_certificates {
        return Err("x509: invalid signature: parent certificate cannot sign this kind of certificate".into());
    }
    if let Some(name) = named(certificate.signature_algorithm, &INSECURE) {
        return Err(insecure(name));
    }
    verify(
        certificate.signature_algorithm,
        parent.key_algorithm,
        &parent.key,
        certificate.signed,
        &certificate.signature,
    )
}

fn insecure(name: &str) -> String {
    format!("x509: cannot verify signature: insecure algorithm {name}")
}

/// The text of an algorithm in a table.
fn named(algorithm: &[u8], table: &[(&[u8], &'static str)]) -> Option<&'static str> {
    let identifier = super::der::element(&mut { algorithm }, super::der::OBJECT_IDENTIFIER)?;
    table.iter().find(|(known, _)| *known == identifier).map(|(_, text)| *text)
}

/// Checks a signature by a key. One with SHA-1 by an RSA key is good enough for certificate requests, as in Go.
///
/// # Errors
/// Go's words.
pub(super) fn verify(
    signature_algorithm: &[u8],
    key_algorithm: &[u8],
    key: &[u8],
    signed: &[u8],
    signature: &[u8],
) -> Result<(), String> {
    if named(signature_algorithm, &INSECURE) == Some("MD5-RSA") {
        return Err(insecure("MD5-RSA"));
    }
    if let (Some(wanted), Some(found)) = (named(signature_algorithm, &SIGNATURES), named(key_algorithm, &TYPES))
        && named(key_algorithm, &NAMES) != Some(wanted)
    {
        return Err(format!(
            "x509: signature algorithm specifies an {wanted} public key, but have public key of type {found}"
        ));
    }
    let wrong = || named(key_algorithm, &KEYS).unwrap_or(UNKNOWN).to_owned();
    if named(signature_algorithm, &INSECURE) == Some("SHA1-RSA") && named(key_algorithm, &KEYS[..1]).is_some() {
        let key = UnparsedPublicKey::new(&RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY, key);
        return key.verify(signed, signature).map_err(|_| wrong());
    }
    let mut fitting = default_provider().signature_verification_algorithms.all.iter().filter(|algorithm| {
        algorithm.signature_alg_id().as_ref() == signature_algorithm
            && algorithm.public_key_alg_id().as_ref() == key_algorithm
    });
    let Some(algorithm) = fitting.next() else { return Err(UNKNOWN.into()) };
    algorithm.verify_signature(key, signed, signature).map_err(|_| wrong())
}
