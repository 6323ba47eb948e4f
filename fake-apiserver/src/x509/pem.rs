//! Blocks of PEM, as Go reads them: `Decode` of `encoding/pem` (Go 1.26).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A block, such as that of a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The words in its first line: `CERTIFICATE`.
    pub(crate) label: String,
    pub(crate) has_headers: bool,
    pub(crate) content: Vec<u8>,
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "\n-----END ";
const DASHES: &str = "-----";

/// Takes the first well-formed block off the text, and all before it; `None` if there is none.
pub(crate) fn next(text: &mut &str) -> Option<Block> {
    let mut rest = *text;
    loop {
        let end = rest.find(END)?;
        let found = begin(rest, end).and_then(|(label, body)| block(label, &rest[body..]));
        if let Some((block, after)) = found {
            *text = after;
            return Some(block);
        }
        rest = &rest[end + END.len()..];
    }
}

/// All blocks of a text.
pub(crate) fn blocks(mut text: &str) -> impl Iterator<Item = Block> {
    std::iter::from_fn(move || next(&mut text))
}

/// The label of the last block that begins before `end`, and the place of the line below it.
fn begin(text: &str, end: usize) -> Option<(&str, usize)> {
    let start = text[..end].rfind(BEGIN).filter(|start| *start == 0 || text[..*start].ends_with('\n'))?;
    let (line, after) = line(&text[start + BEGIN.len()..]);
    Some((line.strip_suffix(DASHES)?, text.len() - after.len()))
}

/// The first line without spaces at its end, and the rest.
fn line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.strip_suffix('\r').unwrap_or(line).trim_end_matches([' ', '\t']), rest)
}

/// The block whose headers begin the text, and the rest.
fn block<'t>(label: &str, mut text: &'t str) -> Option<(Block, &'t str)> {
    let mut has_headers = false;
    loop {
        let (header, rest) = line(text);
        if rest.is_empty() && header.is_empty() {
            return None;
        }
        if !header.contains(':') {
            break;
        }
        (has_headers, text) = (true, rest);
    }
    // An empty block ends in the line below its label.
    let (content, trailer) = match text.strip_prefix(&END[1..]) {
        Some(trailer) if !has_headers => ("", trailer),
        _ => text.split_once(END)?,
    };
    let (last, rest) = line(trailer.strip_prefix(label)?.strip_prefix(DASHES)?);
    if !last.is_empty() {
        return None;
    }
    let base64: String = content.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let content = STANDARD.decode(base64).ok()?;
    Some((Block { label: label.to_owned(), has_headers, content }, rest))
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
            ("-----BEGIN A-----\n-----BEGIN B-----\nYWI=\n-----END B-----\n", &[block("B", false, b"ab")]),
        ];
        for (text, expected) in table {
            assert_eq!(blocks(text).collect::<Vec<_>>(), *expected, "{text}");
        }
    }
}
