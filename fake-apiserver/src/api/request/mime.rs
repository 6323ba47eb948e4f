//! The parameters of a media type, as `mime.ParseMediaType` of Go 1.26 reads them (`mime/mediatype.go`).

use std::collections::HashMap;

/// Whether a text, all that is behind a media type, is a list of parameters such as `; charset=utf-8`. One may occur twice with the
/// same value, and a semicolon may stand at the end.
pub(super) fn are_parameters(text: &str) -> bool {
    let mut known = HashMap::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && rest.trim() != ";" {
        let Some((name, value, behind)) = parameter(rest) else { return false };
        if known.get(&name).is_some_and(|earlier| *earlier != value) {
            return false;
        }
        known.insert(name, value);
        rest = behind.trim_start();
    }
    true
}

/// The name in lower case and the value of the first parameter, and the text behind it.
fn parameter(text: &str) -> Option<(String, String, &str)> {
    let (name, rest) = token(text.strip_prefix(';')?.trim_start())?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let (value, rest) = match rest.strip_prefix('"') {
        Some(quoted) => content(quoted)?,
        None => token(rest).map(|(value, rest)| (value.to_owned(), rest))?,
    };
    Some((name.to_ascii_lowercase(), value, rest))
}

/// The token at the beginning of a text, and what is behind it; `None` if there is none.
fn token(text: &str) -> Option<(&str, &str)> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_graphic() && !is_special(*byte)).count();
    (length > 0).then(|| text.split_at(length))
}

/// The content of a string up to its closing quote, and what is behind it; `None` if that is missing.
fn content(text: &str) -> Option<(String, &str)> {
    let mut content = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((content, &text[at + 1..])),
            // Other characters need no escape, so that this is a backslash.
            '\\' => content.push(
                letters.next_if(|(_, next)| u8::try_from(*next).is_ok_and(is_special)).map_or(letter, |(_, next)| next),
            ),
            letter => content.push(letter),
        }
    }
    None
}

fn is_special(byte: u8) -> bool {
    b"()<>@,;:\\\"/[]?=".contains(&byte)
}
