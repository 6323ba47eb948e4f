//! Texts: the part that needs no escapes, and Go's quotes in messages.

use std::fmt::Write;

/// Bytes that are not copied as they are: control characters, and some others.
pub(super) struct Specials([bool; 256]);

impl Specials {
    /// Control characters and `others`.
    pub(super) const fn and(others: &[u8]) -> Specials {
        let mut specials = [false; 256];
        let mut index = 0;
        while index < 0x20 {
            specials[index] = true;
            index += 1;
        }
        index = 0;
        while index < others.len() {
            specials[others[index] as usize] = true;
            index += 1;
        }
        Specials(specials)
    }

    /// The number of bytes before the first special one.
    pub(super) fn plain_len(&self, bytes: &[u8]) -> usize {
        let is_special = |byte: &u8| self.0[usize::from(*byte)];
        // Eight at once, without a branch for each.
        let is_plain = |block: &&[u8]| !block.iter().fold(false, |found, byte| found | is_special(byte));
        let len = 8 * bytes.chunks_exact(8).take_while(is_plain).count();
        len + bytes[len..].iter().take_while(|byte| !is_special(byte)).count()
    }
}

/// `strconv.Quote`.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            _ => push_escaped(&mut quoted, char),
        }
    }
    quoted.push('"');
    quoted
}

/// `quoteChar` of encoding/json: a byte of the input, taken for a character, in single quotes.
pub(super) fn char_literal(byte: u8) -> String {
    let mut quoted = String::from("'");
    match byte {
        b'\'' => quoted.push_str("\\'"),
        _ => push_escaped(&mut quoted, char::from(byte)),
    }
    quoted.push('\'');
    quoted
}

fn push_escaped(quoted: &mut String, char: char) {
    let escape = match char {
        '\\' => "\\\\",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        _ => "",
    };
    if !escape.is_empty() {
        quoted.push_str(escape);
        return;
    }
    let written = match u32::from(char) {
        code @ (0..0x20 | 0x7f) => write!(quoted, "\\x{code:02x}"),
        _ if is_printable(char) => quoted.write_char(char),
        code @ 0..0x1_0000 => write!(quoted, "\\u{code:04x}"),
        code => write!(quoted, "\\U{code:08x}"),
    };
    written.expect("writing to a String cannot fail");
}

/// Whether a character shows as itself, which Rust's own escaping knows. (It stands second there since a combining
/// character would be escaped at the start.)
pub fn is_printable(char: char) -> bool {
    matches!(char, '"' | '\'') || ['a', char].iter().collect::<String>().escape_debug().nth(1) == Some(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_like_go() {
        for (text, quoted) in [
            ("plain 'x'", r#""plain 'x'""#),
            ("\"\\\n\u{0}\u{7f}\u{7}", r#""\"\\\n\x00\x7f\a""#),
            ("é\u{301}\u{200b}\u{e0001}\u{fffd}", "\"é\u{301}\\u200b\\U000e0001\u{fffd}\""),
        ] {
            assert_eq!(quote(text), quoted);
        }
    }

    #[test]
    fn a_byte_is_shown_as_a_character() {
        for (byte, literal) in [(b'x', "'x'"), (b'\'', r"'\''"), (b'"', "'\"'"), (0, r"'\x00'"), (0xc3, "'Ã'")] {
            assert_eq!(char_literal(byte), literal);
        }
    }
}
