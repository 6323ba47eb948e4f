//! ASN.1 as Go's `encoding/asn1` decodes it into structs, with its errors: `parseField`, `parseSequenceOf` and the primitive types
//! (Go 1.26), as far as certificate requests need them.
//!
//! It differs from `der.rs`: tags may have several bytes, and what follows the last field of a struct is ignored.

use super::der;

/// The tags of types.
pub(super) const TAG_INTEGER: u32 = 2;
pub(super) const TAG_BIT_STRING: u32 = 3;
pub(super) const TAG_OBJECT_IDENTIFIER: u32 = 6;
pub(super) const TAG_SEQUENCE: u32 = 16;
pub(super) const TAG_SET: u32 = 17;

const UNIVERSAL: u8 = 0;
const CONTEXT: u8 = 2;
/// The largest length whose value may still be shifted by a byte.
const MAX_SHIFTED: usize = 1 << 23;

/// An error in Go's words.
pub(super) type Result<T> = std::result::Result<T, String>;

pub(super) fn syntax(why: &str) -> String {
    format!("asn1: syntax error: {why}")
}

pub(super) fn structure(why: &str) -> String {
    format!("asn1: structure error: {why}")
}

/// The type of a field in Go: its tag, whether it consists of others, and its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type {
    tag: u32,
    is_compound: bool,
    name: &'static str,
    /// The class of the tag.
    class: u8,
}

impl Type {
    pub(super) const fn primitive(tag: u32, name: &'static str) -> Type {
        Type { tag, is_compound: false, name, class: UNIVERSAL }
    }

    pub(super) const fn compound(tag: u32, name: &'static str) -> Type {
        Type { tag, is_compound: true, name, class: UNIVERSAL }
    }

    /// A list without a name, with a tag of the context.
    pub(super) const fn tagged(tag: u32) -> Type {
        Type { tag, is_compound: true, name: "", class: CONTEXT }
    }
}

/// An element (`RawValue`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    header: Header,
    pub(super) content: &'a [u8],
    /// The element with its tag and length.
    pub(super) whole: &'a [u8],
}

/// A tag and a length (`tagAndLength`).
#[derive(Debug, Clone, Copy)]
struct Header {
    class: u8,
    tag: u32,
    length: usize,
    is_compound: bool,
}

/// The fields of a struct, or the elements of a list: bytes, and how many of them are read.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, offset: 0 }
    }

    /// Takes a field of that type: its content.
    pub(super) fn take(&mut self, expected: Type) -> Result<&'a [u8]> {
        self.take_whole(expected).map(|element| element.content)
    }

    /// Takes a field of that type.
    pub(super) fn take_whole(&mut self, expected: Type) -> Result<Element<'a>> {
        let start = self.offset;
        let header = self.header()?;
        let is_of = (header.class, header.tag, header.is_compound);
        if is_of != (expected.class, expected.tag, expected.is_compound) {
            let Header { class, tag, length, is_compound } = header;
            let Type { tag: wanted, name, .. } = expected;
            // In Go the tag of the context is printed as its address in memory, which is another one each time.
            let pointer = if expected.class == CONTEXT { "0xc000000000" } else { "<nil>" };
            return Err(structure(&format!(
                "tags don't match ({wanted} vs {{class:{class} tag:{tag} length:{length} isCompound:{is_compound}}}) \
                 {{optional:false explicit:false application:false private:false defaultValue:<nil> tag:{pointer} \
                 stringType:0 timeType:0 set:false omitEmpty:false}} {name} @{}",
                self.offset
            )));
        }
        self.content(start, header)
    }

    /// Takes a field of any type.
    pub(super) fn any(&mut self) -> Result<Element<'a>> {
        let start = self.offset;
        let header = self.header()?;
        self.content(start, header)
    }

    /// Takes the fields of a struct that is one: what follows them is left.
    pub(super) fn nested(&mut self, expected: Type) -> Result<Fields<'a>> {
        self.take(expected).map(Fields::new)
    }

    /// Whether the next field is a primitive with that tag, so that an optional field is there.
    pub(super) fn peeks(&self, tag: u32) -> Result<bool> {
        if self.is_at_end() {
            return Ok(false);
        }
        let header = Fields { bytes: self.bytes, offset: self.offset }.tag_and_length()?;
        Ok((header.class, header.tag, header.is_compound) == (UNIVERSAL, tag, false))
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.offset == self.bytes.len()
    }

    fn header(&mut self) -> Result<Header> {
        if self.is_at_end() {
            return Err(syntax("sequence truncated"));
        }
        self.tag_and_length()
    }

    fn content(&mut self, start: usize, header: Header) -> Result<Element<'a>> {
        let end = self.offset.saturating_add(header.length);
        let content = self.bytes.get(self.offset..end).ok_or_else(|| syntax("data truncated"))?;
        self.offset = end;
        Ok(Element { header, content, whole: &self.bytes[start..end] })
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.offset).copied();
        self.offset += usize::from(byte.is_some());
        byte
    }

    /// `parseTagAndLength`.
    fn tag_and_length(&mut self) -> Result<Header> {
        let truncated = || syntax("truncated tag or length");
        let first = self.byte().ok_or_else(truncated)?;
        let (class, is_compound, mut tag) = (first >> 6, first & 0x20 != 0, u32::from(first & 0x1f));
        if tag == 0x1f {
            tag = self.base_128()?;
            if tag < 0x1f {
                return Err(syntax("non-minimal tag"));
            }
        }
        let length = match self.byte().ok_or_else(truncated)? {
            short if short & 0x80 == 0 => usize::from(short),
            0x80 => return Err(syntax("indefinite length found (not DER)")),
            long => {
                let mut length = 0_usize;
                for _ in 0..long & 0x7f {
                    let byte = self.byte().ok_or_else(truncated)?;
                    if length >= MAX_SHIFTED {
                        return Err(structure("length too large"));
                    }
                    length = length << 8 | usize::from(byte);
                    if length == 0 {
                        return Err(structure("superfluous leading zeros in length"));
                    }
                }
                if length < 0x80 {
                    return Err(structure("non-minimal length"));
                }
                length
            }
        };
        Ok(Header { class, tag, length, is_compound })
    }

    /// `parseBase128Int`.
    fn base_128(&mut self) -> Result<u32> {
        let mut number = 0_u64;
        for index in 0.. {
            let Some(byte) = self.byte() else { break };
            if index == 5 {
                return Err(structure("base 128 integer too large"));
            }
            if index == 0 && byte == 0x80 {
                return Err(syntax("integer is not minimally encoded"));
            }
            number = number << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                let fits = i32::try_from(number).ok().and_then(|number| u32::try_from(number).ok());
                return fits.ok_or_else(|| structure("base 128 integer too large"));
            }
        }
        Err(syntax("truncated base 128 integer"))
    }
}

