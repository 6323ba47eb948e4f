//! Words of a text, as a POSIX shell splits them: quotes and backslashes, without variables, patterns and comments.

/// The words of a text.
///
/// # Errors
/// If a quotation has no end, or nothing follows the last backslash.
pub(super) fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\\' => match rest.next() {
                // A line goes on.
                Some('\n') => {}
                Some(c) => word.get_or_insert_default().push(c),
                None => return Err("nothing follows the last backslash".to_owned()),
            },
            '\'' | '"' => quoted(c, &mut rest, word.get_or_insert_default())?,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The rest of a quotation. Within `"`, a backslash stands for itself unless it is before one of the characters that would mean something.
fn quoted(quote: char, rest: &mut impl Iterator<Item = char>, word: &mut String) -> Result<(), String> {
    let unfinished = || format!("a quotation that begins with {quote} has no end");
    loop {
        match rest.next().ok_or_else(unfinished)? {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => match rest.next().ok_or_else(unfinished)? {
                '\n' => {}
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, expected) in [
            ("", &[][..]),
            (" --a=1\t-v  2\n", &["--a=1", "-v", "2"]),
            ("'a b' \"c d\"e f\\ g", &["a b", "c de", "f g"]),
            ("'' \"\" x''", &["", "", "x"]),
            (r#"'a\"b' "a\"b" "a\b" \'"#, &[r#"a\"b"#, "a\"b", r"a\b", "'"]),
            ("a\\\nb \"c\\\nd\"", &["ab", "cd"]),
        ] {
            assert_eq!(split(text).unwrap(), expected, "{text:?}");
        }
        for text in ["'a", "\"a", "a\\", "\"a\\"] {
            assert!(split(text).is_err(), "{text:?}");
        }
    }
}
