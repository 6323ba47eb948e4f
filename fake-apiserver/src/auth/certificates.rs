//! Users by their client certificates: the common name is the user, organizations are the groups.
//!
//! Ports `k8s.io/apiserver/pkg/authentication/request/x509` (v0.37.1). TLS only asks for a certificate and checks that the client
//! holds its key; the certificate is verified with each request, by the clock of the replica that is asked. So a bad one
//! is a 401, unless the request has a valid bearer token.
//!
//! The library that checks chains is stricter than Go's: certificates before X.509 version 3 are refused by TLS, those of an
//! authority for itself and those for "any extended key usage" at the request.

use super::User;
use super::authorities::{ClientAuthorities, EXTENSIONS, VERSION};
use super::der::{self, BOOLEAN, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET};
use super::user::CREDENTIAL_ID_KEY;
use crate::clock::format_seconds;
use aws_lc_rs::digest::{SHA256, digest};
use jiff::Timestamp;
use rustls::CertificateError;
use rustls::pki_types::{CertificateDer, UnixTime};
use std::sync::Mutex;

/// The certificate of a connection, with the intermediate ones that lead to an authority.
#[derive(Debug)]
pub struct ClientCertificate {
    chain: Vec<CertificateDer<'static>>,
    /// The outcome in that second: so signatures are not verified for every request.
    known: Mutex<Option<(i64, Outcome)>>,
}

/// The user, `None` without a common name, or the reason for the refusal.
type Outcome = Result<Option<User>, String>;

impl ClientCertificate {
    /// The certificates that a client sent; its own comes first.
    pub fn new(chain: Vec<CertificateDer<'static>>) -> Self {
        ClientCertificate { chain, known: Mutex::new(None) }
    }

    /// The user that the certificate identifies; `None` without a common name. `AuthenticateRequest`.
    ///
    /// # Errors
    /// The reason why it is not valid at that time, in the real server's words where it has them.
    pub(super) fn user(&self, authorities: &ClientAuthorities, now: Timestamp) -> Outcome {
        let mut known = self.known.lock().expect("no holder of this lock can panic");
        match &*known {
            Some((second, outcome)) if *second == now.as_second() => outcome.clone(),
            _ => {
                let outcome = self.evaluate(authorities, now);
                *known = Some((now.as_second(), outcome.clone()));
                outcome
            }
        }
    }

    fn evaluate(&self, authorities: &ClientAuthorities, now: Timestamp) -> Outcome {
        let Some(der) = self.chain.first() else { return Ok(None) };
        let leaf = Leaf::parse(der).ok_or("x509: malformed certificate")?;
        authorities.verify(&self.chain, now).map_err(|error| {
            let (serial, subject, authority) = (number(leaf.serial), hex(leaf.key_id), hex(leaf.authority_key_id));
            let why = go_message(&error);
            format!("verifying certificate SN={serial}, SKID={subject}, AKID={authority} failed: {why}")
        })?;
        leaf.user(der)
    }
}

/// The fields of a certificate that are used. Texts are undecoded: with their tags.
#[derive(Debug, Default)]
struct Leaf<'a> {
    serial: &'a [u8],
    common_name: String,
    organizations: Vec<String>,
    uids: Vec<String>,
    key_id: &'a [u8],
    authority_key_id: &'a [u8],
}

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const ORGANIZATION: &[u8] = &[0x55, 4, 10];
/// `X509UID` of `k8s.io/apimachinery/pkg/apis/asn1`: 1.3.6.1.4.1.57683.2.
const UID: &[u8] = &[0x2b, 6, 1, 4, 1, 0x83, 0xc2, 0x53, 2];
const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 14];
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 35];

const KEY_IDENTIFIER: u8 = 0x80;

