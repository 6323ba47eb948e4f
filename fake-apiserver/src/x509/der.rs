//! A minimal parser of DER, the encoding of keys and certificates.

use std::net::IpAddr;

pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

/// Takes one element off `input`: its tag and its content.
pub(crate) fn any<'a>(input: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (tag, rest) = input.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    *input = rest;
    Some((*tag, content))
}

/// Takes one element with that tag off `input` and returns its content.
pub(crate) fn element<'a>(input: &mut &'a [u8], expected: u8) -> Option<&'a [u8]> {
    any(input).filter(|(tag, _)| *tag == expected).map(|(_, content)| content)
}

/// The elements in `content`, up to the first that is malformed.
pub(crate) fn elements(mut content: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || any(&mut content))
}

/// Takes one element off `input`, whole: with its tag and length.
pub(crate) fn whole<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let before = *input;
    any(input)?;
    before.get(..before.len() - input.len())
}

/// An address of 4 or 16 bytes.
pub(super) fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}
