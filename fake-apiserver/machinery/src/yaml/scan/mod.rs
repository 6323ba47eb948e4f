//! The tokens of a text: scannerc.go of go.yaml.in/yaml/v2 v2.4.4, which is YAML 1.1.
//!
//! A key is recognized by the `:` behind it. Until that is seen or excluded, the tokens from where it might begin wait: then a token
//! for the key is inserted before them, and perhaps one for the mapping that begins there.

mod block;
mod plain;
mod quoted;
mod tag;

use super::cursor::{Cursor, Problem};
use super::source::Bad;
use std::collections::{HashMap, VecDeque};
use tag::Directive;

/// How many characters may be between the beginning of a key and its `:`.
const LONGEST_KEY: usize = 1024;

/// How deep flow collections may be nested, and blocks.
const MAX_DEPTH: usize = 10_000;

/// A token of YAML, as the scanner finds it.
pub(super) struct Token {
    /// The line where it begins, counted from 0.
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    StreamEnd,
    Version(u8, u8),
    TagPrefix(String, String),
    DocumentStart,
    DocumentEnd,
    BlockListStart,
    BlockObjectStart,
    BlockEnd,
    FlowListStart,
    FlowListEnd,
    FlowObjectStart,
    FlowObjectEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    /// A handle, which may be "", and the rest.
    Tag(String, String),
    Scalar {
        text: String,
        plain: bool,
    },
}

/// A place where a key without `?` may begin.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    is_possible: bool,
    /// Whether nothing else can begin there.
    is_required: bool,
    /// The number of the token that it would be.
    token: usize,
    index: usize,
    line: usize,
    column: isize,
}

