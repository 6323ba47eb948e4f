//! Requests for certificates (PKCS #10).
//!
//! Ports `ParseCertificateRequest` and `CheckSignature` of `crypto/x509` (Go 1.26).

use super::alternative_names::AlternativeNames;
use super::asn1::{self, Fields, TAG_BIT_STRING, TAG_INTEGER, TAG_OBJECT_IDENTIFIER, TAG_SEQUENCE, TAG_SET, Type};
use super::key::{self, KeyKind};
use super::name::Name;
use super::{der, signature};
use std::borrow::Cow;
use std::collections::HashSet;

const REQUEST: Type = Type::compound(TAG_SEQUENCE, "certificateRequest");
const SIGNED: Type = Type::compound(TAG_SEQUENCE, "tbsCertificateRequest");
const KEY_INFO: Type = Type::compound(TAG_SEQUENCE, "publicKeyInfo");
const ALGORITHM: Type = Type::compound(TAG_SEQUENCE, "AlgorithmIdentifier");
const ATTRIBUTES: Type = Type::tagged(0);
const ATTRIBUTE: Type = Type::compound(TAG_SEQUENCE, "pkcs10Attribute");
const VALUES: Type = Type::compound(TAG_SET, "");
const EXTENSIONS: Type = Type::compound(TAG_SEQUENCE, "");
const EXTENSION: Type = Type::compound(TAG_SEQUENCE, "Extension");
const VERSION: Type = Type::primitive(TAG_INTEGER, "int");
const IDENTIFIER: Type = Type::primitive(TAG_OBJECT_IDENTIFIER, "ObjectIdentifier");
const BITS: Type = Type::primitive(TAG_BIT_STRING, "BitString");
const BYTES: Type = Type::primitive(4, "");
/// The type of the attribute with requested extensions: `oidExtensionRequest`.
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 14];
/// `oidExtensionSubjectAltName`.
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 17];

/// A request. Its parts are DER.
#[derive(Debug)]
pub(crate) struct CertificateRequest<'a> {
    signed: &'a [u8],
    signature_algorithm: &'a [u8],
    signature: Cow<'a, [u8]>,
    pub(crate) subject: Name<'a>,
    /// The alternative names that are asked for.
    pub(crate) names: AlternativeNames<'a>,
    /// The key with its algorithm (`SubjectPublicKeyInfo`), whole.
    pub(crate) key_info: &'a [u8],
    key_algorithm: &'a [u8],
    key: Cow<'a, [u8]>,
    /// The kind of the key; `None` if Go does not know it.
    pub(crate) key_kind: Option<KeyKind>,
}

/// `pkix.AlgorithmIdentifier`.
struct Algorithm<'a> {
    id: &'a [u8],
    parameters: &'a [u8],
    /// Both, as they are encoded.
    content: &'a [u8],
}

impl<'a> Algorithm<'a> {
    fn take(fields: &mut Fields<'a>) -> asn1::Result<Self> {
        let content = fields.take(ALGORITHM)?;
        let mut parts = Fields::new(content);
        let id = asn1::identifier(parts.take(IDENTIFIER)?)?;
        let parameters = if parts.is_at_end() { &[] } else { parts.any()?.whole };
        Ok(Algorithm { id, parameters, content })
    }
}

fn take_bits<'a>(fields: &mut Fields<'a>) -> asn1::Result<Cow<'a, [u8]>> {
    let (bytes, unused) = asn1::bits(fields.take(BITS)?)?;
    Ok(der::aligned(bytes, unused))
}

impl<'a> CertificateRequest<'a> {
    /// Reads a request.
    ///
    /// # Errors
    /// Go's words.
    pub(crate) fn parse(der: &'a [u8]) -> Result<Self, String> {
        let mut input = Fields::new(der);
        let mut request = input.nested(REQUEST)?;
        let signed = request.take_whole(SIGNED)?;
        let mut fields = Fields::new(signed.content);
        asn1::integer(fields.take(VERSION)?)?;
        let subject = fields.any()?.whole;
        let info = fields.take_whole(KEY_INFO)?;
        let mut key_fields = Fields::new(info.content);
        let key_algorithm = Algorithm::take(&mut key_fields)?;
        let key = take_bits(&mut key_fields)?;
        let attributes = asn1::list(fields.take(ATTRIBUTES)?, None)?;
        let signature_algorithm = Algorithm::take(&mut request)?.content;
        let signature = take_bits(&mut request)?;
        if !input.is_at_end() {
            return Err(asn1::syntax("trailing data"));
        }
        let key_kind = key::kind(key_algorithm.id, key_algorithm.parameters, &key)?;
        let subject = Name::of_request(subject)?;
        let names = requested_names(attributes.iter().map(|attribute| attribute.whole))?;
        Ok(CertificateRequest {
            signed: signed.whole,
            signature_algorithm,
            signature,
            subject,
            names,
            key_info: info.whole,
            key_algorithm: key_algorithm.content,
            key,
            key_kind,
        })
    }

    /// Checks that the request is signed with its own key.
    ///
    /// # Errors
    /// Go's words.
    pub(crate) fn check_signature(&self) -> Result<(), String> {
        signature::verify(self.signature_algorithm, self.key_algorithm, &self.key, self.signed, &self.signature)
    }
}

/// The alternative names among the extensions that attributes ask for (`parseCSRExtensions`), which are checked.
fn requested_names<'a>(attributes: impl Iterator<Item = &'a [u8]>) -> Result<AlternativeNames<'a>, String> {
    let mut seen = HashSet::new();
    let mut found = None;
    for attribute in attributes {
        // An attribute that cannot be read is none.
        let Ok(Some(requested)) = requested_extensions(attribute) else { continue };
        let mut extensions = Vec::new();
        for extension in asn1::list(Fields::new(requested).take(EXTENSIONS)?, Some(EXTENSION))? {
            let mut fields = Fields::new(extension.content);
            let kind = asn1::identifier(fields.take(IDENTIFIER)?)?;
            extensions.push((kind, extension_value(&mut fields)?));
        }
        if !extensions.iter().all(|(kind, _)| seen.insert(*kind)) {
            return Err("x509: certificate request contains duplicate requested extensions".into());
        }
        // There is one at most.
        if let Some((_, value)) = extensions.iter().find(|(kind, _)| *kind == ALTERNATIVE_NAMES) {
            found = Some(*value);
        }
    }
    found.map(AlternativeNames::parse).transpose().map(Option::unwrap_or_default)
}

/// The value of an extension, whose criticality may be said before it.
fn extension_value<'a>(fields: &mut Fields<'a>) -> asn1::Result<&'a [u8]> {
    const CRITICAL: u32 = 1;
    if fields.peeks(CRITICAL)? {
        asn1::boolean(fields.any()?.content)?;
    }
    fields.take(BYTES)
}

/// The extensions that an attribute asks for, if it asks for any.
fn requested_extensions(attribute: &[u8]) -> asn1::Result<Option<&[u8]>> {
    let mut outer = Fields::new(attribute);
    let mut fields = outer.nested(ATTRIBUTE)?;
    let kind = asn1::identifier(fields.take(IDENTIFIER)?)?;
    let values = asn1::list(fields.take(VALUES)?, None)?;
    let asked = values.first().filter(|_| outer.is_at_end() && kind == EXTENSION_REQUEST);
    Ok(asked.map(|value| value.whole))
}
