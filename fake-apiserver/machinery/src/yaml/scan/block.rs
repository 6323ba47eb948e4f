//! Scalars of several lines: literal (`|`) and folded (`>`) ones.

use super::super::cursor::{Cursor, Problem};

/// The line breaks at the end that belong to the scalar.
#[derive(Clone, Copy, PartialEq)]
enum Chomping {
    None,
    One,
    All,
}

/// Reads a literal or folded scalar, within a block that is indented by `parent` (-1 for none).
///
/// # Errors
/// If its header is wrong, or its indentation has a tab.
pub(super) fn read(cursor: &mut Cursor<'_>, parent: isize) -> Result<String, Problem> {
    let is_literal = cursor.byte(0) == b'|';
    cursor.skip();
    let (chomping, increment) = header(cursor)?;
    let mut indent = if increment > 0 { parent.max(0) + increment } else { 0 };
    let (mut text, mut first, mut others) = (String::new(), String::new(), String::new());
    breaks(cursor, &mut indent, parent, &mut others)?;
    let mut was_blank = false;
    while cursor.column() == indent && !cursor.is_end() {
        let is_blank = cursor.is_blank(0);
        if !is_literal && !was_blank && !is_blank && first == "\n" {
            if others.is_empty() {
                text.push(' ');
            }
        } else {
            text.push_str(&first);
        }
        text.push_str(&others);
        (first, others, was_blank) = (String::new(), String::new(), is_blank);
        while !cursor.is_line_end(0) {
            cursor.read(&mut text);
        }
        cursor.read_break(&mut first);
        breaks(cursor, &mut indent, parent, &mut others)?;
    }
    if chomping != Chomping::None {
        text.push_str(&first);
    }
    if chomping == Chomping::All {
        text.push_str(&others);
    }
    Ok(text)
}

/// The rest of the first line: the line breaks that are kept, and the indentation; 0 if it does not say.
fn header(cursor: &mut Cursor<'_>) -> Result<(Chomping, isize), Problem> {
    let (mut chomping, mut increment) = (None, None);
    while let byte @ (b'+' | b'-' | b'0'..=b'9') = cursor.byte(0) {
        match byte {
            b'+' | b'-' if chomping.is_none() => {
                chomping = Some(if byte == b'+' { Chomping::All } else { Chomping::None });
            }
            b'0' if increment.is_none() => {
                return Err(cursor.problem("found an indentation indicator equal to 0"));
            }
            b'1'..=b'9' if increment.is_none() => increment = Some(isize::from(byte as i8 - b'0' as i8)),
            _ => break,
        }
        cursor.skip();
    }
    cursor.skip_blanks();
    cursor.skip_comment();
    if !cursor.is_line_end(0) {
        return Err(cursor.problem("did not find expected comment or line break"));
    }
    cursor.skip_break();
    Ok((chomping.unwrap_or(Chomping::One), increment.unwrap_or(0)))
}

/// Steps over indentation and empty lines. If the indentation is not known (0), the longest of these lines decides.
fn breaks(cursor: &mut Cursor<'_>, indent: &mut isize, parent: isize, into: &mut String) -> Result<(), Problem> {
    let mut longest = 0;
    loop {
        while (*indent == 0 || cursor.column() < *indent) && cursor.byte(0) == b' ' {
            cursor.skip();
        }
        longest = longest.max(cursor.column());
        if (*indent == 0 || cursor.column() < *indent) && cursor.byte(0) == b'\t' {
            return Err(cursor.problem("found a tab character where an indentation space is expected"));
        }
        if !cursor.is_break(0) {
            break;
        }
        cursor.read_break(into);
    }
    if *indent == 0 {
        *indent = longest.max(parent + 1).max(1);
    }
    Ok(())
}