impl<'a> Leaf<'a> {
    fn parse(mut der: &'a [u8]) -> Option<Leaf<'a>> {
        let mut certificate = der::element(&mut der, SEQUENCE)?;
        let mut fields = der::elements(der::element(&mut certificate, SEQUENCE)?).filter(|(tag, _)| *tag != VERSION);
        let mut leaf = Leaf { serial: fields.next().filter(|(tag, _)| *tag == INTEGER)?.1, ..Leaf::default() };
        // Behind the serial number: algorithm, issuer, validity, subject.
        leaf.read_name(fields.nth(3)?.1)?;
        if let Some((_, mut extensions)) = fields.find(|(tag, _)| *tag == EXTENSIONS) {
            for (_, extension) in der::elements(der::element(&mut extensions, SEQUENCE)?) {
                leaf.read_extension(extension)?;
            }
        }
        Some(leaf)
    }

    fn read_name(&mut self, name: &[u8]) -> Option<()> {
        let sets = der::elements(name).filter(|(tag, _)| *tag == SET);
        for (_, mut attribute) in sets.flat_map(|(_, set)| der::elements(set)) {
            let kind = der::element(&mut attribute, OBJECT_IDENTIFIER)?;
            let (tag, value) = der::any(&mut attribute)?;
            let value = text(tag, value)?;
            match kind {
                COMMON_NAME => self.common_name = value,
                ORGANIZATION => self.organizations.push(value),
                UID => self.uids.push(value),
                _ => {}
            }
        }
        Some(())
    }

    fn read_extension(&mut self, extension: &'a [u8]) -> Option<()> {
        let mut parts = der::elements(extension).filter(|(tag, _)| *tag != BOOLEAN);
        let (kind, mut value) = (parts.next()?.1, parts.next().filter(|(tag, _)| *tag == OCTET_STRING)?.1);
        match kind {
            SUBJECT_KEY_ID => self.key_id = der::element(&mut value, OCTET_STRING)?,
            AUTHORITY_KEY_ID => {
                let found = der::elements(der::element(&mut value, SEQUENCE)?).find(|(tag, _)| *tag == KEY_IDENTIFIER);
                self.authority_key_id = found.map(|(_, id)| id).unwrap_or_default();
            }
            _ => {}
        }
        Some(())
    }

    /// `CommonNameUserConversion`.
    fn user(self, der: &[u8]) -> Outcome {
        if self.common_name.is_empty() {
            return Ok(None);
        }
        let uid = match &self.uids[..] {
            [] => String::new(),
            [uid] if uid.is_empty() => return Err("UID cannot be an empty string".into()),
            [uid] => uid.clone(),
            uids => return Err(format!("expected 1 UID, but found multiple: [{}]", uids.join(" "))),
        };
        let fingerprint: String = digest(&SHA256, der).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut user = User { name: self.common_name, uid, groups: self.organizations, ..User::default() };
        user.set_extra(CREDENTIAL_ID_KEY, &format!("X509SHA256={fingerprint}"));
        Ok(Some(user))
    }
}

/// A string of any of the types that names are made of: UTF8, Numeric, Printable, T61, IA5, BMP.
fn text(tag: u8, bytes: &[u8]) -> Option<String> {
    match tag {
        0x0c | 0x12 | 0x13 | 0x16 => String::from_utf8(bytes.to_vec()).ok(),
        0x14 => Some(bytes.iter().copied().map(char::from).collect()),
        0x1e => {
            let units: Vec<u16> =
                bytes.chunks(2).map(|pair| pair.iter().fold(0, |sum, b| sum << 8 | u16::from(*b))).collect();
            String::from_utf16(&units).ok()
        }
        _ => None,
    }
}

/// Go's message for the refusal of a certificate.
fn go_message(error: &CertificateError) -> String {
    let expired = |now: &UnixTime, relation: &str, limit: &UnixTime| {
        let time = |time: &UnixTime| {
            let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
            Timestamp::from_second(seconds).map(format_seconds).unwrap_or_default()
        };
        let (now, limit) = (time(now), time(limit));
        format!("x509: certificate has expired or is not yet valid: current time {now} is {relation} {limit}")
    };
    match error {
        CertificateError::ExpiredContext { time, not_after } => expired(time, "after", not_after),
        CertificateError::NotValidYetContext { time, not_before } => expired(time, "before", not_before),
        CertificateError::UnknownIssuer => "x509: certificate signed by unknown authority".into(),
        CertificateError::InvalidPurposeContext { .. } => {
            "x509: certificate specifies an incompatible key usage".into()
        }
        other => format!("x509: {other}"),
    }
}

/// `columnSeparatedHex`.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

/// The most bytes of a serial number that is shown in decimal; RFC 5280 allows 20. To convert one takes time in the square of its bytes,
/// and a certificate may have tens of thousands of them.
const MAX_DECIMAL_BYTES: usize = 64;

/// A positive number of any length, most significant byte first; if it is longer than any good one, in hexadecimal digits.
fn number(bytes: &[u8]) -> String {
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
