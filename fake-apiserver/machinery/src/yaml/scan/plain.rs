//! Plain scalars.

use super::super::cursor::{Breaks, Cursor, Problem};

/// Reads a scalar without quotes; the result is also whether a line break follows it.
///
/// # Errors
/// If its indentation has a tab.
pub(super) fn read(cursor: &mut Cursor<'_>, in_flow: bool, indent: isize) -> Result<(String, bool), Problem> {
    let (mut text, mut between) = (String::new(), Breaks::default());
    while !cursor.is_at_indicator() && cursor.byte(0) != b'#' {
        while !cursor.is_word_end(0) {
            let byte = cursor.byte(0);
            let ends = byte == b':' && cursor.is_word_end(1)
                || in_flow && matches!(byte, b',' | b'?' | b'[' | b']' | b'{' | b'}');
            if ends {
                break;
            }
            between.fold(&mut text);
            cursor.read(&mut text);
        }
        if !cursor.is_blank(0) && !cursor.is_break(0) {
            break;
        }
        between.gather(cursor, |cursor| {
            let is_bad = cursor.column() < indent && cursor.byte(0) == b'\t';
            if is_bad { Err(cursor.problem("found a tab character that violates indentation")) } else { Ok(()) }
        })?;
        if !in_flow && cursor.column() < indent {
            break;
        }
    }
    Ok((text, between.is_broken))
}
