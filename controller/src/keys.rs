//! Private keys and CA bundles in PEM, and signing with such keys.
//!
//! Follows client-go v0.37.1 `util/keyutil/key.go` and `util/cert/pem.go`, and kubernetes v1.37.1
//! `pkg/serviceaccount/jwt.go`.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{PemObject, SectionKind};
use serde::Serialize;

/// The reason why a PEM file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    /// No block is a supported private key.
    #[error("data does not contain a valid RSA or ECDSA private key")]
    NoPrivateKey,
    /// No block is a certificate.
    #[error("data does not contain any valid RSA or ECDSA certificates")]
    NoCertificates,
    /// A block labelled as a certificate is not one.
    #[error("malformed certificate: {0}")]
    MalformedCertificate(rustls::Error),
}

/// The error of a token that could not be signed.
#[derive(Debug, thiserror::Error)]
#[error("failed to sign the token: {0}")]
pub struct SigningError(pub String);

/// A private key for signing tokens, with the id that its tokens carry.
#[derive(Debug)]
pub struct SigningKey {
    pair: Pair,
    algorithm: &'static str,
    id: String,
}

#[derive(Debug)]
enum Pair {
    Rsa(Box<RsaKeyPair>),
    Ecdsa(EcdsaKeyPair),
}

/// The JWS algorithm of each curve.
static CURVES: [(&str, &EcdsaSigningAlgorithm); 3] = [
    ("ES256", &ECDSA_P256_SHA256_FIXED_SIGNING),
    ("ES384", &ECDSA_P384_SHA384_FIXED_SIGNING),
    ("ES512", &ECDSA_P521_SHA512_FIXED_SIGNING),
];

impl SigningKey {
    /// The first private key among the PEM blocks: RSA in PKCS#1, ECDSA (P-256, P-384 or P-521) in SEC 1, or either in
    /// PKCS#8. Other blocks are skipped.
    ///
    /// # Errors
    /// If there is none.
    pub fn from_pem(pem: &[u8]) -> Result<Self, PemError> {
        <(SectionKind, Vec<u8>)>::pem_slice_iter(pem)
            .flatten()
            .find_map(|(kind, der)| match kind {
                SectionKind::RsaPrivateKey => Self::rsa(RsaKeyPair::from_der(&der).ok()?),
                SectionKind::EcPrivateKey => Self::ecdsa(&der),
                SectionKind::PrivateKey => match RsaKeyPair::from_pkcs8(&der) {
                    Ok(pair) => Self::rsa(pair),
                    Err(_) => Self::ecdsa(&der),
                },
                _ => None,
            })
            .ok_or(PemError::NoPrivateKey)
    }

    fn rsa(pair: RsaKeyPair) -> Option<Self> {
        let id = key_id(&pair.public_key().as_der().ok()?);
        Some(SigningKey { pair: Pair::Rsa(Box::new(pair)), algorithm: "RS256", id })
    }

    fn ecdsa(der: &[u8]) -> Option<Self> {
        CURVES.into_iter().find_map(|(algorithm, curve)| {
            let pair = EcdsaKeyPair::from_private_key_der(curve, der).ok()?;
            let id = key_id(&pair.public_key().as_der().ok()?);
            Some(SigningKey { pair: Pair::Ecdsa(pair), algorithm, id })
        })
    }

    /// The `kid` of tokens: the unpadded base64url of the SHA-256 of the public key's SubjectPublicKeyInfo.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The JSON Web Token of `claims` in compact serialisation; its header has only `alg` and `kid`.
    ///
    /// # Errors
    /// If the claims cannot be serialised, or signing fails.
    pub fn sign_jwt(&self, claims: &impl Serialize) -> Result<String, SigningError> {
        #[derive(Serialize)]
        struct Header<'a> {
            alg: &'a str,
            kid: &'a str,
        }
        let header = encode_json(&Header { alg: self.algorithm, kid: &self.id })?;
        let signed = format!("{header}.{}", encode_json(claims)?);
        let signature = self.sign(signed.as_bytes()).map_err(|error| SigningError(error.to_string()))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, aws_lc_rs::error::Unspecified> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)?;
                Ok(signature)
            }
            Pair::Ecdsa(pair) => Ok(pair.sign(&random, message)?.as_ref().to_vec()),
        }
    }
}

fn key_id(public_key: &PublicKeyX509Der<'_>) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, public_key.as_ref()))
}

fn encode_json(value: &impl Serialize) -> Result<String, SigningError> {
    let json = serde_json::to_vec(value).map_err(|error| SigningError(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(json))
}

/// Checks that `pem` holds certificates (`ParseCertsPEM`).
///
/// # Errors
/// If it holds none, or a malformed one.
pub fn check_certificates(pem: &[u8]) -> Result<(), PemError> {
    let mut certificates = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem).flatten() {
        certificates.add(certificate).map_err(PemError::MalformedCertificate)?;
    }
    if certificates.is_empty() { Err(PemError::NoCertificates) } else { Ok(()) }
}
