//! Requests for certificates (PKCS #10), and the keys in them.
//!
//! Follows `ParseCertificateRequest`, `CheckSignature` and `parsePublicKey` of `crypto/x509` (Go 1.26). Of the errors of Go's parser
//! of ASN.1 only the frequent ones have Go's words. Signatures with SHA-1, and those of RSA keys of less than 2048 bits, are refused.

use super::certificate::{COMMON_NAME, ORGANIZATION, attributes};
use super::der::{self, BIT_STRING, INTEGER, OBJECT_IDENTIFIER, SEQUENCE};
use super::signature;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// Elliptic curves: identifiers and names.
const CURVES: [(&[u8], &str); 4] = [
    (&[0x2b, 0x81, 4, 0, 33], "P-224"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7], "P-256"),
    (&[0x2b, 0x81, 4, 0, 34], "P-384"),
    (&[0x2b, 0x81, 4, 0, 35], "P-521"),
];

/// A request. Its parts are DER.
#[derive(Debug)]
pub(crate) struct CertificateRequest<'a> {
    signed: &'a [u8],
    signature_algorithm: &'a [u8],
    signature: &'a [u8],
    subject: &'a [u8],
    /// The key with its algorithm (`SubjectPublicKeyInfo`), whole.
    pub(crate) key_info: &'a [u8],
}

impl<'a> CertificateRequest<'a> {
    /// Reads a request.
    ///
    /// # Errors
    /// If it is malformed.
    pub(crate) fn parse(der: &'a [u8]) -> Result<Self, &'static str> {
        const MALFORMED: &str = "asn1: structure error: tags don't match";
        if der.is_empty() {
            return Err("asn1: syntax error: sequence truncated");
        }
        let mut rest = der;
        let Some((tag, content)) = der::any(&mut rest) else {
            return Err("asn1: syntax error: data truncated");
        };
        let request = if tag == SEQUENCE { Self::from_parts(content) } else { None };
        match request {
            Some(_) if !rest.is_empty() => Err("asn1: syntax error: trailing data"),
            Some(request) => Ok(request),
            None => Err(MALFORMED),
        }
    }

    fn from_parts(mut parts: &'a [u8]) -> Option<Self> {
        let signed = der::whole(&mut parts)?;
        let signature_algorithm = der::element(&mut parts, SEQUENCE)?;
        let (_, signature) = der::element(&mut parts, BIT_STRING)?.split_first()?;
        let mut fields = der::element(&mut { signed }, SEQUENCE)?;
        der::element(&mut fields, INTEGER)?;
        let subject = der::element(&mut fields, SEQUENCE)?;
        let key_info = der::whole(&mut fields)?;
        der::element(&mut { key_info }, SEQUENCE)?;
        Some(CertificateRequest { signed, signature_algorithm, signature, subject, key_info })
    }

    /// The organizations of the subject, which become groups of the user.
    pub(crate) fn organizations(&self) -> Vec<String> {
        let attributes = attributes(self.subject).unwrap_or_default();
        attributes.into_iter().filter(|(kind, _)| *kind == ORGANIZATION).map(|(_, text)| text).collect()
    }

    /// The common name of the subject, which becomes the name of the user; "" if there is none.
    pub(crate) fn common_name(&self) -> String {
        let attributes = attributes(self.subject).unwrap_or_default();
        attributes.into_iter().rev().find(|(kind, _)| *kind == COMMON_NAME).map(|(_, name)| name).unwrap_or_default()
    }

    /// Checks that the request is signed with its own key.
    ///
    /// # Errors
    /// Go's words.
    pub(crate) fn check_signature(&self) -> Result<(), String> {
        let (algorithm, key) = split(self.key_info).ok_or("x509: malformed public key")?;
        signature::verify(self.signature_algorithm, algorithm, key, self.signed, self.signature)
    }
}

/// The kinds of public keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Ed25519,
    /// On the curve of that name.
    Ecdsa(&'static str),
    /// With a modulus of so many bits, in whole bytes.
    Rsa(usize),
}

/// The kind of a key (`SubjectPublicKeyInfo`); `None` if it is malformed or of another kind.
pub(crate) fn key_kind(info: &[u8]) -> Option<KeyKind> {
    let (mut algorithm, mut key) = split(info)?;
    match der::element(&mut algorithm, OBJECT_IDENTIFIER)? {
        ED25519 => Some(KeyKind::Ed25519),
        ECDSA => {
            let curve = der::element(&mut algorithm, OBJECT_IDENTIFIER)?;
            CURVES.iter().find(|(id, _)| *id == curve).map(|(_, name)| KeyKind::Ecdsa(name))
        }
        RSA => {
            let modulus = der::element(&mut der::element(&mut key, SEQUENCE)?, INTEGER)?;
            let leading = modulus.iter().take_while(|byte| **byte == 0).count();
            Some(KeyKind::Rsa((modulus.len() - leading) * 8))
        }
        _ => None,
    }
}

/// The algorithm of a key, and the key itself.
fn split(info: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut parts = der::element(&mut { info }, SEQUENCE)?;
    let algorithm = der::element(&mut parts, SEQUENCE)?;
    let (_, key) = der::element(&mut parts, BIT_STRING)?.split_first()?;
    Some((algorithm, key))
}
