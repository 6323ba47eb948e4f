//! The fields of a certificate: `parseCertificate` of `crypto/x509/parser.go` (Go 1.26).

use super::der::{self, INTEGER, SEQUENCE};
use super::extensions::Extensions;
use super::key;
use super::name::{Name, ORGANIZATION};
use super::time::{generalized_time, utc_time};
use jiff::Timestamp;
use std::borrow::Cow;

/// Fields that may be absent.
const VERSION: u8 = 0xa0;
const ISSUER_ID: u8 = 0x81;
const SUBJECT_ID: u8 = 0x82;
const EXTENSIONS: u8 = 0xa3;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// A certificate. Its parts are DER; algorithms without their own tag and length.
#[derive(Debug, Default)]
pub(crate) struct Certificate<'a> {
    pub(crate) raw: &'a [u8],
    /// The signed part, as encoded (`tbsCertificate`).
    pub(super) signed: &'a [u8],
    pub(super) signature_algorithm: &'a [u8],
    pub(super) signature: Cow<'a, [u8]>,
    pub(super) version: i64,
    pub(crate) serial: &'a [u8],
    pub(super) raw_issuer: &'a [u8],
    pub(super) raw_subject: &'a [u8],
    pub(crate) subject: Name<'a>,
    pub(crate) not_before: Timestamp,
    pub(crate) not_after: Timestamp,
    /// The key with its algorithm (`SubjectPublicKeyInfo`), whole.
    pub(crate) key_info: &'a [u8],
    pub(super) key_algorithm: &'a [u8],
    pub(super) key: Cow<'a, [u8]>,
    pub(crate) extensions: Extensions<'a>,
}

