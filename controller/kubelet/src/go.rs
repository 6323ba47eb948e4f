//! Text as Go formats it, where Kubernetes specifies no other format.

/// `strconv.Quote`: what `%q` prints.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\0'..=' ' | '\u{7f}' if character != ' ' => quoted.push_str(&format!("\\x{:02x}", u32::from(character))),
            _ if is_printable(character) => quoted.push(character),
            '\0'..='\u{ffff}' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted.push_str(&format!("\\U{:08x}", u32::from(character))),
        }
    }
    quoted.push('"');
    quoted
}

/// `strconv.IsPrint`. Rust's standard library has it only within `escape_debug`, which escapes a combining mark unless
/// it follows another character.
fn is_printable(character: char) -> bool {
    matches!(character, '\'') || format!("x{character}").escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_print_is_escaped() {
        for (text, expected) in [
            ("", r#""""#),
            ("value\n", r#""value\n""#),
            (r#"say "no" \ 'yes'"#, r#""say \"no\" \\ 'yes'""#),
            ("\u{7}\u{8}\u{c}\r\t\u{b}", r#""\a\b\f\r\t\v""#),
            ("\0\u{1b} \u{7f}", r#""\x00\x1b \x7f""#),
            ("größer 世界 e\u{301}", "\"größer 世界 e\u{301}\""),
            ("\u{a0}\u{2028}\u{feff}", r#""\u00a0\u2028\ufeff""#),
            ("😀\u{10ffff}", r#""😀\U0010ffff""#),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
