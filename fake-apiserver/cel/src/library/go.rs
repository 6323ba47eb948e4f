//! Texts as in Go.

/// Go's `unicode.IsSpace`.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Go's `%q`: the text in quotes, with escapes for characters that cannot be printed.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c if (c as u32) < 0x80 && c.is_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if c.is_control()
                || (c != ' ' && c.is_whitespace())
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}') =>
            {
                match c as u32 {
                    code if code > 0xffff => out.push_str(&format!("\\U{code:08x}")),
                    code => out.push_str(&format!("\\u{code:04x}")),
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
