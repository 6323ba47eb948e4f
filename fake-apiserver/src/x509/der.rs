//! DER, the encoding of keys and certificates, as `golang.org/x/crypto/cryptobyte` reads it: tags of one byte, lengths in their shortest form.

use std::borrow::Cow;
use std::net::IpAddr;

pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

/// The bits of a tag that say that its number is in the bytes that follow.
const LONG_TAG: u8 = 0x1f;

/// Takes one element off `input`: its tag and its content.
pub(crate) fn any<'a>(input: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (tag, rest) = input.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let is_shortest = length[0] != 0 && (length.len() > 1 || length[0] > 0x7f);
            let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            (is_shortest.then_some(length)?, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length).filter(|_| tag & LONG_TAG != LONG_TAG)?;
    *input = rest;
    Some((*tag, content))
}

/// Takes one element with that tag off `input` and returns its content.
pub(crate) fn element<'a>(input: &mut &'a [u8], expected: u8) -> Option<&'a [u8]> {
    any(input).filter(|(tag, _)| *tag == expected).map(|(_, content)| content)
}

/// Takes the next element off `input` if it has that tag: its content, if it is there. `None`, if it is malformed.
pub(super) fn optional<'a>(input: &mut &'a [u8], tag: u8) -> Option<Option<&'a [u8]>> {
    match input.first() == Some(&tag) {
        true => element(input, tag).map(Some),
        false => Some(None),
    }
}

/// Takes one element off `input`, whole: with its tag and length.
pub(crate) fn whole<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let before = *input;
    any(input)?;
    before.get(..before.len() - input.len())
}

/// Takes the next element with that tag off `input`, whole.
pub(super) fn whole_of<'a>(input: &mut &'a [u8], expected: u8) -> Option<&'a [u8]> {
    whole(input).filter(|element| element[0] == expected)
}

/// Takes an integer of any size off `input`: two's complement, most significant byte first.
pub(super) fn integer<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    element(input, INTEGER).filter(|bytes| is_shortest(bytes))
}

/// Whether an integer has a byte, and none that says nothing.
fn is_shortest(bytes: &[u8]) -> bool {
    match bytes {
        [] => false,
        [_] => true,
        [0, next, ..] => next & 0x80 != 0,
        [0xff, next, ..] => next & 0x80 == 0,
        _ => true,
    }
}

/// The value of an integer of up to eight bytes.
pub(super) fn number(bytes: &[u8]) -> Option<i64> {
    let fits = is_shortest(bytes) && bytes.len() <= 8;
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
    fits.then(|| bytes.iter().fold(sign, |sum, byte| sum << 8 | i64::from(*byte)))
}

/// Takes an object identifier off `input`.
pub(super) fn identifier<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    element(input, OBJECT_IDENTIFIER).filter(|bytes| !bytes.is_empty() && has_whole_numbers(bytes))
}

/// Whether an identifier consists of numbers below 2^31, each in its shortest form.
fn has_whole_numbers(bytes: &[u8]) -> bool {
    let numbers = bytes.split_inclusive(|byte| byte & 0x80 == 0);
    let is_number = |number: &[u8]| {
        let is_short = number.len() < 5 || number.len() == 5 && number[0] & 0x7f < 8;
        number[0] != 0x80 && number[number.len() - 1] & 0x80 == 0 && is_short
    };
    numbers.into_iter().all(is_number)
}

/// Takes a boolean off `input`.
pub(super) fn boolean(input: &mut &[u8]) -> Option<bool> {
    match element(input, BOOLEAN)? {
        [0] => Some(false),
        [0xff] => Some(true),
        _ => None,
    }
}

/// Takes a bit string off `input`: its bits, aligned to the right (`RightAlign`).
pub(super) fn bits<'a>(input: &mut &'a [u8]) -> Option<Cow<'a, [u8]>> {
    let (bytes, unused) = bit_string(element(input, BIT_STRING)?)?;
    Some(aligned(bytes, unused))
}

/// The bytes of a bit string, and the number of bits at its end that are unused, and zero.
pub(super) fn bit_string(content: &[u8]) -> Option<(&[u8], u8)> {
    let (unused, bytes) = content.split_first()?;
    let are_zero = bytes.last().is_none_or(|last| last & !(0xff << unused.min(&7)) == 0);
    (*unused <= 7 && (!bytes.is_empty() || *unused == 0) && are_zero).then_some((bytes, *unused))
}

/// Bits without those at their end that are unused.
pub(super) fn aligned(bytes: &[u8], unused: u8) -> Cow<'_, [u8]> {
    if unused == 0 {
        return bytes.into();
    }
    let before = std::iter::once(&0).chain(bytes);
    before.zip(bytes).map(|(before, byte)| before << (8 - unused) | byte >> unused).collect()
}

/// An address of 4 or 16 bytes.
pub(super) fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}
