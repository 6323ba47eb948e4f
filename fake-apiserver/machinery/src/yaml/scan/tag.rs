//! Tags, anchors and directives.

use super::super::cursor::{Cursor, Problem};

/// A directive, the line of a document that begins with `%`.
pub(super) enum Directive {
    /// The version of YAML.
    Version(u8, u8),
    /// A handle, and the prefix that it stands for.
    Tag(String, String),
}

/// Reads a directive and its line.
///
/// # Errors
/// If there is no such directive, or it is malformed.
pub(super) fn directive(cursor: &mut Cursor<'_>) -> Result<Directive, Problem> {
    cursor.skip();
    let name = word(cursor);
    if name.is_empty() {
        return Err(cursor.problem("could not find expected directive name"));
    }
    if !cursor.is_word_end(0) {
        return Err(cursor.problem("found unexpected non-alphabetical character"));
    }
    let directive = match &*name {
        "YAML" => version(cursor)?,
        "TAG" => tag_directive(cursor)?,
        _ => return Err(cursor.problem("found unknown directive name")),
    };
    cursor.skip_blanks();
    cursor.skip_comment();
    if !cursor.is_line_end(0) {
        return Err(cursor.problem("did not find expected comment or line break"));
    }
    cursor.skip_break();
    Ok(directive)
}

fn version(cursor: &mut Cursor<'_>) -> Result<Directive, Problem> {
    cursor.skip_blanks();
    let major = number(cursor)?;
    if cursor.byte(0) != b'.' {
        return Err(cursor.problem("did not find expected digit or '.' character"));
    }
    cursor.skip();
    Ok(Directive::Version(major, number(cursor)?))
}

fn number(cursor: &mut Cursor<'_>) -> Result<u8, Problem> {
    let (mut value, mut length) = (0, 0);
    while let digit @ b'0'..=b'9' = cursor.byte(0) {
        length += 1;
        if length > 2 {
            return Err(cursor.problem("found extremely long version number"));
        }
        value = value * 10 + (digit - b'0');
        cursor.skip();
    }
    if length == 0 { Err(cursor.problem("did not find expected version number")) } else { Ok(value) }
}

fn tag_directive(cursor: &mut Cursor<'_>) -> Result<Directive, Problem> {
    cursor.skip_blanks();
    let handle = handle(cursor)?;
    if handle.len() > 1 && !handle.ends_with('!') {
        return Err(cursor.problem("did not find expected '!'"));
    }
    if !cursor.is_blank(0) {
        return Err(cursor.problem("did not find expected whitespace"));
    }
    cursor.skip_blanks();
    let prefix = uri(cursor, "")?;
    if !cursor.is_word_end(0) {
        return Err(cursor.problem("did not find expected whitespace or line break"));
    }
    Ok(Directive::Tag(handle, prefix))
}

/// Reads the name of an anchor or alias.
///
/// # Errors
/// If it is empty, or something else follows it.
pub(super) fn anchor(cursor: &mut Cursor<'_>) -> Result<String, Problem> {
    cursor.skip();
    let name = word(cursor);
    let ends = cursor.is_word_end(0) || b"?:,]}%@`".contains(&cursor.byte(0));
    if name.is_empty() || !ends {
        return Err(cursor.problem("did not find expected alphabetic or numeric character"));
    }
    Ok(name)
}

/// Reads a tag: its handle, which may be "", and the rest.
///
/// # Errors
/// If it is malformed.
pub(super) fn tag(cursor: &mut Cursor<'_>) -> Result<(String, String), Problem> {
    let tag = if cursor.byte(1) == b'<' {
        cursor.skip();
        cursor.skip();
        let suffix = uri(cursor, "")?;
        if cursor.byte(0) != b'>' {
            return Err(cursor.problem("did not find the expected '>'"));
        }
        cursor.skip();
        (String::new(), suffix)
    } else {
        let handle = handle(cursor)?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = uri(cursor, "")?;
            (handle, suffix)
        } else {
            match uri(cursor, &handle)? {
                suffix if suffix.is_empty() => (suffix, "!".to_owned()),
                suffix => ("!".to_owned(), suffix),
            }
        }
    };
    if !cursor.is_word_end(0) {
        return Err(cursor.problem("did not find expected whitespace or line break"));
    }
    Ok(tag)
}

fn word(cursor: &mut Cursor<'_>) -> String {
    let mut word = String::new();
    while cursor.is_word() {
        cursor.read(&mut word);
    }
    word
}

/// Reads `!`, `!word` or `!word!`.
fn handle(cursor: &mut Cursor<'_>) -> Result<String, Problem> {
    if cursor.byte(0) != b'!' {
        return Err(cursor.problem("did not find expected '!'"));
    }
    let mut handle = String::new();
    cursor.read(&mut handle);
    handle.push_str(&word(cursor));
    if cursor.byte(0) == b'!' {
        cursor.read(&mut handle);
    }
    Ok(handle)
}

/// Reads the rest of a tag that begins with `head`, whose first character is not part of it.
fn uri(cursor: &mut Cursor<'_>, head: &str) -> Result<String, Problem> {
    let mut found = head.get(1..).unwrap_or_default().as_bytes().to_vec();
    let mut is_empty = head.is_empty();
    while cursor.is_word() || b";/?:@&=+$,.!~*'()[]%".contains(&cursor.byte(0)) {
        match cursor.byte(0) {
            b'%' => octets(cursor, &mut found)?,
            byte => {
                found.push(byte);
                cursor.skip();
            }
        }
        is_empty = false;
    }
    if is_empty {
        Err(cursor.problem("did not find expected tag URI"))
    } else {
        Ok(String::from_utf8_lossy(&found).into())
    }
}

/// Reads the octets of one escaped character.
fn octets(cursor: &mut Cursor<'_>, into: &mut Vec<u8>) -> Result<(), Problem> {
    let mut left = None;
    while left != Some(0) {
        let digit = |ahead| char::from(cursor.byte(ahead)).to_digit(16).filter(|_| cursor.byte(0) == b'%');
        let Some((high, low)) = digit(1).zip(digit(2)) else {
            return Err(cursor.problem("did not find URI escaped octet"));
        };
        let octet = (high << 4 | low) as u8;
        let rest = match (left, octet) {
            (None, 0..0x80) => 0,
            (None, 0xC0..0xE0) => 1,
            (None, 0xE0..0xF0) => 2,
            (None, 0xF0..0xF8) => 3,
            (None, _) => return Err(cursor.problem("found an incorrect leading UTF-8 octet")),
            (Some(left), 0x80..0xC0) => left - 1,
            (Some(_), _) => return Err(cursor.problem("found an incorrect trailing UTF-8 octet")),
        };
        into.push(octet);
        (0..3).for_each(|_| cursor.skip());
        left = Some(rest);
    }
    Ok(())
}
