//! Blocks of PEM, as Go reads them: `Decode` of `encoding/pem` (Go 1.26).

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use memchr::{memchr, memmem};

/// A block, such as that of a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The words in its first line: `CERTIFICATE`.
    pub(crate) label: String,
    pub(crate) has_headers: bool,
    pub(crate) content: Vec<u8>,
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"\n-----END ";
const DASHES: &[u8] = b"-----";
/// Base64 whose unused bits may be anything.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Takes the first well-formed block off the text, and all before it; `None` if there is none.
///
/// It takes time in proportion to the length of the text: what turns out to be no block is not read again.
pub(crate) fn next(text: &mut &[u8]) -> Option<Block> {
    let data = *text;
    // Places in the text: all before the first is read; at the second the search for another block would go on.
    let (mut at, mut after) = (0, 0);
    loop {
        // Go gives up where headers have gone beyond the line that was to end them.
        if at > after {
            return None;
        }
        at = after;
        let end = at + memmem::find(&data[at..], END)?;
        after = end + END.len();
        let begin = memmem::rfind(&data[at..end], BEGIN).map(|begin| at + begin);
        let Some(begin) = begin.filter(|begin| *begin == at || data[begin - 1] == b'\n') else { continue };
        let first = line(data, begin + BEGIN.len());
        at = first.next;
        let Some(label) = first.content.strip_suffix(DASHES) else { continue };
        let mut has_headers = false;
        loop {
            if at == data.len() {
                return None;
            }
            let header = line(data, at);
            if !header.content.contains(&b':') {
                break;
            }
            (has_headers, at) = (true, header.next);
        }
        if has_headers && end < at {
            continue;
        }
        let trailer = &data[after..];
        let Some(rest) = trailer.strip_prefix(label).and_then(|rest| rest.strip_prefix(DASHES)) else { continue };
        if !line(rest, 0).content.is_empty() {
            continue;
        }
        // An empty block ends in the line below its label.
        let base64: Vec<u8> =
            data.get(at..end).unwrap_or_default().iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect();
        let Ok(content) = BASE64.decode(base64) else { continue };
        *text = &data[line(data, after).next..];
        return Some(Block { label: String::from_utf8_lossy(label).into_owned(), has_headers, content });
    }
}

/// All blocks of a text.
pub(crate) fn blocks(mut text: &[u8]) -> impl Iterator<Item = Block> {
    std::iter::from_fn(move || next(&mut text))
}

/// A line without spaces at its end, and the place of the next one.
struct Line<'t> {
    content: &'t [u8],
    next: usize,
}

/// The line that begins there (`getLine`).
fn line(text: &[u8], start: usize) -> Line<'_> {
    let rest = &text[start..];
    let (content, next) = match memchr(b'\n', rest) {
        Some(end) => (rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]), start + end + 1),
        None => (rest, text.len()),
    };
    let length = content.iter().rposition(|byte| !b" \t".contains(byte)).map_or(0, |last| last + 1);
    Line { content: &content[..length], next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_as_in_go() {
        let block = |label: &str, has_headers, content: &[u8]| Block {
            label: label.into(),
            has_headers,
            content: content.into(),
        };
        let table: &[(&str, &[Block])] = &[
            ("", &[]),
            ("x\n-----BEGIN A-----\nYWI=\n-----END A-----\n", &[block("A", false, b"ab")]),
            ("-----BEGIN A B-----\nk: v\n\nYW\n I=\n-----END A B-----", &[block("A B", true, b"ab")]),
            ("-----BEGIN A-----\n-----END A-----\n", &[block("A", false, b"")]),
            (
                "-----BEGIN A-----\nYWI=\n-----END B-----\n-----BEGIN C-----\nYWI=\n-----END C-----\n",
                &[block("C", false, b"ab")],
            ),
            ("-----BEGIN A-----\n!\n-----END A-----\n", &[]),
            // Headers go on to the end of the text, beyond the line that was to end them.
            ("-----BEGIN a:b-----\nx:y\n-----END a:b-----\n-----BEGIN A-----\nYWI=\n-----END A-----\n", &[]),
            ("-----BEGIN A-----\nk: v\n-----END A-----\n", &[]),
            ("-----BEGIN A-----\nk: v\n\n-----END A-----\n", &[block("A", true, b"")]),
            ("-----BEGIN A-----\nYW\x0c=\n-----END A-----\n", &[]),
            ("-----BEGIN A-----\nYWJ=\n-----END A-----\n", &[block("A", false, b"ab")]),
            ("-----BEGIN A-----\n-----BEGIN B-----\nYWI=\n-----END B-----\n", &[block("B", false, b"ab")]),
        ];
        for (text, expected) in table {
            assert_eq!(blocks(text.as_bytes()).collect::<Vec<_>>(), *expected, "{text}");
        }
    }
}
