//! A place in a text, and the steps from there.

use std::borrow::Cow;
use std::fmt;

/// The reason that a text is not YAML, in Go's words.
#[derive(Debug, PartialEq)]
pub(super) struct Problem {
    /// The line that the words name; 0 for none.
    pub(super) line: usize,
    pub(super) words: Cow<'static, str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.words),
            line => write!(f, "line {line}: {}", self.words),
        }
    }
}

/// A place in a text. The text has no NUL, which stands for its end.
pub(super) struct Cursor<'t> {
    text: &'t str,
    /// The place in bytes, and in characters.
    at: usize,
    index: usize,
    /// Counted from 0.
    line: usize,
    column: isize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { text, at: 0, index: 0, line: 0, column: 0 }
    }

    /// The place in bytes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The place in characters.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// The line, counted from 0.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The column, counted from 0.
    pub(super) fn column(&self) -> isize {
        self.column
    }

    /// The problem that there is at this place.
    pub(super) fn problem(&self, words: impl Into<Cow<'static, str>>) -> Problem {
        Problem { line: if self.line == 0 { 0 } else { self.line + 1 }, words: words.into() }
    }

    /// The byte that many bytes ahead; 0 behind the end.
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Whether the text goes on like that.
    pub(super) fn sees(&self, text: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(text.as_bytes())
    }

    pub(super) fn is_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Whether there is a space or tab.
    pub(super) fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    /// Whether there is a line break of YAML 1.1.
    pub(super) fn is_break(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            b'\r' | b'\n' => true,
            0xC2 => self.byte(ahead + 1) == 0x85,
            0xE2 => self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xA8 | 0xA9),
            _ => false,
        }
    }

    /// Whether a line or the text ends there.
    pub(super) fn is_line_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.is_break(ahead)
    }

    /// Whether a word ends there.
    pub(super) fn is_word_end(&self, ahead: usize) -> bool {
        self.is_blank(ahead) || self.is_line_end(ahead)
    }

    /// Whether there is a letter or digit in ASCII, `_` or `-`.
    pub(super) fn is_word(&self) -> bool {
        matches!(self.byte(0), b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-')
    }

    /// Whether a line begins with `---` or `...`, alone or before other words.
    pub(super) fn is_at_indicator(&self) -> bool {
        self.column == 0 && (self.sees("---") || self.sees("...")) && self.is_word_end(3)
    }

    /// The character, stepped over.
    fn next(&mut self) -> Option<char> {
        let letter = self.text[self.at..].chars().next()?;
        self.at += letter.len_utf8();
        self.index += 1;
        self.column += 1;
        Some(letter)
    }

    pub(super) fn skip(&mut self) {
        self.next();
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank(0) {
            self.skip();
        }
    }

    /// Steps to the end of the line, if there is a comment.
    pub(super) fn skip_comment(&mut self) {
        if self.byte(0) == b'#' {
            while !self.is_line_end(0) {
                self.skip();
            }
        }
    }

    /// Moves a character to a text.
    pub(super) fn read(&mut self, into: &mut String) {
        into.extend(self.next());
    }

    /// Moves a line break to a text, where it is `\n`, unless it is one of Unicode's separators.
    pub(super) fn read_break(&mut self, into: &mut String) {
        if !self.is_break(0) {
            return;
        }
        let letter = self.next();
        if letter == Some('\r') && self.byte(0) == b'\n' {
            self.skip();
        }
        into.extend(letter.map(|letter| if matches!(letter, '\r' | '\u{85}') { '\n' } else { letter }));
        self.column = 0;
        self.line += 1;
    }

    pub(super) fn skip_break(&mut self) {
        self.read_break(&mut String::new());
    }

    /// Steps to the beginning of a line, at the end.
    pub(super) fn end_line(&mut self) {
        if self.column != 0 {
            self.column = 0;
            self.line += 1;
        }
    }
}

/// Line breaks within a scalar, and the blanks before them.
#[derive(Default)]
pub(super) struct Breaks {
    blanks: String,
    first: String,
    others: String,
    /// Whether there is a line break, perhaps one that counts for nothing.
    pub(super) is_broken: bool,
}

impl Breaks {
    /// Steps over blanks and line breaks. `check` may refuse a blank behind a line break.
    ///
    /// # Errors
    /// Those of `check`.
    pub(super) fn gather(
        &mut self,
        cursor: &mut Cursor<'_>,
        check: impl Fn(&Cursor<'_>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        loop {
            if cursor.is_blank(0) {
                if self.is_broken {
                    check(cursor)?;
                    cursor.skip();
                } else {
                    cursor.read(&mut self.blanks);
                }
            } else if cursor.is_break(0) {
                let into = if self.is_broken { &mut self.others } else { &mut self.first };
                cursor.read_break(into);
                self.is_broken = true;
                self.blanks.clear();
            } else {
                return Ok(());
            }
        }
    }

    /// Appends the blanks, or the line breaks, folded: a single one is a space.
    pub(super) fn fold(&mut self, into: &mut String) {
        match self.is_broken {
            false => into.push_str(&self.blanks),
            true if self.first != "\n" => into.extend([&*self.first, &self.others]),
            true if self.others.is_empty() => into.push(' '),
            true => into.push_str(&self.others),
        }
        *self = Breaks::default();
    }
}