pub(super) struct Scanner<'t> {
    cursor: Cursor<'t>,
    bad: Option<Bad>,
    tokens: VecDeque<Token>,
    /// How many tokens were taken.
    taken: usize,
    /// One for each level of flow collections, and one for the blocks around them.
    keys: Vec<SimpleKey>,
    /// The levels, by the token that may be their key.
    levels: HashMap<usize, usize>,
    may_begin_key: bool,
    flow: usize,
    indent: isize,
    /// The indents of the blocks around this one.
    indents: Vec<isize>,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, bad: Option<Bad>) -> Self {
        Scanner {
            cursor: Cursor::new(text),
            bad,
            tokens: VecDeque::new(),
            taken: 0,
            keys: vec![SimpleKey::default()],
            levels: HashMap::new(),
            may_begin_key: true,
            flow: 0,
            indent: -1,
            indents: Vec::new(),
        }
    }

    /// The next token. After the end of the stream there is none.
    ///
    /// # Errors
    /// If the text has no such token.
    pub(super) fn peek(&mut self) -> Result<&Token, Problem> {
        while self.is_undecided()? {
            let fetched = self.fetch();
            if let Some(bad) = self.bad
                && self.cursor.at() >= bad.at
            {
                return Err(Problem { line: 0, words: bad.words.into() });
            }
            fetched?;
        }
        Ok(&self.tokens[0])
    }

    /// Takes the next token.
    ///
    /// # Errors
    /// If the text has no such token.
    pub(super) fn take(&mut self) -> Result<Token, Problem> {
        self.peek()?;
        self.taken += 1;
        Ok(self.tokens.pop_front().expect("it was peeked at"))
    }

    /// Whether more has to be scanned before the next token can be taken: there is none, or it may turn out to be a key.
    fn is_undecided(&mut self) -> Result<bool, Problem> {
        match self.levels.get(&self.taken) {
            _ if self.tokens.is_empty() => Ok(true),
            Some(level) => self.is_key(*level),
            None => Ok(false),
        }
    }

    fn push(&mut self, line: usize, kind: Kind) {
        self.tokens.push_back(Token { line, kind });
    }

    /// Adds a token of that many bytes, which begins here.
    fn step(&mut self, bytes: usize, kind: Kind) {
        self.push(self.cursor.line(), kind);
        (0..bytes).for_each(|_| self.cursor.skip());
    }

    /// Adds the next tokens.
    fn fetch(&mut self) -> Result<(), Problem> {
        self.skip_to_token();
        self.unroll(self.cursor.column());
        let cursor = &self.cursor;
        let (line, begins, ends) = (cursor.line(), cursor.column() == 0, cursor.is_word_end(1));
        let is_block = self.flow == 0;
        match cursor.byte(0) {
            0 => return self.stream_end(),
            b'%' if begins => {
                self.leave_blocks()?;
                let kind = match tag::directive(&mut self.cursor)? {
                    Directive::Version(major, minor) => Kind::Version(major, minor),
                    Directive::Tag(handle, prefix) => Kind::TagPrefix(handle, prefix),
                };
                self.push(line, kind);
            }
            first @ (b'-' | b'.') if cursor.is_at_indicator() => {
                self.leave_blocks()?;
                self.step(3, if first == b'-' { Kind::DocumentStart } else { Kind::DocumentEnd });
            }
            b'[' => self.open_flow(Kind::FlowListStart)?,
            b'{' => self.open_flow(Kind::FlowObjectStart)?,
            b']' => self.close_flow(Kind::FlowListEnd)?,
            b'}' => self.close_flow(Kind::FlowObjectEnd)?,
            b',' => {
                self.forget_key()?;
                self.may_begin_key = true;
                self.step(1, Kind::FlowEntry);
            }
            b'-' if ends => {
                self.begin_block(Kind::BlockListStart, "block sequence entries are not allowed in this context")?;
                self.forget_key()?;
                self.may_begin_key = true;
                self.step(1, Kind::BlockEntry);
            }
            b'?' if !is_block || ends => {
                self.begin_block(Kind::BlockObjectStart, "mapping keys are not allowed in this context")?;
                self.forget_key()?;
                self.may_begin_key = is_block;
                self.step(1, Kind::Key);
            }
            b':' if !is_block || ends => self.value()?,
            first @ (b'*' | b'&') => {
                self.note_key()?;
                self.may_begin_key = false;
                let name = tag::anchor(&mut self.cursor)?;
                self.push(line, if first == b'*' { Kind::Alias(name) } else { Kind::Anchor(name) });
            }
            b'!' => {
                self.note_key()?;
                self.may_begin_key = false;
                let (handle, suffix) = tag::tag(&mut self.cursor)?;
                self.push(line, Kind::Tag(handle, suffix));
            }
            b'|' | b'>' if is_block => {
                self.forget_key()?;
                self.may_begin_key = true;
                let text = block::read(&mut self.cursor, self.indent)?;
                self.push(line, Kind::Scalar { text, plain: false });
            }
            b'\'' | b'"' => {
                self.note_key()?;
                self.may_begin_key = false;
                let text = quoted::read(&mut self.cursor)?;
                self.push(line, Kind::Scalar { text, plain: false });
            }
            first if self.begins_plain(first) => {
                self.note_key()?;
                let (text, is_broken) = plain::read(&mut self.cursor, !is_block, self.indent + 1)?;
                self.may_begin_key = is_broken;
                self.push(line, Kind::Scalar { text, plain: true });
            }
            _ => return Err(cursor.problem("found character that cannot start any token")),
        }
        Ok(())
    }

    fn begins_plain(&self, first: u8) -> bool {
        match first {
            b'-' => !self.cursor.is_blank(1),
            b'?' | b':' => self.flow == 0 && !self.cursor.is_word_end(1),
            _ => !self.cursor.is_word_end(0) && !b",[]{}#&*!|>'\"%@`".contains(&first),
        }
    }

    fn skip_to_token(&mut self) {
        loop {
            if self.cursor.index() == 0 && self.cursor.sees("\u{FEFF}") {
                self.cursor.skip();
            }
            // Tabs do not indent.
            let takes_tabs = self.flow > 0 || !self.may_begin_key;
            while self.cursor.byte(0) == b' ' || takes_tabs && self.cursor.byte(0) == b'\t' {
                self.cursor.skip();
            }
            self.cursor.skip_comment();
            if !self.cursor.is_break(0) {
                return;
            }
            self.cursor.skip_break();
            if self.flow == 0 {
                self.may_begin_key = true;
            }
        }
    }

    fn stream_end(&mut self) -> Result<(), Problem> {
        self.cursor.end_line();
        self.leave_blocks()?;
        self.push(self.cursor.line(), Kind::StreamEnd);
        Ok(())
    }

    /// Ends all blocks.
    fn leave_blocks(&mut self) -> Result<(), Problem> {
        self.unroll(-1);
        self.forget_key()?;
        self.may_begin_key = false;
        Ok(())
    }

    fn open_flow(&mut self, kind: Kind) -> Result<(), Problem> {
        self.note_key()?;
        self.keys.push(SimpleKey { token: self.taken + self.tokens.len(), ..SimpleKey::default() });
        self.flow += 1;
        if self.flow > MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.may_begin_key = true;
        self.step(1, kind);
        Ok(())
    }

    fn close_flow(&mut self, kind: Kind) -> Result<(), Problem> {
        self.forget_key()?;
        if self.flow > 0 {
            self.flow -= 1;
            if let Some(key) = self.keys.pop() {
                self.levels.remove(&key.token);
            }
        }
        self.may_begin_key = false;
        self.step(1, kind);
        Ok(())
    }

    fn too_deep(&self) -> Problem {
        self.cursor.problem(format!("exceeded max depth of {MAX_DEPTH}"))
    }

    /// Begins a block here, unless in a flow collection or a block that is indented as much.
    fn begin_block(&mut self, kind: Kind, refusal: &'static str) -> Result<(), Problem> {
        if self.flow == 0 && !self.may_begin_key {
            return Err(self.cursor.problem(refusal));
        }
        self.roll(self.cursor.column(), self.tokens.len(), self.cursor.line(), kind)
    }

    /// Adds a token for a block, if it is indented more than the one around it.
    fn roll(&mut self, column: isize, at: usize, line: usize, kind: Kind) -> Result<(), Problem> {
        if self.flow > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.tokens.insert(at, Token { line, kind });
        Ok(())
    }

    /// Ends the blocks that are indented more.
    fn unroll(&mut self, column: isize) {
        while self.flow == 0 && self.indent > column {
            self.push(self.cursor.line(), Kind::BlockEnd);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Reads the `:` behind a key.
    fn value(&mut self) -> Result<(), Problem> {
        let level = self.keys.len() - 1;
        if self.is_key(level)? {
            let key = self.keys[level];
            // As in Go, if the token was taken already, these are put at the end.
            let at = key.token.checked_sub(self.taken);
            self.tokens.insert(at.unwrap_or(self.tokens.len()), Token { line: key.line, kind: Kind::Key });
            self.roll(key.column, at.unwrap_or(self.tokens.len()), key.line, Kind::BlockObjectStart)?;
            self.keys[level].is_possible = false;
            self.levels.remove(&key.token);
            self.may_begin_key = false;
        } else {
            self.begin_block(Kind::BlockObjectStart, "mapping values are not allowed in this context")?;
            self.may_begin_key = self.flow == 0;
        }
        self.step(1, Kind::Value);
        Ok(())
    }

    /// Whether there may be a key at a level: it is on one line, and short.
    fn is_key(&mut self, level: usize) -> Result<bool, Problem> {
        let key = &mut self.keys[level];
        let is_far = key.line < self.cursor.line() || key.index + LONGEST_KEY < self.cursor.index();
        if key.is_possible && is_far {
            if key.is_required {
                return Err(self.cursor.problem(NO_COLON));
            }
            key.is_possible = false;
        }
        Ok(key.is_possible)
    }

    /// Notes that a key may begin here.
    fn note_key(&mut self) -> Result<(), Problem> {
        if !self.may_begin_key {
            return Ok(());
        }
        self.forget_key()?;
        let (cursor, level) = (&self.cursor, self.keys.len() - 1);
        let token = self.taken + self.tokens.len();
        self.keys[level] = SimpleKey {
            is_possible: true,
            is_required: self.flow == 0 && self.indent == cursor.column(),
            token,
            index: cursor.index(),
            line: cursor.line(),
            column: cursor.column(),
        };
        self.levels.insert(token, level);
        Ok(())
    }

    /// Excludes that the key that may have begun at this level is one.
    fn forget_key(&mut self) -> Result<(), Problem> {
        let level = self.keys.len() - 1;
        let key = &mut self.keys[level];
        if key.is_possible {
            if key.is_required {
                return Err(self.cursor.problem(NO_COLON));
            }
            key.is_possible = false;
            self.levels.remove(&key.token);
        }
        Ok(())
    }
}

const NO_COLON: &str = "could not find expected ':'";
