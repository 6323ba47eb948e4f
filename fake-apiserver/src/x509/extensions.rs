//! The extensions of a certificate: `processExtensions` of `crypto/x509/parser.go` (Go 1.26).

use super::alternative_names::AlternativeNames;
use super::constraints::Constraints;
use super::der::{self, BOOLEAN, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE};
use std::collections::HashSet;

/// Extensions: the last number of `2.5.29.N`.
const SUBJECT_KEY_ID: u8 = 14;
const KEY_USAGE: u8 = 15;
const SUBJECT_ALTERNATIVE_NAME: u8 = 17;
const BASIC_CONSTRAINTS: u8 = 19;
const NAME_CONSTRAINTS: u8 = 30;
const DISTRIBUTION_POINTS: u8 = 31;
const POLICIES: u8 = 32;
const POLICY_MAPPINGS: u8 = 33;
const AUTHORITY_KEY_ID: u8 = 35;
const POLICY_CONSTRAINTS: u8 = 36;
const EXTENDED_KEY_USAGE: u8 = 37;
const INHIBIT_ANY_POLICY: u8 = 54;
/// `oidExtensionAuthorityInfoAccess`.
const AUTHORITY_INFO_ACCESS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 1];

/// `keyCertSign` in the first byte of key usages.
const CERT_SIGN: u8 = 0x04;
/// Fields that may be absent, by their numbers.
const FIRST: u8 = 0x80;
const SECOND: u8 = 0x81;
const FIRST_COMPOUND: u8 = 0xa0;
/// The kind of name that is a URI.
const URI: u8 = 0x86;

/// An extension (`pkix.Extension`).
struct Extension<'a> {
    kind: &'a [u8],
    is_critical: bool,
    value: &'a [u8],
}

impl<'a> Extension<'a> {
    /// Reads the extensions in a certificate: their list, whole.
    ///
    /// # Errors
    /// Go's words.
    fn all(mut list: &'a [u8]) -> Result<Vec<Self>, String> {
        let mut rest = der::element(&mut list, SEQUENCE).ok_or("x509: malformed extensions")?;
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        while !rest.is_empty() {
            let mut parts = der::element(&mut rest, SEQUENCE).ok_or("x509: malformed extension")?;
            let kind = der::identifier(&mut parts).ok_or("x509: malformed extension OID field")?;
            let mut is_critical = false;
            if parts.first() == Some(&BOOLEAN) {
                is_critical = der::boolean(&mut parts).ok_or("x509: malformed extension critical field")?;
            }
            let value = der::element(&mut parts, OCTET_STRING).ok_or("x509: malformed extension value field")?;
            if !seen.insert(kind) {
                let kind = dotted(kind);
                return Err(format!("x509: certificate contains duplicate extension with OID {kind:?}"));
            }
            all.push(Extension { kind, is_critical, value });
        }
        Ok(all)
    }
}

/// An identifier as its numbers.
fn dotted(identifier: &[u8]) -> String {
    let numbers = identifier.split_inclusive(|byte| byte & 0x80 == 0);
    let mut numbers = numbers.map(|bytes| bytes.iter().fold(0_u64, |sum, byte| sum << 7 | u64::from(byte & 0x7f)));
    let first = numbers.next().unwrap_or_default();
    let (root, second) = if first < 80 { (first / 40, first % 40) } else { (2, first - 80) };
    numbers.fold(format!("{root}.{second}"), |text, number| format!("{text}.{number}"))
}

