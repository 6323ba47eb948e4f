//! The alternative names of a certificate: `parseSANExtension` of `crypto/x509/parser.go` (Go 1.26).
//!
//! GAP: certificates: the syntax of URIs among alternative names

use super::der::{self, SEQUENCE, address};
use std::net::IpAddr;

/// Kinds of names.
pub(super) const EMAIL: u8 = 0x81;
pub(super) const DNS: u8 = 0x82;
pub(super) const URI: u8 = 0x86;
pub(super) const IP: u8 = 0x87;

/// The alternative names of a certificate.
#[derive(Debug, Default)]
pub(crate) struct AlternativeNames<'a> {
    pub(crate) dns_names: Vec<&'a str>,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) emails: Vec<&'a str>,
    pub(crate) uris: Vec<&'a str>,
}

impl<'a> AlternativeNames<'a> {
    /// Reads the value of the extension (`parseSANExtension`).
    ///
    /// # Errors
    /// Go's words.
    pub(super) fn parse(mut value: &'a [u8]) -> Result<Self, String> {
        let mut rest = der::element(&mut value, SEQUENCE).ok_or("x509: invalid subject alternative names")?;
        let mut names = AlternativeNames::default();
        while !rest.is_empty() {
            let (tag, name) = der::any(&mut rest).ok_or("x509: invalid subject alternative name")?;
            let ascii = || std::str::from_utf8(name).ok().filter(|name| name.is_ascii());
            match tag {
                EMAIL => names.emails.push(ascii().ok_or("x509: SAN rfc822Name is malformed")?),
                DNS => names.dns_names.push(ascii().ok_or("x509: SAN dNSName is malformed")?),
                URI => names.uris.push(ascii().ok_or("x509: SAN uniformResourceIdentifier is malformed")?),
                IP => {
                    let length = || format!("x509: cannot parse IP address of length {}", name.len());
                    names.addresses.push(address(name).ok_or_else(length)?);
                }
                _ => {}
            }
        }
        Ok(names)
    }

    /// Whether there are names of these kinds.
    pub(super) fn has_emails_or_uris(&self) -> bool {
        !self.emails.is_empty() || !self.uris.is_empty()
    }

    /// Whether there is none of a kind that Go knows.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_emails_or_uris() && self.dns_names.is_empty() && self.addresses.is_empty()
    }
}
