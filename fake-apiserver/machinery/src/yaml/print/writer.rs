//! The text that is being written, with the state that determines how the next character is written: the functions
//! `yaml_emitter_write_*` of go.yaml.in/yaml/v2 v2.4.4 (emitterc.go).

use super::style::{is_break, is_printable};
use std::fmt::Write;

/// The columns that a level is indented by.
pub(super) const INDENT: usize = 2;
/// The column behind which lines are folded.
const WIDTH: usize = 80;

pub(super) struct Writer {
    text: String,
    column: usize,
    /// Whether the last character is a separator.
    whitespace: bool,
    /// Whether the line has nothing but indentation and indicators yet.
    indention: bool,
}

impl Writer {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Writer { text: String::with_capacity(bytes), column: 0, whitespace: true, indention: true }
    }

    /// The whole text.
    pub(super) fn finish(mut self) -> String {
        self.indent(0);
        self.text
    }

    pub(super) fn begins_line(&self) -> bool {
        self.indention
    }

    /// Goes to that column, on a line that has nothing else.
    pub(super) fn indent(&mut self, to: usize) {
        if !self.indention || self.column > to || (self.column == to && !self.whitespace) {
            self.put('\n');
        }
        while self.column < to {
            self.put(' ');
        }
        (self.whitespace, self.indention) = (true, true);
    }

    pub(super) fn indicator(&mut self, indicator: &str, separate: bool, is_whitespace: bool, is_indention: bool) {
        if separate && !self.whitespace {
            self.put(' ');
        }
        indicator.chars().for_each(|letter| self.put(letter));
        self.whitespace = is_whitespace;
        self.indention &= is_indention;
    }

    /// An empty list or object.
    pub(super) fn empty(&mut self, begin: &str, end: &str) {
        self.indicator(begin, true, true, false);
        self.indicator(end, false, false, false);
    }

    /// A plain or single-quoted scalar, folded with that indentation.
    pub(super) fn flow(&mut self, text: &str, is_quoted: bool, folds: Option<usize>) {
        self.indicator(if is_quoted { "'" } else { "" }, true, false, false);
        let (mut spaces, mut breaks) = (false, false);
        for (at, letter) in text.char_indices() {
            if letter == ' ' {
                let is_inside = at > 0 && at + 1 < text.len() && !text[at + 1..].starts_with(' ');
                match folds.filter(|_| !spaces && self.column > WIDTH && is_inside) {
                    Some(indent) => self.indent(indent),
                    None => self.put(' '),
                }
                spaces = true;
            } else if is_break(letter) {
                self.put(letter);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.indent(folds.unwrap_or_default());
                }
                if is_quoted && letter == '\'' {
                    self.put(letter);
                }
                self.put(letter);
                (self.indention, spaces, breaks) = (false, false, false);
            }
        }
        self.indicator(if is_quoted { "'" } else { "" }, false, false, false);
        self.indention = false;
    }

    /// A double-quoted scalar, folded with that indentation.
    pub(super) fn double_quoted(&mut self, text: &str, folds: Option<usize>) {
        self.indicator("\"", true, false, false);
        let mut spaces = false;
        // Behind a byte order mark everything is escaped.
        let escapes_all = text.starts_with('\u{feff}');
        for (at, letter) in text.char_indices() {
            if escapes_all || !is_printable(letter) || is_break(letter) || matches!(letter, '"' | '\\') {
                self.escape(letter);
                spaces = false;
            } else if letter == ' ' {
                let is_inside = at > 0 && at + 1 < text.len();
                match folds.filter(|_| !spaces && self.column > WIDTH && is_inside) {
                    Some(indent) => {
                        self.indent(indent);
                        if text[at + 1..].starts_with(' ') {
                            self.put('\\');
                        }
                    }
                    None => self.put(' '),
                }
                spaces = true;
            } else {
                self.put(letter);
                spaces = false;
            }
        }
        self.indicator("\"", false, false, false);
        self.indention = false;
    }

    fn escape(&mut self, letter: char) {
        let name = match letter {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' | '\\' => letter,
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => return self.escape_code(u32::from(letter)),
        };
        self.put('\\');
        self.put(name);
    }

    fn escape_code(&mut self, code: u32) {
        let begin = self.text.len();
        match code {
            0..=0xff => write!(self.text, "\\x{code:02X}"),
            0x100..=0xffff => write!(self.text, "\\u{code:04X}"),
            _ => write!(self.text, "\\U{code:08X}"),
        }
        .expect("memory takes every write");
        self.column += self.text.len() - begin;
    }

    /// A scalar on lines of its own, with that indentation.
    pub(super) fn literal(&mut self, text: &str, indent: usize) {
        self.indicator("|", true, false, false);
        if text.starts_with(|letter| letter == ' ' || is_break(letter)) {
            self.indicator(&INDENT.to_string(), false, false, false);
        }
        let mut from_end = text.chars().rev();
        match (from_end.next().is_some_and(is_break), from_end.next().is_none_or(is_break)) {
            (false, _) => self.indicator("-", false, false, false),
            (true, true) => self.indicator("+", false, false, false),
            (true, false) => {}
        }
        self.put('\n');
        (self.indention, self.whitespace) = (true, true);
        let mut breaks = true;
        for letter in text.chars() {
            let is_break = is_break(letter);
            if breaks && !is_break {
                self.indent(indent);
            }
            self.put(letter);
            self.indention = is_break;
            breaks = is_break;
        }
    }

    fn put(&mut self, letter: char) {
        self.text.push(letter);
        self.column = if is_break(letter) { 0 } else { self.column + 1 };
    }
}
