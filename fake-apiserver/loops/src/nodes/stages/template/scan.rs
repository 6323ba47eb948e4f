//! The texts and actions of a template, and the tokens of an action.

use super::{Mistake, Read};

/// A piece of a template, with the line where it begins, from 0.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Action(Vec<Token>, usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// `.`, `.a.b`, `$`, `$x.a`: the variable, and the fields.
    Path(Option<String>, Vec<String>),
    /// A name of a function, or a keyword.
    Word(String),
    Text(String),
    Int(i64),
    Open,
    /// A closing parenthesis, and the fields behind it.
    Close(Vec<String>),
    Bar,
    Comma,
    Declare,
    Assign,
}

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// The pieces of a template.
pub(super) fn pieces(text: &str) -> Read<Vec<Piece>> {
    let (mut pieces, mut rest, mut line, mut trims) = (Vec::new(), text, 0, false);
    while let Some(start) = rest.find("{{") {
        let (before, action) = (&rest[..start], &rest[start + 2..]);
        line += lines(before);
        let trimmed = action.strip_prefix('-').filter(|inner| inner.starts_with(BLANKS));
        push(&mut pieces, before, trims, trimmed.is_some());
        let scanned = Scanner { rest: trimmed.unwrap_or(action), line }.action()?;
        if let Some(tokens) = scanned.tokens {
            pieces.push(Piece::Action(tokens, line));
        }
        line = scanned.line;
        (rest, trims) = (scanned.rest, scanned.trims);
    }
    push(&mut pieces, rest, trims, false);
    Ok(pieces)
}

fn lines(text: &str) -> usize {
    text.matches('\n').count()
}

fn push(pieces: &mut Vec<Piece>, text: &str, trims_start: bool, trims_end: bool) {
    let text = if trims_start { text.trim_start_matches(BLANKS) } else { text };
    let text = if trims_end { text.trim_end_matches(BLANKS) } else { text };
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

/// An action, and what is behind it.
struct Scanned<'t> {
    /// None of a comment.
    tokens: Option<Vec<Token>>,
    rest: &'t str,
    line: usize,
    /// Whether it trims what is behind it.
    trims: bool,
}

struct Scanner<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Scanner<'t> {
    fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(Mistake { line: self.line, message: message.into() })
    }

    fn action(mut self) -> Read<Scanned<'t>> {
        if self.rest.trim_start_matches(BLANKS).starts_with("/*") {
            return self.comment();
        }
        let mut tokens = Vec::new();
        loop {
            let trimmed = self.rest.trim_start_matches(BLANKS);
            let blanks = &self.rest[..self.rest.len() - trimmed.len()];
            self.line += lines(blanks);
            self.rest = trimmed;
            if let Some(rest) = self.rest.strip_prefix("-}}").filter(|_| !blanks.is_empty()) {
                return Ok(Scanned { tokens: Some(tokens), rest, line: self.line, trims: true });
            }
            if let Some(rest) = self.rest.strip_prefix("}}") {
                return Ok(Scanned { tokens: Some(tokens), rest, line: self.line, trims: false });
            }
            tokens.push(self.token()?);
        }
    }

    fn comment(mut self) -> Read<Scanned<'t>> {
        let Some(end) = self.rest.find("*/") else { return self.fail("unclosed comment") };
        self.line += lines(&self.rest[..end]);
        let rest = &self.rest[end + 2..];
        let trimmed = rest.trim_start_matches(BLANKS).strip_prefix("-}}").filter(|_| rest.starts_with(BLANKS));
        match trimmed.or_else(|| rest.strip_prefix("}}")) {
            Some(behind) => Ok(Scanned { tokens: None, rest: behind, line: self.line, trims: trimmed.is_some() }),
            None => self.fail("comment ends before closing delimiter"),
        }
    }

    fn token(&mut self) -> Read<Token> {
        let Some(first) = self.rest.chars().next() else { return self.fail("unclosed action") };
        for (text, token) in
            [(":=", Token::Declare), ("=", Token::Assign), ("|", Token::Bar), (",", Token::Comma), ("(", Token::Open)]
        {
            if self.takes(text) {
                return Ok(token);
            }
        }
        match first {
            ')' => {
                self.takes(")");
                Ok(Token::Close(self.fields()))
            }
            '"' => self.quoted(),
            '`' => self.raw(),
            '.' => self.path(None),
            '$' => {
                self.takes("$");
                let name = self.word();
                self.path(Some(name))
            }
            '0'..='9' | '-' | '+' => self.number(),
            _ if first == '_' || first.is_alphabetic() => Ok(Token::Word(self.word())),
            _ => self.fail(format!("unexpected {first:?} in an action")),
        }
    }

    fn takes(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> String {
        let end = self.rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn path(&mut self, variable: Option<String>) -> Read<Token> {
        let fields = self.fields();
        if variable.is_none() && fields.is_empty() {
            self.takes(".");
            if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                return self.fail("a number with a fraction is not supported in a template");
            }
        }
        Ok(Token::Path(variable, fields))
    }

    /// The fields that follow without a blank.
    fn fields(&mut self) -> Vec<String> {
        let is_field = |rest: &str| {
            rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_alphabetic()))
        };
        let mut fields = Vec::new();
        while is_field(self.rest) {
            self.takes(".");
            fields.push(self.word());
        }
        fields
    }

    fn number(&mut self) -> Read<Token> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-._".contains(c));
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        match text.parse() {
            Ok(number) => {
                self.rest = rest;
                Ok(Token::Int(number))
            }
            Err(_) => {
                self.fail(format!("the number {text} is not supported in a template: it is no whole one in decimal"))
            }
        }
    }

    fn raw(&mut self) -> Read<Token> {
        let inner = &self.rest[1..];
        let Some((text, rest)) = inner.split_once('`') else { return self.fail("unterminated raw quoted string") };
        self.line += lines(text);
        self.rest = rest;
        Ok(Token::Text(text.to_owned()))
    }

    /// A text in double quotes: with the escapes that JSON has, too.
    fn quoted(&mut self) -> Read<Token> {
        let mut is_escaped = false;
        let end = self.rest[1..].find(|c: char| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let Some(end) = end else { return self.fail("unterminated quoted string") };
        let (literal, rest) = self.rest.split_at(end + 2);
        if literal.contains('\n') {
            return self.fail("unterminated quoted string");
        }
        match serde_json::from_str(literal) {
            Ok(text) => {
                self.rest = rest;
                Ok(Token::Text(text))
            }
            Err(_) => self.fail(format!("an escape in {literal} is not supported in a template")),
        }
    }
}
