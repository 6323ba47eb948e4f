//! The text of a body: its encoding, and the characters that YAML forbids (readerc.go of go.yaml.in/yaml/v2 v2.4.4).

use std::borrow::Cow;

/// How many bytes Go reads at a time. It notices a bad character once it reads the portion that has it.
const PORTION: usize = 512;

/// The text up to the first bad character.
pub(super) struct Source<'t> {
    /// The text, without a byte order mark at its beginning.
    pub(super) text: Cow<'t, str>,
    /// The first bad character.
    pub(super) bad: Option<Bad>,
}

/// A bad character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bad {
    /// Where the portion begins that has it, in the text.
    pub(super) at: usize,
    /// Go's words for it.
    pub(super) words: &'static str,
}

/// The text of some bytes, in UTF-8 or, if a byte order mark says so, UTF-16.
pub(super) fn read(bytes: &[u8]) -> Source<'_> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf_8(rest),
        _ => utf_8(bytes),
    }
}

fn utf_8(bytes: &[u8]) -> Source<'_> {
    let (text, end) = match str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(why) => {
            let valid = why.valid_up_to();
            (str::from_utf8(&bytes[..valid]).unwrap_or_default(), Some((valid, not_utf_8(bytes, valid))))
        }
    };
    let control = text.find(|letter| !is_allowed(letter)).map(|at| (at, CONTROL));
    let bad = control.or(end);
    let text = bad.map_or(text, |(at, _)| &text[..at]);
    Source { text: text.into(), bad: bad.map(|(at, words)| Bad { at: at / PORTION * PORTION, words }) }
}

const CONTROL: &str = "control characters are not allowed";

fn not_utf_8(bytes: &[u8], at: usize) -> &'static str {
    let length = match bytes[at] {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => return "invalid leading UTF-8 octet",
    };
    let Some(rest) = bytes.get(at + 1..at + length) else { return "incomplete UTF-8 octet sequence" };
    let trails = rest.iter().all(|octet| octet & 0xC0 == 0x80);
    match trails {
        false => "invalid trailing UTF-8 octet",
        true if matches!(bytes[at..at + 2], [0xC0 | 0xC1, _] | [0xE0, ..0xA0] | [0xF0, ..0x90]) => {
            "invalid length of a UTF-8 sequence"
        }
        true => "invalid Unicode character",
    }
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Source<'static> {
    let (mut text, mut portion) = (String::with_capacity(bytes.len()), 0);
    let mut pairs = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).enumerate();
    let mut bad = None;
    while let Some((index, first)) = pairs.next() {
        if (2 * index).is_multiple_of(PORTION) {
            portion = text.len();
        }
        let letter = match first {
            0xDC00..=0xDFFF => Err("unexpected low surrogate area"),
            0xD800..=0xDBFF => match pairs.next() {
                Some((_, second)) => match char::decode_utf16([first, second]).next() {
                    Some(Ok(letter)) => Ok(letter),
                    _ => Err("expected low surrogate area"),
                },
                None => Err("incomplete UTF-16 surrogate pair"),
            },
            unit => Ok(char::from_u32(unit.into()).unwrap_or_default()),
        };
        match letter {
            Ok(letter) if is_allowed(letter) => text.push(letter),
            Ok(_) => bad = Some(CONTROL),
            Err(words) => bad = Some(words),
        }
        if bad.is_some() {
            break;
        }
    }
    let is_odd = !bytes.len().is_multiple_of(2);
    let bad = bad.or_else(|| is_odd.then_some("incomplete UTF-16 character"));
    Source { text: text.into(), bad: bad.map(|words| Bad { at: portion, words }) }
}

/// Whether a character may stand in YAML.
pub(super) fn is_allowed(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}
