//! The certificate authorities of client certificates.
//!
//! The library that verifies chains does not look at an authority's own fields; Go also requires that it is an authority, and
//! valid at that time.

use super::der::{self, BIT_STRING, BOOLEAN, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE};
use jiff::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{CertificateError, RootCertStore};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The error of an unusable bundle of authorities.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// Not a PEM file with certificates.
    #[error("data does not contain any valid RSA or ECDSA certificates")]
    NoCertificate,
    /// A certificate that cannot be an authority.
    #[error("the client certificate authorities cannot be used: {0}")]
    Unusable(String),
}

/// The certificate authorities of client certificates: `--client-ca-file`.
#[derive(Debug, Clone)]
pub struct ClientAuthorities {
    all: Arc<[Authority]>,
    verifier: Arc<dyn ClientCertVerifier>,
}

#[derive(Debug)]
struct Authority {
    certificate: CertificateDer<'static>,
    /// The time in which it may sign; `None` if it is not an authority.
    signs: Option<RangeInclusive<Timestamp>>,
}

impl ClientAuthorities {
    /// The certificates of a PEM bundle.
    ///
    /// # Errors
    /// If there are none, or one cannot be used.
    pub fn from_pem(pem: &str) -> Result<Self, AuthorityError> {
        let all: Vec<Authority> = CertificateDer::pem_slice_iter(pem.as_bytes())
            .flatten()
            .map(|certificate| {
                let signs = signs(&certificate).ok_or_else(|| AuthorityError::Unusable("malformed certificate".into()));
                signs.map(|signs| Authority { certificate, signs })
            })
            .collect::<Result<_, _>>()?;
        if all.is_empty() {
            return Err(AuthorityError::NoCertificate);
        }
        let verifier = verifier(&all).map_err(AuthorityError::Unusable)?;
        Ok(ClientAuthorities { all: all.into(), verifier })
    }

    /// The verifier with which TLS asks for certificates.
    pub(crate) fn verifier(&self) -> &Arc<dyn ClientCertVerifier> {
        &self.verifier
    }

    /// Verifies at that time a certificate, which comes first, by way of the intermediate ones behind it.
    pub(super) fn verify(&self, chain: &[CertificateDer<'_>], now: Timestamp) -> Result<(), CertificateError> {
        let Some((leaf, intermediates)) = chain.split_first() else { return Ok(()) };
        let signing = self.all.iter().filter(|one| one.signs.as_ref().is_some_and(|when| when.contains(&now)));
        let verifier = verifier(signing).map_err(|_| CertificateError::UnknownIssuer)?;
        let since = u64::try_from(now.as_second()).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(since));
        match verifier.verify_client_cert(leaf, intermediates, now) {
            Ok(_) => Ok(()),
            Err(rustls::Error::InvalidCertificate(error)) => Err(error),
            Err(other) => Err(CertificateError::Other(rustls::OtherError(Arc::new(other)))),
        }
    }
}

fn verifier<'a>(all: impl IntoIterator<Item = &'a Authority>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for authority in all {
        roots.add(authority.certificate.clone()).map_err(|error| error.to_string())?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    verifier.build().map_err(|error| error.to_string())
}

const KEY_USAGE: &[u8] = &[0x55, 0x1d, 15];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 19];

/// Fields of certificates that may be absent.
pub(super) const VERSION: u8 = 0xa0;
pub(super) const EXTENSIONS: u8 = 0xa3;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// `keyCertSign` in the first byte of key usages.
const CERT_SIGN: u8 = 0x04;

/// The time in which a certificate may sign others, `Some(None)` if never: the conditions of `CheckSignatureFrom` and `isValid`
/// of Go's `crypto/x509` for an issuer. `None` if it is malformed.
fn signs(mut der: &[u8]) -> Option<Option<RangeInclusive<Timestamp>>> {
    let mut certificate = der::element(&mut der, SEQUENCE)?;
    let mut fields = der::elements(der::element(&mut certificate, SEQUENCE)?).peekable();
    // Certificates of the first version have no basic constraints.
    let mut is_authority = fields.next_if(|(tag, _)| *tag == VERSION).is_none();
    // Behind serial number, algorithm and issuer.
    let mut validity = der::elements(fields.nth(3)?.1);
    let valid = time(validity.next()?)?..=time(validity.next()?)?;
    let mut may_sign = true;
    if let Some((_, mut extensions)) = fields.find(|(tag, _)| *tag == EXTENSIONS) {
        for (_, mut extension) in der::elements(der::element(&mut extensions, SEQUENCE)?) {
            let kind = der::element(&mut extension, OBJECT_IDENTIFIER)?;
            let mut value = der::elements(extension).find(|(tag, _)| *tag == OCTET_STRING)?.1;
            match kind {
                BASIC_CONSTRAINTS => {
                    let first = der::elements(der::element(&mut value, SEQUENCE)?).next();
                    is_authority = matches!(first, Some((BOOLEAN, [yes])) if *yes != 0);
                }
                // The first byte is the number of unused bits.
                KEY_USAGE => may_sign = der::element(&mut value, BIT_STRING)?.get(1)? & CERT_SIGN != 0,
                _ => {}
            }
        }
    }
    Some((is_authority && may_sign).then_some(valid))
}

/// `YYMMDDhhmmssZ`, the year being from 1950 on, or `YYYYMMDDhhmmssZ`.
fn time((tag, text): (u8, &[u8])) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let text = match tag {
        UTC_TIME if text < "5" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_string(),
        _ => return None,
    };
    let (date, time) = text.split_at_checked(8)?;
    format!("{date}T{time}").parse().ok()
}