/// The extensions of a certificate, as far as Go reads them. Their parts are DER.
#[derive(Debug, Default)]
pub(crate) struct Extensions<'a> {
    pub(crate) key_id: &'a [u8],
    pub(crate) authority_key_id: &'a [u8],
    /// Whether it is an authority, if it says.
    pub(crate) is_authority: Option<bool>,
    pub(super) max_path_length: Option<usize>,
    /// Whether it has key usages, and not the one for certificates.
    pub(super) signs_no_certificates: bool,
    /// Its extended key usages, identifiers; any, if there are none.
    pub(super) usages: Vec<&'a [u8]>,
    /// The alternative names, undecoded, if it has some.
    pub(super) alternative_names: Option<&'a [u8]>,
    pub(super) names: AlternativeNames<'a>,
    pub(super) constraints: Option<Constraints<'a>>,
    pub(super) has_policy_constraints: bool,
    pub(super) has_unknown_critical_extension: bool,
}

impl<'a> Extensions<'a> {
    /// Reads the list of extensions in a certificate, whole.
    ///
    /// # Errors
    /// Go's words.
    pub(super) fn read(list: &'a [u8]) -> Result<Self, String> {
        let mut extensions = Extensions::default();
        Extension::all(list)?.iter().try_for_each(|extension| extensions.take_over(extension))?;
        Ok(extensions)
    }

    /// Takes over what an extension says.
    fn take_over(&mut self, extension: &Extension<'a>) -> Result<(), String> {
        let Extension { kind, is_critical, value } = *extension;
        let is_known = match kind {
            [0x55, 0x1d, number] => self.read_numbered(*number, is_critical, value)?,
            AUTHORITY_INFO_ACCESS if is_critical => {
                return Err("x509: authority info access incorrectly marked critical".into());
            }
            AUTHORITY_INFO_ACCESS => {
                access(value).ok_or("x509: invalid authority info access")?;
                true
            }
            _ => false,
        };
        self.has_unknown_critical_extension |= is_critical && !is_known;
        Ok(())
    }