/// The elements of a list whose content that is (`parseSequenceOf`): all headers are checked before the first content is read.
pub(super) fn list(content: &[u8], of: Option<Type>) -> Result<Vec<Element<'_>>> {
    let mut fields = Fields::new(content);
    let mut elements = Vec::new();
    while !fields.is_at_end() {
        let start = fields.offset;
        let header = fields.tag_and_length()?;
        let is_of = |wanted: Type| {
            (header.class, header.tag, header.is_compound) == (UNIVERSAL, wanted.tag, wanted.is_compound)
        };
        if !of.is_none_or(is_of) {
            return Err(structure("sequence tag mismatch"));
        }
        elements.push(fields.content(start, header).map_err(|_| syntax("truncated sequence"))?);
    }
    Ok(elements)
}

/// The value of an integer (`parseInt64`).
pub(super) fn integer(content: &[u8]) -> Result<i64> {
    match der::number(content) {
        Some(number) => Ok(number),
        None if content.is_empty() => Err(structure("empty integer")),
        None if matches!(content, [0, next, ..] if next & 0x80 == 0)
            || matches!(content, [0xff, next, ..] if next & 0x80 != 0) =>
        {
            Err(structure("integer not minimally-encoded"))
        }
        None => Err(structure("integer too large")),
    }
}

/// The bytes of an object identifier, which are different for different ones (`parseObjectIdentifier`).
pub(super) fn identifier(content: &[u8]) -> Result<&[u8]> {
    if content.is_empty() {
        return Err(syntax("zero length OBJECT IDENTIFIER"));
    }
    let mut numbers = Fields::new(content);
    while !numbers.is_at_end() {
        numbers.base_128()?;
    }
    Ok(content)
}

/// The bits of a bit string, with the number of unused ones (`parseBitString`).
pub(super) fn bits(content: &[u8]) -> Result<(&[u8], u8)> {
    if content.is_empty() {
        return Err(syntax("zero length BIT STRING"));
    }
    der::bit_string(content).ok_or_else(|| syntax("invalid padding bits in BIT STRING"))
}

/// `parseBool`.
pub(super) fn boolean(content: &[u8]) -> Result<bool> {
    match content {
        [0] => Ok(false),
        [0xff] => Ok(true),
        _ => Err(syntax("invalid boolean")),
    }
}

impl Element<'_> {
    /// The tag of a primitive of ASN.1's own types.
    pub(super) fn primitive_tag(&self) -> Option<u32> {
        (self.header.class == UNIVERSAL && !self.header.is_compound).then_some(self.header.tag)
    }
}
