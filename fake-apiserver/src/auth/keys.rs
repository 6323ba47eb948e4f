//! The keys that sign service account tokens and the keys that verify them, read from PEM.
//!
//! The accepted forms are those of `k8s.io/client-go/util/keyutil/key.go` (v0.37.1): PKCS #1 and PKCS #8 RSA, SEC 1 and
//! PKCS #8 EC private keys, SubjectPublicKeyInfo, and certificates; blocks of any other kind are skipped.
//! Unlike there, RSA keys under 2048 bits are refused, as the cryptographic backend does.

use crate::x509::der::{BIT_STRING, INTEGER, SEQUENCE, element};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair as _, RsaKeyPair, VerificationAlgorithm,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::pki_types::pem::{PemObject, SectionKind};
use rustls::pki_types::{AlgorithmIdentifier, CertificateDer, alg_id};
use rustls::server::ParsedCertificate;

/// The error of a file without usable keys. The messages are the real server's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The file has no private key.
    #[error("data does not contain a valid RSA or ECDSA private key")]
    NoPrivateKey,
    /// The file has no public key.
    #[error("data does not contain any valid RSA or ECDSA public keys")]
    NoPublicKeys,
}

/// A kind of key: how to recognise it, and the algorithms that it is used with.
#[derive(Debug)]
struct KeyType {
    identifier: AlgorithmIdentifier,
    /// The JOSE algorithm that it signs with and that discovery announces.
    algorithm: &'static str,
    /// The JOSE curve; `None` for RSA.
    curve: Option<(&'static str, &'static EcdsaSigningAlgorithm)>,
    /// The JOSE algorithms that it verifies.
    verifies: &'static [(&'static str, &'static dyn VerificationAlgorithm)],
}

static KEY_TYPES: [KeyType; 4] = [
    KeyType {
        identifier: alg_id::RSA_ENCRYPTION,
        algorithm: "RS256",
        curve: None,
        verifies: &[
            ("RS256", &signature::RSA_PKCS1_2048_8192_SHA256),
            ("RS384", &signature::RSA_PKCS1_2048_8192_SHA384),
            ("RS512", &signature::RSA_PKCS1_2048_8192_SHA512),
            ("PS256", &signature::RSA_PSS_2048_8192_SHA256),
            ("PS384", &signature::RSA_PSS_2048_8192_SHA384),
            ("PS512", &signature::RSA_PSS_2048_8192_SHA512),
        ],
    },
    KeyType {
        identifier: alg_id::ECDSA_P256,
        algorithm: "ES256",
        curve: Some(("P-256", &signature::ECDSA_P256_SHA256_FIXED_SIGNING)),
        verifies: &[("ES256", &signature::ECDSA_P256_SHA256_FIXED)],
    },
    KeyType {
        identifier: alg_id::ECDSA_P384,
        algorithm: "ES384",
        curve: Some(("P-384", &signature::ECDSA_P384_SHA384_FIXED_SIGNING)),
        verifies: &[("ES384", &signature::ECDSA_P384_SHA384_FIXED)],
    },
    KeyType {
        identifier: alg_id::ECDSA_P521,
        algorithm: "ES512",
        curve: Some(("P-521", &signature::ECDSA_P521_SHA512_FIXED_SIGNING)),
        verifies: &[("ES512", &signature::ECDSA_P521_SHA512_FIXED)],
    },
];

/// A key that verifies tokens.
#[derive(Debug, Clone)]
pub struct PublicKey {
    id: String,
    key_type: &'static KeyType,
    info: Vec<u8>,
}

/// The numbers of a public key, as a JSON Web Key lists them.
pub(super) enum Numbers<'a> {
    Rsa { modulus: &'a [u8], exponent: &'a [u8] },
    Ec { curve: &'static str, x: &'a [u8], y: &'a [u8] },
}

impl PublicKey {
    /// Every key in a PEM file, in order; of a private key, its public half.
    ///
    /// # Errors
    /// If there is none.
    pub fn all_from_pem(pem: &[u8]) -> Result<Vec<PublicKey>, KeyError> {
        let keys: Vec<_> = sections(pem)
            .filter_map(|(kind, der)| match kind {
                SectionKind::PublicKey => PublicKey::from_info(der),
                SectionKind::Certificate => {
                    let certificate = CertificateDer::from(der);
                    let parsed = ParsedCertificate::try_from(&certificate).ok()?;
                    PublicKey::from_info(parsed.subject_public_key_info().to_vec())
                }
                _ => SigningKey::from_section(kind, &der).map(|key| key.public),
            })
            .collect();
        if keys.is_empty() { Err(KeyError::NoPublicKeys) } else { Ok(keys) }
    }

    fn from_info(info: Vec<u8>) -> Option<PublicKey> {
        let (identifier, _) = split_info(&info)?;
        let key_type = KEY_TYPES.iter().find(|key_type| key_type.identifier.as_ref() == identifier)?;
        let (_, verification) = key_type.verifies[0];
        signature::ParsedPublicKey::new(verification, &info).ok()?;
        let key = PublicKey { id: URL_SAFE_NO_PAD.encode(digest(&SHA256, &info)), key_type, info };
        key.numbers().is_some().then_some(key)
    }