    /// Takes over what the extension `2.5.29.N` says. False, if it is not known or says nothing that is.
    fn read_numbered(&mut self, number: u8, is_critical: bool, mut value: &'a [u8]) -> Result<bool, String> {
        match number {
            SUBJECT_KEY_ID if is_critical => {
                return Err("x509: subject key identifier incorrectly marked critical".into());
            }
            SUBJECT_KEY_ID => {
                self.key_id = der::element(&mut value, OCTET_STRING).ok_or("x509: invalid subject key identifier")?;
            }
            KEY_USAGE => {
                let usages = der::element(&mut value, der::BIT_STRING).and_then(der::bit_string);
                let (usages, _) = usages.ok_or("x509: invalid key usage")?;
                // No usage at all is as none said.
                self.signs_no_certificates = usages.iter().any(|byte| *byte != 0) && usages[0] & CERT_SIGN == 0;
            }
            SUBJECT_ALTERNATIVE_NAME => {
                let names = AlternativeNames::parse(value)?;
                let is_known = !names.is_empty();
                (self.alternative_names, self.names) = (Some(value), names);
                return Ok(is_known);
            }
            BASIC_CONSTRAINTS => {
                (self.is_authority, self.max_path_length) = basic_constraints(value)
                    .map(|(yes, most)| (Some(yes), most))
                    .ok_or("x509: invalid basic constraints")?;
            }
            NAME_CONSTRAINTS => {
                let constraints = Constraints::parse(value)?;
                let is_known = !constraints.has_unknown;
                self.constraints = Some(constraints);
                return Ok(is_known);
            }
            DISTRIBUTION_POINTS => distribution_points(value)?,
            POLICIES => policies(value).ok_or("x509: invalid certificate policies")?,
            POLICY_MAPPINGS => policy_mappings(value).ok_or("x509: invalid policy mappings extension")?,
            AUTHORITY_KEY_ID if is_critical => {
                return Err("x509: authority key identifier incorrectly marked critical".into());
            }
            AUTHORITY_KEY_ID => {
                let mut parts = der::element(&mut value, SEQUENCE);
                let id = parts.as_mut().and_then(|parts| der::optional(parts, FIRST));
                self.authority_key_id = id.ok_or("x509: invalid authority key identifier")?.unwrap_or_default();
            }
            POLICY_CONSTRAINTS => {
                policy_constraints(value).ok_or("x509: invalid policy constraints extension")?;
                self.has_policy_constraints = true;
            }
            EXTENDED_KEY_USAGE => {
                let usages = identifiers(value);
                self.usages = usages.ok_or("x509: invalid extended key usages")?;
            }
            INHIBIT_ANY_POLICY => {
                let most = der::integer(&mut value).and_then(der::number);
                most.ok_or("x509: invalid inhibit any policy extension")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Whether it is an authority, and the most certificates below it; a number that does not fit does not limit anything
/// (`parseBasicConstraintsExtension`).
fn basic_constraints(mut value: &[u8]) -> Option<(bool, Option<usize>)> {
    let mut parts = der::element(&mut value, SEQUENCE)?;
    let yes = parts.first() == Some(&BOOLEAN) && der::boolean(&mut parts)?;
    if parts.first() != Some(&INTEGER) {
        return Some((yes, None));
    }
    let most = der::number(der::integer(&mut parts)?)?;
    Some((yes, Some(usize::try_from(most).ok()?)))
}

/// The identifiers in a list.
fn identifiers(mut value: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = der::element(&mut value, SEQUENCE)?;
    let mut all = Vec::new();
    while !rest.is_empty() {
        all.push(der::identifier(&mut rest)?);
    }
    Some(all)
}

/// `parseCertificatePoliciesExtension`: policies, each once.
fn policies(mut value: &[u8]) -> Option<()> {
    let mut rest = der::element(&mut value, SEQUENCE)?;
    let mut seen = HashSet::new();
    while !rest.is_empty() {
        let policy = der::element(&mut der::element(&mut rest, SEQUENCE)?, OBJECT_IDENTIFIER)?;
        // These numbers may be large.
        let numbers = policy.split_inclusive(|byte| byte & 0x80 == 0);
        let is_good = policy.last()? & 0x80 == 0 && numbers.into_iter().all(|number| number[0] != 0x80);
        if !is_good || !seen.insert(policy) {
            return None;
        }
    }
    Some(())
}

fn policy_mappings(mut value: &[u8]) -> Option<()> {
    let mut rest = der::element(&mut value, SEQUENCE)?;
    while !rest.is_empty() {
        let mut pair = der::element(&mut rest, SEQUENCE)?;
        der::element(&mut pair, OBJECT_IDENTIFIER)?;
        der::element(&mut pair, OBJECT_IDENTIFIER)?;
    }
    Some(())
}

fn policy_constraints(mut value: &[u8]) -> Option<()> {
    let mut parts = der::element(&mut value, SEQUENCE)?;
    for tag in [FIRST, SECOND] {
        if let Some(number) = der::optional(&mut parts, tag)? {
            der::number(number)?;
        }
    }
    Some(())
}

fn distribution_points(mut value: &[u8]) -> Result<(), String> {
    let mut rest = der::element(&mut value, SEQUENCE).ok_or("x509: invalid CRL distribution points")?;
    while !rest.is_empty() {
        distribution_point(&mut rest).ok_or("x509: invalid CRL distribution point")?;
    }
    Ok(())
}

fn distribution_point(rest: &mut &[u8]) -> Option<()> {
    let mut point = der::element(rest, SEQUENCE)?;
    let Some(mut name) = der::optional(&mut point, FIRST_COMPOUND)? else { return Some(()) };
    let mut full = der::element(&mut name, FIRST_COMPOUND)?;
    while full.first() == Some(&URI) {
        der::element(&mut full, URI)?;
    }
    Some(())
}

fn access(mut value: &[u8]) -> Option<()> {
    let mut rest = der::element(&mut value, SEQUENCE)?;
    while !rest.is_empty() {
        let mut method = der::element(&mut rest, SEQUENCE)?;
        der::identifier(&mut method)?;
        der::optional(&mut method, URI)?;
    }
    Some(())
}
