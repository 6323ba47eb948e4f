//! The text of a scenario, as blocks: text → blocks → text gives the same text back.
//!
//! A file is a list of blocks with one blank line between them. A block is commentary (`# …`), then perhaps a command
//! (one line, and indented lines that belong to it), then perhaps `----` and the observation. This module knows the shape
//! only, not the meaning of commands and observations.

use std::fmt;

/// The line between a command and its observation.
pub const RULE: &str = "----";

/// The beginning of the stamp that ends the opening paragraph of a blessed scenario.
const STAMP: &str = "# Blessed by ";

/// The text of a scenario: the opening paragraph, and the blocks that follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// All blocks in order. The first is commentary only.
    pub blocks: Vec<Block>,
}

/// A command with its commentary and its observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The line of the command (of the commentary, if there is no command), counted from 1.
    pub line: usize,
    /// Commentary lines with their `#`.
    pub comment: Vec<String>,
    /// The command and its indented lines; empty in a block of commentary.
    pub command: Vec<String>,
    /// The lines under `----`; `None` without one.
    pub observed: Option<Vec<String>>,
}

/// The reason why a text is not a scenario.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct SyntaxError {
    /// The line, counted from 1.
    pub line: usize,
    /// The error in words.
    pub problem: String,
}

impl SyntaxError {
    /// An error at `line`.
    pub fn new(line: usize, problem: impl Into<String>) -> Self {
        SyntaxError { line, problem: problem.into() }
    }
}

impl Text {
    /// Reads a scenario's blocks.
    pub fn parse(text: &str) -> Result<Text, SyntaxError> {
        let lines = text.lines().map(|line| line.trim_end_matches('\r'));
        let lines: Vec<(usize, &str)> = lines.enumerate().map(|(index, line)| (index + 1, line)).collect();
        let blocks = lines
            .split(|(_, line)| line.trim().is_empty())
            .filter(|lines| !lines.is_empty())
            .map(block)
            .collect::<Result<Vec<_>, _>>()?;
        match blocks.first() {
            Some(first) if first.command.is_empty() => Ok(Text { blocks }),
            _ => Err(SyntaxError::new(1, "a scenario opens with a paragraph (`# …`) that says why it exists")),
        }
    }

    /// The opening paragraph without its `#` and its stamp.
    pub fn summary(&self) -> String {
        let lines = self.opening().iter().filter(|line| !line.starts_with(STAMP));
        lines.map(|line| line.trim_start_matches('#').trim()).collect::<Vec<_>>().join(" ")
    }

    /// The server that the observations come from, if the opening paragraph ends with its stamp.
    pub fn blessed_by(&self) -> Option<&str> {
        self.opening().last()?.strip_prefix(STAMP)
    }

    /// Ends the opening paragraph with the stamp of `server`; `None` takes the stamp away.
    pub fn bless(&mut self, server: Option<&str>) {
        if let Some(opening) = self.blocks.first_mut() {
            opening.comment.retain(|line| !line.starts_with(STAMP));
            opening.comment.extend(server.map(|server| format!("{STAMP}{server}")));
        }
    }

    fn opening(&self) -> &[String] {
        self.blocks.first().map(|block| block.comment.as_slice()).unwrap_or_default()
    }
}

fn block(lines: &[(usize, &str)]) -> Result<Block, SyntaxError> {
    let comments = lines.iter().take_while(|(_, line)| line.starts_with('#')).count();
    let (comment, rest) = lines.split_at(comments);
    let rule = rest.iter().position(|(_, line)| *line == RULE);
    let (command, observed) = match rule {
        Some(rule) => (&rest[..rule], Some(&rest[rule + 1..])),
        None => (rest, None),
    };
    let line = command.first().or(lines.first()).map_or(0, |(line, _)| *line);
    if let Some((line, _)) = command.first().filter(|(_, text)| text.starts_with(' ')) {
        return Err(SyntaxError::new(*line, "an indented line belongs to a command, and none is open here"));
    }
    if let Some((line, text)) = command.iter().skip(1).find(|(_, text)| !text.starts_with("  ")) {
        return Err(SyntaxError::new(
            *line,
            format!("expected `{RULE}`, a blank line or an indented line, not {text:?}"),
        ));
    }
    if command.is_empty() && observed.is_some() {
        return Err(SyntaxError::new(line, format!("`{RULE}` without a command")));
    }
    let owned = |lines: &[(usize, &str)]| lines.iter().map(|(_, text)| (*text).to_owned()).collect();
    Ok(Block { line, comment: owned(comment), command: owned(command), observed: observed.map(owned) })
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, block) in self.blocks.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{block}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.comment.iter().chain(&self.command) {
            writeln!(f, "{line}")?;
        }
        if let Some(observed) = &self.observed {
            writeln!(f, "{RULE}")?;
            for line in observed {
                writeln!(f, "{line}")?;
            }
        }
        Ok(())
    }
}