    /// The key's id, as tokens name it: the hash of its SubjectPublicKeyInfo.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The JOSE algorithm that goes with the key.
    pub fn algorithm(&self) -> &'static str {
        self.key_type.algorithm
    }

    /// Whether `signature` is this key's under `message`. An algorithm that is not the key's never matches.
    pub(super) fn verify(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        let Some((_, verification)) = self.key_type.verifies.iter().find(|(name, _)| *name == algorithm) else {
            return false;
        };
        signature::UnparsedPublicKey::new(*verification, &self.info).verify(message, signature).is_ok()
    }

    /// The key's numbers, which every key that [`PublicKey::from_info`] made has.
    pub(super) fn numbers(&self) -> Option<Numbers<'_>> {
        let (_, mut key) = split_info(&self.info)?;
        match self.key_type.curve {
            None => {
                let mut pair = element(&mut key, SEQUENCE)?;
                let modulus = unsigned(element(&mut pair, INTEGER)?);
                let exponent = unsigned(element(&mut pair, INTEGER)?);
                Some(Numbers::Rsa { modulus, exponent })
            }
            Some((curve, _)) => {
                let [UNCOMPRESSED, point @ ..] = key else { return None };
                let (x, y) = point.split_at(point.len() / 2);
                Some(Numbers::Ec { curve, x, y })
            }
        }
    }
}

/// The key that signs tokens.
#[derive(Debug)]
pub struct SigningKey {
    pair: KeyPair,
    public: PublicKey,
}

#[derive(Debug)]
enum KeyPair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
}

impl SigningKey {
    /// A new P-256 key, for servers that are given none: RSA, the usual choice, would take a good part of a second.
    ///
    /// # Panics
    /// If the operating system has no random numbers.
    pub fn generate() -> SigningKey {
        let pair = EcdsaKeyPair::generate(&signature::ECDSA_P256_SHA256_FIXED_SIGNING).ok();
        pair.and_then(SigningKey::ec).expect("the operating system provides randomness")
    }

    /// The first private key in a PEM file.
    ///
    /// # Errors
    /// If there is none.
    pub fn from_pem(pem: &[u8]) -> Result<SigningKey, KeyError> {
        sections(pem).find_map(|(kind, der)| SigningKey::from_section(kind, &der)).ok_or(KeyError::NoPrivateKey)
    }

    fn from_section(kind: SectionKind, der: &[u8]) -> Option<SigningKey> {
        match kind {
            SectionKind::RsaPrivateKey => SigningKey::rsa(RsaKeyPair::from_der(der).ok()?),
            SectionKind::EcPrivateKey => SigningKey::any_curve(der),
            SectionKind::PrivateKey => match RsaKeyPair::from_pkcs8(der) {
                Ok(pair) => SigningKey::rsa(pair),
                Err(_) => SigningKey::any_curve(der),
            },
            _ => None,
        }
    }

    fn any_curve(der: &[u8]) -> Option<SigningKey> {
        let curves = KEY_TYPES.iter().filter_map(|key_type| key_type.curve);
        let pair = curves.filter_map(|(_, signing)| EcdsaKeyPair::from_private_key_der(signing, der).ok()).next()?;
        SigningKey::ec(pair)
    }

    fn rsa(pair: RsaKeyPair) -> Option<SigningKey> {
        let info: PublicKeyX509Der<'_> = pair.public_key().as_der().ok()?;
        let public = PublicKey::from_info(info.as_ref().to_vec())?;
        Some(SigningKey { pair: KeyPair::Rsa(pair), public })
    }

    fn ec(pair: EcdsaKeyPair) -> Option<SigningKey> {
        let info: PublicKeyX509Der<'_> = pair.public_key().as_der().ok()?;
        let public = PublicKey::from_info(info.as_ref().to_vec())?;
        Some(SigningKey { pair: KeyPair::Ec(pair), public })
    }

    /// The half that verifies.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs with the key's own algorithm.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Unspecified> {
        let random = SystemRandom::new();
        match &self.pair {
            KeyPair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&signature::RSA_PKCS1_SHA256, &random, message, &mut signature)?;
                Ok(signature)
            }
            KeyPair::Ec(pair) => Ok(pair.sign(&random, message)?.as_ref().to_vec()),
        }
    }
}

/// The readable sections of a PEM file; text outside of them is skipped, as by Go's `pem.Decode`.
fn sections(pem: &[u8]) -> impl Iterator<Item = (SectionKind, Vec<u8>)> + '_ {
    <(SectionKind, Vec<u8>)>::pem_slice_iter(pem).filter_map(Result::ok)
}

/// First byte of a point on a curve that lists both coordinates.
const UNCOMPRESSED: u8 = 0x04;

/// The algorithm and the key in a SubjectPublicKeyInfo.
fn split_info(mut info: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut info = element(&mut info, SEQUENCE)?;
    let identifier = element(&mut info, SEQUENCE)?;
    match element(&mut info, BIT_STRING)? {
        [0, key @ ..] => Some((identifier, key)),
        _ => None,
    }
}

/// A positive DER integer without the zero that keeps it positive.
fn unsigned(integer: &[u8]) -> &[u8] {
    integer.strip_prefix(&[0]).unwrap_or(integer)
}
