//! JSON as Go's YAML reads it before printing: the parser of go.yaml.in/yaml/v2 v2.4.4 reads JSON as the YAML that it is, with two
//! exceptions. NEXT LINE (U+0085) is a line break, at which strings are folded, and a key must end on its line, within 1,024 characters.
//!
//! GAP: YAML: the line in errors about objects that cannot be printed

use crate::json::encode;
use std::borrow::Cow;
use tree::Value;

const NEXT_LINE: char = '\u{85}';
/// The most characters of a key, its quotes among them.
const KEY_CHARACTERS: usize = 1024;

/// Changes a tree into the one that YAML reads from its JSON.
///
/// # Errors
/// If it is not YAML.
pub(super) fn reread(json: &str, tree: &mut Value) -> Result<(), String> {
    if !json.chars().all(crate::yaml::source::is_allowed) {
        return Err("control characters are not allowed".to_owned());
    }
    read(tree, json.contains(NEXT_LINE))
}

fn read(tree: &mut Value, folds: bool) -> Result<(), String> {
    match tree {
        Value::String(text) if folds => {
            if let Cow::Owned(folded) = folded(text)? {
                *text = folded.into();
            }
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| read(item, folds))?,
        Value::Object(fields) => {
            for (key, value) in fields {
                if matches!(folded(key)?, Cow::Owned(_)) || is_long(key) {
                    return Err("did not find expected ',' or '}'".to_owned());
                }
                read(value, folds)?;
            }
        }
        // `-0` is an integer there.
        Value::Number(number) if number.as_f64() == Some(0.0) => *number = 0.into(),
        _ => {}
    }
    Ok(())
}

fn is_long(key: &str) -> bool {
    // An escape has six characters.
    key.len() > KEY_CHARACTERS / 6 && String::from_utf8_lossy(&encode(&key)).chars().count() > KEY_CHARACTERS
}

/// A string whose line breaks are folded: one is a space, of several each but the first stays. Spaces around them vanish.
///
/// # Errors
/// If a line begins like the end of the document.
fn folded(text: &str) -> Result<Cow<'_, str>, String> {
    let mut lines = text.split(NEXT_LINE);
    let first = lines.next().unwrap_or_default();
    let (mut folded, mut breaks) = (first.trim_end_matches(' ').to_owned(), 0);
    let mut rest = lines.peekable();
    if rest.peek().is_none() {
        return Ok(text.into());
    }
    while let Some(line) = rest.next() {
        let is_last = rest.peek().is_none();
        if (line.starts_with("---") || line.starts_with("..."))
            && (line.get(3..4) == Some(" ") || line.len() == 3 && !is_last)
        {
            return Err("found unexpected document indicator".to_owned());
        }
        breaks += 1;
        let content = line.trim_start_matches(' ');
        if content.is_empty() && !is_last {
            continue;
        }
        match breaks {
            1 => folded.push(' '),
            _ => (1..breaks).for_each(|_| folded.push('\n')),
        }
        folded.push_str(if is_last { content } else { content.trim_end_matches(' ') });
        breaks = 0;
    }
    Ok(folded.into())
}
