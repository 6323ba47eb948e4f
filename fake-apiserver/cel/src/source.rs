//! The text of an expression, places in it, and findings at them.
//!
//! Port of `common/source.go`, `common/errors.go` and `common/error.go` of cel-go v0.29.2.

use std::fmt;

/// The most errors that one compilation reports; further ones are counted.
const MAX_ERRORS: usize = 100;
/// The longest line that is shown below an error, in bytes.
const MAX_SNIPPET: usize = 16384;

/// The text of an expression, as code points.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) chars: Vec<char>,
    /// The start of each line but the first.
    lines: Vec<usize>,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let lines = chars.iter().enumerate().filter(|(_, c)| **c == '\n').map(|(at, _)| at + 1).collect();
        Self { chars, lines }
    }

    pub(crate) fn text(&self, from: usize, to: usize) -> String {
        self.chars[from.min(self.chars.len())..to.min(self.chars.len())].iter().collect()
    }

    /// The line, from 1, and the column, from 0, of a code point; -1 and -1 without one.
    fn place(&self, at: Option<usize>) -> (i64, i64) {
        let Some(at) = at else { return (-1, -1) };
        if self.chars.is_empty() {
            return (1, -1);
        }
        let line = self.lines.partition_point(|start| *start <= at);
        let start = if line == 0 { 0 } else { self.lines[line - 1] };
        (line as i64 + 1, (at - start) as i64)
    }

    fn snippet(&self, line: i64) -> Option<String> {
        if line < 1 || self.chars.is_empty() || line as usize > self.lines.len() + 1 {
            return None;
        }
        let line = line as usize;
        let start = if line == 1 { 0 } else { self.lines[line - 2] };
        let end = self.lines.get(line - 1).map_or(self.chars.len(), |next| next - 1);
        Some(self.text(start, end))
    }
}

/// A finding: the message, and the index of its code point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) at: Option<usize>,
    pub(crate) message: String,
}

/// The findings of a compilation.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Finding>,
    count: usize,
}

impl Findings {
    pub(crate) fn add(&mut self, at: Option<usize>, message: impl Into<String>) {
        self.count += 1;
        if self.count <= MAX_ERRORS {
            self.kept.push(Finding { at, message: message.into() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The error with these findings, if there are any.
    pub(crate) fn into_error(self, source: &Source) -> Option<CompileError> {
        if self.is_empty() {
            return None;
        }
        let mut kept = self.kept;
        kept.sort_by_key(|finding| source.place(finding.at));
        let mut shown: Vec<String> = kept.iter().map(|finding| display(finding, source)).collect();
        if self.count > MAX_ERRORS {
            shown.push(format!("{} more errors were truncated", self.count - MAX_ERRORS));
        }
        Some(CompileError { text: shown.join("\n") })
    }
}

fn display(finding: &Finding, source: &Source) -> String {
    let (line, column) = source.place(finding.at);
    let mut text = format!("ERROR: <input>:{line}:{}: {}", column + 1, finding.message);
    if let Some(snippet) = source.snippet(line).filter(|snippet| snippet.len() <= MAX_SNIPPET) {
        let snippet = snippet.replace('\t', " ");
        text.push_str("\n | ");
        text.push_str(&snippet);
        text.push_str("\n | ");
        let mut chars = snippet.chars();
        for _ in 0..column {
            let Some(c) = chars.next() else { break };
            text.push(if c.len_utf8() > 1 { '\u{ff0e}' } else { '.' });
        }
        text.push(if chars.next().is_some_and(|c| c.len_utf8() > 1) { '\u{ff3e}' } else { '^' });
    }
    text
}

/// An error of compiling an expression, with cel-go's text: each finding with its line and a mark below the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    text: String,
}

impl CompileError {
    /// The error of an expression that no finding explains.
    pub(crate) fn unknown(source: &Source) -> Self {
        let finding = Finding { at: None, message: "unknown error".to_owned() };
        Self { text: display(&finding, source) }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for CompileError {}
