//! The fields of a certificate.

use super::constraints::Constraints;
use super::der::{self, BIT_STRING, BOOLEAN, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET, address};
use jiff::Timestamp;
use std::net::IpAddr;

pub(super) const COMMON_NAME: &[u8] = &[0x55, 4, 3];
pub(crate) const ORGANIZATION: &[u8] = &[0x55, 4, 10];

/// Extensions: the last number of `2.5.29.N`.
const SUBJECT_KEY_ID: u8 = 14;
const KEY_USAGE: u8 = 15;
const SUBJECT_ALTERNATIVE_NAME: u8 = 17;
const BASIC_CONSTRAINTS: u8 = 19;
const NAME_CONSTRAINTS: u8 = 30;
const AUTHORITY_KEY_ID: u8 = 35;
const POLICY_CONSTRAINTS: u8 = 36;
const EXTENDED_KEY_USAGE: u8 = 37;
/// Others that Go reads: CRL distribution points, policies, their mappings, inhibited policies.
const OTHERS: [u8; 4] = [31, 32, 33, 54];

/// Fields that may be absent.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// `keyCertSign` in the first byte of key usages.
const CERT_SIGN: u8 = 0x04;
/// Kinds of names.
const EMAIL: u8 = 0x81;
const DNS: u8 = 0x82;
const URI: u8 = 0x86;
const IP: u8 = 0x87;
/// The identifier in an authority key identifier.
const KEY_IDENTIFIER: u8 = 0x80;

/// A certificate. Its parts are DER; names and algorithms without their own tag and length.
#[derive(Debug, Default)]
pub(crate) struct Certificate<'a> {
    pub(crate) raw: &'a [u8],
    /// The signed part, as encoded (`tbsCertificate`).
    pub(super) signed: &'a [u8],
    pub(super) signature_algorithm: &'a [u8],
    pub(super) signature: &'a [u8],
    pub(super) version: u8,
    pub(crate) serial: &'a [u8],
    pub(super) issuer: &'a [u8],
    pub(super) subject: &'a [u8],
    pub(crate) not_before: Timestamp,
    pub(crate) not_after: Timestamp,
    /// The key with its algorithm (`SubjectPublicKeyInfo`), whole.
    pub(crate) key_info: &'a [u8],
    pub(super) key_algorithm: &'a [u8],
    pub(super) key: &'a [u8],
    pub(crate) key_id: &'a [u8],
    pub(crate) authority_key_id: &'a [u8],
    /// Whether it is an authority, if it says.
    pub(crate) is_authority: Option<bool>,
    pub(super) max_path_length: Option<usize>,
    /// False, if its key usages do not have the one for certificates.
    pub(super) may_sign: bool,
    /// Its extended key usages, identifiers; any, if there are none.
    pub(super) usages: Vec<&'a [u8]>,
    /// The alternative names, undecoded, if it has some.
    pub(super) alternative_names: Option<&'a [u8]>,
    pub(crate) dns_names: Vec<&'a str>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) has_emails_or_uris: bool,
    pub(super) constraints: Option<Constraints<'a>>,
    pub(super) has_policy_constraints: bool,
    pub(super) has_unknown_critical_extension: bool,
}

