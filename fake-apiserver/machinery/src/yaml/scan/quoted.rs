//! Scalars in quotes.

use super::super::cursor::{Breaks, Cursor, Problem};

/// Reads a scalar in single or double quotes.
///
/// # Errors
/// If it does not end, or has an escape that there is not.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<String, Problem> {
    let (quote, mut text) = (cursor.byte(0), String::new());
    cursor.skip();
    loop {
        if cursor.is_at_indicator() {
            return Err(cursor.problem("found unexpected document indicator"));
        }
        if cursor.is_end() {
            return Err(cursor.problem("found unexpected end of stream"));
        }
        let mut between = Breaks::default();
        while !cursor.is_word_end(0) {
            match cursor.byte(0) {
                b'\'' if quote == b'\'' && cursor.byte(1) == b'\'' => {
                    cursor.skip();
                    cursor.read(&mut text);
                }
                byte if byte == quote => break,
                b'\\' if quote == b'"' && cursor.is_break(1) => {
                    cursor.skip();
                    cursor.skip_break();
                    between.is_broken = true;
                    break;
                }
                b'\\' if quote == b'"' => text.push(escaped(cursor)?),
                _ => cursor.read(&mut text),
            }
        }
        if cursor.byte(0) == quote {
            cursor.skip();
            return Ok(text);
        }
        between.gather(cursor, |_| Ok(()))?;
        between.fold(&mut text);
    }
}

/// The character that an escape stands for.
fn escaped(cursor: &mut Cursor<'_>) -> Result<char, Problem> {
    let digits = match cursor.byte(1) {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        other => {
            let letter = single(other).ok_or_else(|| cursor.problem("found unknown escape character"))?;
            cursor.skip();
            cursor.skip();
            return Ok(letter);
        }
    };
    cursor.skip();
    cursor.skip();
    let mut value = 0_u32;
    for ahead in 0..digits {
        let digit = char::from(cursor.byte(ahead)).to_digit(16);
        let digit = digit.ok_or_else(|| cursor.problem("did not find expected hexdecimal number"))?;
        value = value << 4 | digit;
    }
    let letter = char::from_u32(value);
    let letter = letter.ok_or_else(|| cursor.problem("found invalid Unicode character escape code"))?;
    (0..digits).for_each(|_| cursor.skip());
    Ok(letter)
}

/// The character that an escape of one letter stands for.
fn single(letter: u8) -> Option<char> {
    Some(match letter {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\x0B',
        b'f' => '\x0C',
        b'r' => '\r',
        b'e' => '\x1B',
        b' ' | b'"' | b'\'' | b'\\' => char::from(letter),
        b'N' => '\u{85}',
        b'_' => '\u{A0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}
