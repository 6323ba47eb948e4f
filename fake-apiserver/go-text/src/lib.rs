//! Texts and numbers as Go prints them, for all who print some: texts in quotes, with escapes for what does not show.
//!
//! Follows `strconv/quote.go` and `strconv/ftoa.go` of Go 1.26.

use std::fmt::Write;

/// A text in double quotes: `strconv.Quote`, which `%q` prints.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    match text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        true => quoted.push_str(text),
        false => text.chars().for_each(|char| push_escaped(&mut quoted, char, '"')),
    }
    quoted.push('"');
    quoted
}

/// A character in single quotes: `strconv.QuoteRune`, which `%q` prints.
pub fn quote_char(char: char) -> String {
    let mut quoted = String::from("'");
    push_escaped(&mut quoted, char, '\'');
    quoted.push('\'');
    quoted
}

/// A number in as few digits as needed: `strconv.FormatFloat` with the format `g`.
pub fn float(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    match scientific.split_once('e').and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?))) {
        Some((digits, exponent @ ..-4)) => format!("{digits}e-{:02}", -exponent),
        Some((digits, exponent @ 6..)) => format!("{digits}e+{exponent:02}"),
        _ => value.to_string(),
    }
}

/// Whether a character shows as itself (`strconv.IsPrint`), which Rust's own escaping knows. (It stands second there since a combining
/// character would be escaped at the start.)
pub fn is_printable(char: char) -> bool {
    matches!(char, '"' | '\'') || ['a', char].iter().collect::<String>().escape_debug().nth(1) == Some(char)
}

fn push_escaped(quoted: &mut String, char: char, quote: char) {
    let letter = match char {
        '\\' => '\\',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        char if char == quote => quote,
        _ => return push_plain(quoted, char),
    };
    quoted.extend(['\\', letter]);
}

fn push_plain(quoted: &mut String, char: char) {
    let written = match u32::from(char) {
        code @ (0..0x20 | 0x7f) => write!(quoted, "\\x{code:02x}"),
        _ if is_printable(char) => quoted.write_char(char),
        code @ 0..0x1_0000 => write!(quoted, "\\u{code:04x}"),
        code => write!(quoted, "\\U{code:08x}"),
    };
    written.expect("writing to a String cannot fail");
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
            ("\u{a0}\u{ad}\u{2028}\u{feff}", r#""\u00a0\u00ad\u2028\ufeff""#),
            ("\u{301}\u{200b}\u{e0001}\u{fffd}", "\"\u{301}\\u200b\\U000e0001\u{fffd}\""),
            ("😀\u{10ffff}", r#""😀\U0010ffff""#),
        ] {
            assert_eq!(quote(text), expected);
        }
    }

    #[test]
    fn numbers() {
        let numbers = [0.0, 1.0, 0.005, 1.25, 123_456.0, 1_000_000.0, 326_205_502.0, u64::MAX as f64, 4.7531e-5];
        let expected = "0 1 0.005 1.25 123456 1e+06 3.26205502e+08 1.8446744073709552e+19 4.7531e-05";
        assert_eq!(numbers.map(float).join(" "), expected);
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(float), ["+Inf", "-Inf", "NaN"]);
    }

    #[test]
    fn characters() {
        for (char, expected) in
            [('x', "'x'"), ('\'', r"'\''"), ('"', "'\"'"), ('\0', r"'\x00'"), ('Ã', "'Ã'"), ('\u{80}', r"'\u0080'")]
        {
            assert_eq!(quote_char(char), expected);
        }
    }
}