impl<'a> Certificate<'a> {
    /// Reads a certificate; none if it is malformed.
    pub(crate) fn parse(raw: &'a [u8]) -> Option<Certificate<'a>> {
        let mut input = raw;
        let mut outer = der::element(&mut input, SEQUENCE)?;
        let signed = der::whole(&mut outer)?;
        let signature_algorithm = der::element(&mut outer, SEQUENCE)?;
        let signature = bits(der::element(&mut outer, BIT_STRING)?)?;
        let mut fields = der::element(&mut { signed }, SEQUENCE)?;
        let mut version = 1;
        if fields.first() == Some(&VERSION) {
            let number = der::element(&mut der::element(&mut fields, VERSION)?, INTEGER)?;
            version = number.last()? + 1;
        }
        let serial = der::element(&mut fields, INTEGER)?;
        der::element(&mut fields, SEQUENCE)?;
        let issuer = der::element(&mut fields, SEQUENCE)?;
        let mut validity = der::elements(der::element(&mut fields, SEQUENCE)?);
        let (not_before, not_after) = (time(validity.next()?)?, time(validity.next()?)?);
        let subject = der::element(&mut fields, SEQUENCE)?;
        let key_info = der::whole(&mut fields)?;
        let mut key_parts = der::element(&mut { key_info }, SEQUENCE)?;
        let key_algorithm = der::element(&mut key_parts, SEQUENCE)?;
        let key = bits(der::element(&mut key_parts, BIT_STRING)?)?;
        let mut certificate = Certificate {
            raw: &raw[..raw.len() - input.len()],
            signed,
            signature_algorithm,
            signature,
            version,
            serial,
            issuer,
            subject,
            not_before,
            not_after,
            key_info,
            key_algorithm,
            key,
            may_sign: true,
            ..Certificate::default()
        };
        if let Some((_, mut extensions)) = der::elements(fields).find(|(tag, _)| *tag == EXTENSIONS) {
            for (_, extension) in der::elements(der::element(&mut extensions, SEQUENCE)?) {
                certificate.read_extension(extension)?;
            }
        }
        Some(certificate)
    }

    fn read_extension(&mut self, mut extension: &'a [u8]) -> Option<()> {
        let kind = der::element(&mut extension, OBJECT_IDENTIFIER)?;
        let mut critical = false;
        if extension.first() == Some(&BOOLEAN) {
            critical = der::element(&mut extension, BOOLEAN)? != [0];
        }
        let mut value = der::element(&mut extension, OCTET_STRING)?;
        let [0x55, 0x1d, number] = kind else {
            self.has_unknown_critical_extension |= critical;
            return Some(());
        };
        match *number {
            SUBJECT_KEY_ID => self.key_id = der::element(&mut value, OCTET_STRING)?,
            // The first byte is the number of unused bits. No usage at all is as none said.
            KEY_USAGE => {
                let usages = der::element(&mut value, BIT_STRING)?.get(1..)?;
                self.may_sign = usages.iter().all(|byte| *byte == 0) || usages.first()? & CERT_SIGN != 0;
            }
            SUBJECT_ALTERNATIVE_NAME => {
                self.alternative_names = Some(value);
                self.read_names(der::element(&mut value, SEQUENCE)?, critical)?;
            }
            BASIC_CONSTRAINTS => {
                let mut parts = der::element(&mut value, SEQUENCE)?;
                let yes = parts.first() == Some(&BOOLEAN) && der::element(&mut parts, BOOLEAN)? != [0];
                self.is_authority = Some(yes);
                if parts.first() == Some(&INTEGER) {
                    let length = der::element(&mut parts, INTEGER)?;
                    // A length that does not fit into 4 bytes does not limit anything.
                    let fits = length.len() <= 4;
                    let sum = |length: &[u8]| length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                    self.max_path_length = fits.then(|| sum(length));
                }
            }
            NAME_CONSTRAINTS => {
                let constraints = Constraints::parse(value)?;
                self.has_unknown_critical_extension |= critical && constraints.has_unknown;
                self.constraints = Some(constraints);
            }
            AUTHORITY_KEY_ID => {
                let found = der::elements(der::element(&mut value, SEQUENCE)?).find(|(tag, _)| *tag == KEY_IDENTIFIER);
                self.authority_key_id = found.map(|(_, id)| id).unwrap_or_default();
            }
            POLICY_CONSTRAINTS => self.has_policy_constraints = true,
            EXTENDED_KEY_USAGE => {
                let usages = der::elements(der::element(&mut value, SEQUENCE)?);
                self.usages = usages.map(|(_, usage)| usage).collect();
            }
            number => self.has_unknown_critical_extension |= critical && !OTHERS.contains(&number),
        }
        Some(())
    }

    fn read_names(&mut self, names: &'a [u8], critical: bool) -> Option<()> {
        for (tag, name) in der::elements(names) {
            match tag {
                DNS => self.dns_names.push(std::str::from_utf8(name).ok().filter(|name| name.is_ascii())?),
                IP => self.addresses.push(address(name)?),
                EMAIL | URI => self.has_emails_or_uris = true,
                _ => {}
            }
        }
        let any = self.has_emails_or_uris || !self.dns_names.is_empty() || !self.addresses.is_empty();
        self.has_unknown_critical_extension |= critical && !any;
        Some(())
    }

    /// The attributes of the subject: their kinds and texts; none if they are malformed.
    pub(crate) fn attributes(&self) -> Option<Vec<(&'a [u8], String)>> {
        attributes(self.subject)
    }

    /// The common name, or "".
    pub(super) fn common_name(&self) -> String {
        let attributes = self.attributes().unwrap_or_default();
        let last = attributes.into_iter().rev().find(|(kind, _)| *kind == COMMON_NAME);
        last.map(|(_, name)| name).unwrap_or_default()
    }

    /// The name that errors give it.
    pub(super) fn displayed_name(&self) -> String {
        let name = self.common_name();
        if !name.is_empty() {
            return name;
        }
        let attributes = self.attributes().unwrap_or_default();
        let organization = attributes.into_iter().find(|(kind, _)| *kind == ORGANIZATION);
        organization.map_or_else(|| format!("serial:{}", decimal(self.serial)), |(_, name)| name)
    }
}

/// The attributes of a name: their kinds and texts; none if they are malformed.
pub(super) fn attributes(name: &[u8]) -> Option<Vec<(&[u8], String)>> {
    let sets = der::elements(name).filter(|(tag, _)| *tag == SET);
    let attributes = sets.flat_map(|(_, set)| der::elements(set)).map(|(_, mut attribute)| {
        let kind = der::element(&mut attribute, OBJECT_IDENTIFIER)?;
        let (tag, value) = der::any(&mut attribute)?;
        Some((kind, text(tag, value)?))
    });
    attributes.collect()
}

/// The bytes of a bit string that has no unused bits.
fn bits(content: &[u8]) -> Option<&[u8]> {
    content.split_first().filter(|(unused, _)| **unused == 0).map(|(_, bytes)| bytes)
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
