//! Distinguished names, such as the subject of a certificate: attributes with their types and values.
//!
//! Go decodes them in two ways: those in requests by `encoding/asn1`, where a value may be of any type, and those in certificates by
//! `parseName` of `crypto/x509/parser.go`, which refuses values that are not strings (Go 1.26).

use super::asn1::{self, Element, Fields, TAG_OBJECT_IDENTIFIER, TAG_SEQUENCE, TAG_SET, Type};
use super::der::{self, SEQUENCE, SET};
use super::time::{generalized_time, utc_time};

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
pub(crate) const ORGANIZATION: &[u8] = &[0x55, 4, 10];

const SEQUENCE_OF_SETS: Type = Type::compound(TAG_SEQUENCE, "RDNSequence");
const SET_OF_ATTRIBUTES: Type = Type::compound(TAG_SET, "RelativeDistinguishedNameSET");
const ATTRIBUTE: Type = Type::compound(TAG_SEQUENCE, "AttributeTypeAndValue");
const IDENTIFIER: Type = Type::primitive(TAG_OBJECT_IDENTIFIER, "ObjectIdentifier");

/// A name (`pkix.Name`): of its attributes those whose values are strings, with their types, in their order.
#[derive(Debug, Default)]
pub(crate) struct Name<'a>(Vec<(&'a [u8], String)>);

impl<'a> Name<'a> {
    /// Reads the name in a request, whole (`RDNSequence`).
    ///
    /// # Errors
    /// Go's words.
    pub(super) fn of_request(whole: &'a [u8]) -> Result<Self, String> {
        let mut outer = Fields::new(whole);
        let sets = asn1::list(outer.take(SEQUENCE_OF_SETS)?, Some(SET_OF_ATTRIBUTES))?;
        if !outer.is_at_end() {
            return Err("x509: trailing data after X.509 Subject".into());
        }
        let mut name = Name::default();
        for set in sets {
            for attribute in asn1::list(set.content, Some(ATTRIBUTE))? {
                let mut fields = Fields::new(attribute.content);
                let kind = asn1::identifier(fields.take(IDENTIFIER)?)?;
                if let Some(text) = value(&fields.any()?)? {
                    name.0.push((kind, text));
                }
            }
        }
        Ok(name)
    }

    /// Reads the name in a certificate, whole.
    ///
    /// # Errors
    /// Go's words.
    pub(super) fn of_certificate(mut whole: &'a [u8]) -> Result<Self, String> {
        const INVALID: &str = "x509: invalid RDNSequence";
        let mut name = Name::default();
        let mut sets = der::element(&mut whole, SEQUENCE).ok_or(INVALID)?;
        while !sets.is_empty() {
            let mut set = der::element(&mut sets, SET).ok_or(INVALID)?;
            while !set.is_empty() {
                let invalid = |what: &str| format!("{INVALID}: invalid attribute{what}");
                let mut attribute = der::element(&mut set, SEQUENCE).ok_or_else(|| invalid(""))?;
                let kind = der::identifier(&mut attribute).ok_or_else(|| invalid(" type"))?;
                let (tag, bytes) = der::any(&mut attribute).ok_or_else(|| invalid(" value"))?;
                let text = match Text::of(tag.into()) {
                    Some(text) => text.decode(bytes).ok_or_else(|| format!("invalid {}", text.in_certificates())),
                    None => Err(format!("unsupported string type: {tag}")),
                };
                name.0.push((kind, text.map_err(|why| format!("{}: {why}", invalid(" value")))?));
            }
        }
        Ok(name)
    }

    /// The attributes: their types and texts.
    pub(crate) fn attributes(&self) -> impl DoubleEndedIterator<Item = (&'a [u8], &str)> {
        self.0.iter().map(|(kind, text)| (*kind, text.as_str()))
    }

    /// The texts of a type of attribute.
    pub(crate) fn all(&self, wanted: &[u8]) -> impl DoubleEndedIterator<Item = &str> {
        self.attributes().filter(move |(kind, _)| *kind == wanted).map(|(_, text)| text)
    }

    /// The common name, of several the last one, or "".
    pub(crate) fn common_name(&self) -> &str {
        self.all(COMMON_NAME).next_back().unwrap_or_default()
    }
}

/// The value of an attribute in a request, if it is a string: those of other types are left out, if they are well-formed.
fn value(element: &Element<'_>) -> asn1::Result<Option<String>> {
    let Some(tag) = element.primitive_tag() else { return Ok(None) };
    let content = element.content;
    if let Some(text) = Text::of(tag) {
        return text.decode(content).map(Some).ok_or_else(|| text.in_requests());
    }
    match tag {
        1 => asn1::boolean(content).map(drop)?,
        2 => asn1::integer(content).map(drop)?,
        3 => asn1::bits(content).map(drop)?,
        TAG_OBJECT_IDENTIFIER => asn1::identifier(content).map(drop)?,
        23 => utc_time(content).map(drop)?,
        24 => generalized_time(content).map(drop)?,
        _ => {}
    }
    Ok(None)
}

/// The types of strings that Go knows.
#[derive(Debug, Clone, Copy)]
enum Text {
    Utf8,
    Numeric,
    Printable,
    T61,
    Ia5,
    Bmp,
}

impl Text {
    /// The type with that tag.
    fn of(tag: u32) -> Option<Text> {
        match tag {
            12 => Some(Text::Utf8),
            18 => Some(Text::Numeric),
            19 => Some(Text::Printable),
            20 => Some(Text::T61),
            22 => Some(Text::Ia5),
            30 => Some(Text::Bmp),
            _ => None,
        }
    }

    /// The text; `None`, if it is malformed.
    fn decode(self, bytes: &[u8]) -> Option<String> {
        match self {
            Text::T61 => return Some(bytes.iter().copied().map(char::from).collect()),
            Text::Bmp => return bmp(bytes),
            Text::Numeric if !bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b' ') => return None,
            Text::Printable if !bytes.iter().copied().all(is_printable) => return None,
            Text::Ia5 if !bytes.is_ascii() => return None,
            _ => {}
        }
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }

    /// The name of the type in errors about certificates.
    fn in_certificates(self) -> &'static str {
        match self {
            Text::Utf8 => "UTF-8 string",
            Text::Numeric => "NumericString",
            Text::Printable => "PrintableString",
            Text::T61 => "T61String",
            Text::Ia5 => "IA5String",
            Text::Bmp => "BMPString",
        }
    }

    /// The error about a malformed text in a request.
    fn in_requests(self) -> String {
        match self {
            Text::Utf8 => "asn1: invalid UTF-8 string".into(),
            Text::Bmp => "invalid BMPString".into(),
            other => asn1::syntax(&format!("{} contains invalid character", other.in_certificates())),
        }
    }
}

/// `isPrintable`, with the characters that certificates have although they may not.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte)
}

/// `parseBMPString`: UTF-16 without surrogates and what is reserved for ever, and without a zero at its end.
fn bmp(bytes: &[u8]) -> Option<String> {
    let (units, []) = bytes.as_chunks::<2>() else { return None };
    let units = units.strip_suffix(&[[0, 0]]).unwrap_or(units);
    let character = |unit: &[u8; 2]| match u16::from_be_bytes(*unit) {
        0xfffe | 0xffff | 0xfdd0..=0xfdef => None,
        unit => char::from_u32(unit.into()),
    };
    units.iter().map(character).collect()
}