impl<'a> Certificate<'a> {
    /// Reads a certificate and nothing else (`ParseCertificate`).
    ///
    /// # Errors
    /// Go's words.
    pub(crate) fn parse(der: &'a [u8]) -> Result<Certificate<'a>, String> {
        let mut rest = der;
        let certificate = Self::take(&mut rest)?;
        if rest.is_empty() { Ok(certificate) } else { Err("x509: trailing data".into()) }
    }

    /// Takes a certificate off `input` (`parseCertificate`).
    ///
    /// # Errors
    /// Go's words.
    pub(crate) fn take(input: &mut &'a [u8]) -> Result<Certificate<'a>, String> {
        let raw = der::whole_of(input, SEQUENCE).ok_or("x509: malformed certificate")?;
        let mut outer = der::element(&mut { raw }, SEQUENCE).ok_or("x509: malformed certificate")?;
        let signed = der::whole_of(&mut outer, SEQUENCE).ok_or("x509: malformed tbs certificate")?;
        let mut fields = der::element(&mut { signed }, SEQUENCE).ok_or("x509: malformed tbs certificate")?;
        let version = version(&mut fields).ok_or("x509: malformed version")?;
        if version > 3 {
            return Err("x509: invalid version".into());
        }
        let serial = der::integer(&mut fields).ok_or("x509: malformed serial number")?;
        if serial[0] & 0x80 != 0 {
            return Err("x509: negative serial number".into());
        }
        let inner = der::element(&mut fields, SEQUENCE).ok_or("x509: malformed signature algorithm identifier")?;
        let signature_algorithm = der::element(&mut outer, SEQUENCE).ok_or("x509: malformed algorithm identifier")?;
        if inner != signature_algorithm {
            return Err("x509: inner and outer signature algorithm identifiers don't match".into());
        }
        algorithm(signature_algorithm)?;
        let raw_issuer = der::whole_of(&mut fields, SEQUENCE).ok_or("x509: malformed issuer")?;
        Name::of_certificate(raw_issuer)?;
        let mut validity = der::element(&mut fields, SEQUENCE).ok_or("x509: malformed validity")?;
        let (not_before, not_after) = (time(&mut validity)?, time(&mut validity)?);
        // As in Go.
        let raw_subject = der::whole_of(&mut fields, SEQUENCE).ok_or("x509: malformed issuer")?;
        let subject = Name::of_certificate(raw_subject)?;
        let key_info = der::whole_of(&mut fields, SEQUENCE).ok_or("x509: malformed spki")?;
        let mut key_parts = der::element(&mut { key_info }, SEQUENCE).ok_or("x509: malformed spki")?;
        let key_algorithm =
            der::element(&mut key_parts, SEQUENCE).ok_or("x509: malformed public key algorithm identifier")?;
        let (key_kind, parameters) = algorithm(key_algorithm)?;
        let key = der::bits(&mut key_parts).ok_or("x509: malformed subjectPublicKey")?;
        key::kind(key_kind, parameters, &key)?;
        let mut certificate = Certificate {
            raw,
            signed,
            signature_algorithm,
            version,
            serial,
            raw_issuer,
            raw_subject,
            subject,
            not_before,
            not_after,
            key_info,
            key_algorithm,
            key,
            ..Certificate::default()
        };
        certificate.read_extensions(fields)?;
        certificate.signature = der::bits(&mut outer).ok_or("x509: malformed signature")?;
        Ok(certificate)
    }

    /// Reads the fields after the key.
    fn read_extensions(&mut self, mut fields: &'a [u8]) -> Result<(), String> {
        if self.version > 1 {
            der::optional(&mut fields, ISSUER_ID).ok_or("x509: malformed issuerUniqueID")?;
            der::optional(&mut fields, SUBJECT_ID).ok_or("x509: malformed subjectUniqueID")?;
        }
        if self.version < 3 {
            return Ok(());
        }
        let Some(list) = der::optional(&mut fields, EXTENSIONS).ok_or("x509: malformed extensions")? else {
            return Ok(());
        };
        self.extensions = Extensions::read(list)?;
        Ok(())
    }

    /// The names in DNS for which it is valid.
    pub(crate) fn dns_names(&self) -> impl Iterator<Item = &'a str> {
        self.extensions.names.dns_names.iter().copied()
    }

    /// The name that errors give it.
    pub(super) fn displayed_name(&self) -> String {
        match self.subject.common_name() {
            "" => match self.subject.all(ORGANIZATION).next() {
                Some(organization) => organization.to_owned(),
                None => format!("serial:{}", decimal(self.serial)),
            },
            name => name.to_owned(),
        }
    }
}

/// The version, which counts from 1, and is 1 if it is not said.
fn version(fields: &mut &[u8]) -> Option<i64> {
    let Some(mut number) = der::optional(fields, VERSION)? else { return Some(1) };
    let version = der::number(der::element(&mut number, INTEGER)?)?;
    (number.is_empty() && version >= 0).then(|| version.saturating_add(1))
}

/// The identifier of an algorithm, and its parameters, whole (`parseAI`).
fn algorithm(mut content: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let identifier = der::identifier(&mut content).ok_or("x509: malformed OID")?;
    match content {
        [] => Ok((identifier, content)),
        _ => Ok((identifier, der::whole(&mut content).ok_or("x509: malformed parameters")?)),
    }
}

/// Takes a time off a validity (`parseTime`).
fn time(validity: &mut &[u8]) -> Result<Timestamp, String> {
    let tag = validity.first().copied().unwrap_or_default();
    let text = || der::element(&mut { *validity }, tag);
    let found = match tag {
        UTC_TIME => text().and_then(|text| utc_time(text).ok()).ok_or("x509: malformed UTCTime")?,
        GENERALIZED_TIME => text()
            .filter(|text| !text.contains(&b'.'))
            .and_then(|text| generalized_time(text).ok())
            .ok_or("x509: malformed GeneralizedTime")?,
        _ => return Err("x509: unsupported time format".into()),
    };
    der::any(validity);
    Ok(found)
}

/// The most bytes of a serial number that is shown in decimal; RFC 5280 allows 20. To convert one takes time in the square of its bytes,
/// and a certificate may have tens of thousands of them.
const MAX_DECIMAL_BYTES: usize = 64;

/// A positive number of any length, most significant byte first; if it is longer than any good one, in hexadecimal digits.
pub(crate) fn decimal(bytes: &[u8]) -> String {
    if bytes.len() > MAX_DECIMAL_BYTES {
        return bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02X}"));
    }
    let mut digits = vec![0u16];
    for byte in bytes {
        let mut carry = u16::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 10;
            carry /= 10;
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    digits.iter().rev().map(u16::to_string).collect()
}
