//! JSON tokens, with the syntax errors of Go's decoder.
//!
//! Follows `scanner.go` and `unquoteBytes` of sigs.k8s.io/json (Kubernetes v1.37), whose messages clients see in
//! answers of status 400. As there, the end of the input counts as a space first, and as an end only where a space would
//! have been in order. Nothing here recurses, however deep the input nests.

use super::text::Specials;
use super::token::Token;
use go_text::quote_char;
use std::borrow::Cow;

/// `maxNestingDepth`.
const MAX_NESTING_DEPTH: usize = 10_000;
/// The bytes between two questions whether to go on: some tens of microseconds.
const STRIDE: usize = 16 * 1024;

/// Bytes that do not stand for themselves in strings.
static SPECIAL: Specials = Specials::and(b"\"\\");

/// A syntax error's text.
#[derive(Debug, PartialEq)]
pub(super) struct SyntaxError(pub(super) String);

/// A reader of tokens.
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// The question whether to go on, and the place from which it is asked next.
    goes_on: Option<&'a dyn Fn() -> bool>,
    asked_at: usize,
}

type Scan<T> = Result<T, SyntaxError>;

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Lexer { bytes, at: 0, depth: 0, goes_on: None, asked_at: usize::MAX }
    }

    /// The same while `goes_on` says so; then there is an error.
    pub(super) fn asking(self, goes_on: &'a dyn Fn() -> bool) -> Self {
        Lexer { goes_on: Some(goes_on), asked_at: STRIDE, ..self }
    }

    /// The number of objects and arrays that have begun and not ended.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Checks that the input is one well-formed value.
    pub(super) fn check(bytes: &'a [u8]) -> Scan<()> {
        let mut lexer = Lexer::new(bytes);
        lexer.skip_value()?;
        lexer.end()
    }

    /// The kind of the next value, which is left unread.
    pub(super) fn peek(&mut self) -> Scan<Token> {
        match self.skip_spaces()? {
            b'{' => Ok(Token::Object),
            b'[' => Ok(Token::Array),
            b'"' => Ok(Token::String),
            b'-' | b'0'..=b'9' => Ok(Token::Number),
            b't' | b'f' => Ok(Token::Bool),
            b'n' => Ok(Token::Null),
            _ => self.fail("looking for beginning of value"),
        }
    }

    /// Reads `null`, which [`peek`](Self::peek) has seen.
    pub(super) fn null(&mut self) -> Scan<()> {
        self.literal("null")
    }

    /// Reads `true` or `false`, which [`peek`](Self::peek) has seen.
    pub(super) fn bool(&mut self) -> Scan<bool> {
        let value = self.byte() == b't';
        self.literal(if value { "true" } else { "false" })?;
        Ok(value)
    }

    /// Reads a number as it is written.
    pub(super) fn number(&mut self) -> Scan<&'a str> {
        let start = self.at;
        if self.byte() == b'-' {
            self.at += 1;
        }
        match self.byte() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            _ => return self.fail("in numeric literal"),
        }
        if self.byte() == b'.' {
            self.at += 1;
            if !self.byte().is_ascii_digit() {
                return self.fail("after decimal point in numeric literal");
            }
            self.digits();
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.at += 1;
            }
            if !self.byte().is_ascii_digit() {
                return self.fail("in exponent of numeric literal");
            }
            self.digits();
        }
        Ok(std::str::from_utf8(&self.bytes[start..self.at]).expect("a number is ASCII"))
    }

    /// Reads a string. Invalid UTF-8 and UTF-16 in it becomes U+FFFD.
    pub(super) fn string(&mut self) -> Scan<Cow<'a, str>> {
        let (content, escaped) = self.quoted()?;
        match std::str::from_utf8(content) {
            Ok(text) if !escaped => Ok(Cow::Borrowed(text)),
            _ => Ok(Cow::Owned(unquote(content))),
        }
    }

    /// Reads `[`.
    pub(super) fn begin_array(&mut self) -> Scan<()> {
        self.begin()
    }

    /// Reads up to the next element, `first` or not; false if the array has ended.
    pub(super) fn next_element(&mut self, first: bool) -> Scan<bool> {
        match (self.skip_spaces()?, first) {
            (b']', _) => {
                self.at += 1;
                self.depth -= 1;
                return Ok(false);
            }
            (_, true) => {}
            (b',', false) => self.at += 1,
            _ => return self.fail("after array element"),
        }
        self.ask_now_and_then()?;
        Ok(true)
    }

    /// Reads `{`.
    pub(super) fn begin_object(&mut self) -> Scan<()> {
        self.begin()
    }

    /// Reads the next key, `first` or not, and the colon; `None` if the object has ended.
    pub(super) fn next_key(&mut self, first: bool) -> Scan<Option<Cow<'a, str>>> {
        if !self.before_key(first)? {
            return Ok(None);
        }
        let key = self.string()?;
        self.colon()?;
        Ok(Some(key))
    }

    /// Reads a value and returns it as it is written.
    pub(super) fn raw_value(&mut self) -> Scan<&'a [u8]> {
        self.peek()?;
        let start = self.at;
        self.skip_value()?;
        Ok(&self.bytes[start..self.at])
    }

    /// Reads a value of any kind.
    pub(super) fn skip_value(&mut self) -> Scan<()> {
        let outer = self.depth;
        // Whether the containers around the current place, from the outermost in, are objects.
        let mut objects: Vec<bool> = Vec::new();
        loop {
            let mut first = false;
            match self.peek()? {
                Token::Null => self.null()?,
                Token::Bool => self.bool().map(drop)?,
                Token::Number => self.number().map(drop)?,
                Token::String => self.quoted().map(drop)?,
                container @ (Token::Array | Token::Object) => {
                    self.begin()?;
                    objects.push(container == Token::Object);
                    first = true;
                }
            }
            while self.depth > outer {
                let object = objects.last().is_some_and(|object| *object);
                let more = if object { self.before_key(first)? } else { self.next_element(first)? };
                if more {
                    if object {
                        self.quoted()?;
                        self.colon()?;
                    }
                    break;
                }
                objects.pop();
                first = false;
            }
            if self.depth == outer {
                return Ok(());
            }
        }
    }

    /// Checks that nothing but space is left.
    pub(super) fn end(&mut self) -> Scan<()> {
        match self.skip_spaces() {
            Err(_) => Ok(()),
            Ok(_) => self.fail("after top-level value"),
        }
    }

    /// The next byte; at the end of the input a space.
    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(b' ')
    }

    /// The next byte that is not space.
    fn skip_spaces(&mut self) -> Scan<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(*byte);
            }
            self.at += 1;
        }
        Err(SyntaxError("unexpected end of JSON input".to_owned()))
    }

    fn fail<T>(&self, context: &str) -> Scan<T> {
        Err(SyntaxError(format!("invalid character {} {context}", quote_char(char::from(self.byte())))))
    }

    fn begin(&mut self) -> Scan<()> {
        if self.depth == MAX_NESTING_DEPTH {
            return self.fail("exceeded max depth");
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn before_key(&mut self, first: bool) -> Scan<bool> {
        match (self.skip_spaces()?, first) {
            (b'}', _) => {
                self.at += 1;
                self.depth -= 1;
                return Ok(false);
            }
            (_, true) => {}
            (b',', false) => {
                self.at += 1;
                self.skip_spaces()?;
            }
            _ => return self.fail("after object key:value pair"),
        }
        if self.byte() != b'"' {
            return self.fail("looking for beginning of object key string");
        }
        self.ask_now_and_then()?;
        Ok(true)
    }

    fn ask_now_and_then(&mut self) -> Scan<()> {
        if self.at < self.asked_at {
            return Ok(());
        }
        self.asked_at = self.at + STRIDE;
        match self.goes_on.is_none_or(|goes_on| goes_on()) {
            true => Ok(()),
            false => Err(SyntaxError("the time is up".to_owned())),
        }
    }

    fn colon(&mut self) -> Scan<()> {
        if self.skip_spaces()? != b':' {
            return self.fail("after object key");
        }
        self.at += 1;
        Ok(())
    }

    fn digits(&mut self) {
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
    }

    /// Reads the rest of a literal whose first letter has been seen.
    fn literal(&mut self, text: &str) -> Scan<()> {
        self.at += 1;
        for expected in &text.as_bytes()[1..] {
            if self.byte() != *expected {
                return self.fail(&format!("in literal {text} (expecting '{}')", char::from(*expected)));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a string and returns the text between its quotes, and whether it has escapes.
    fn quoted(&mut self) -> Scan<(&'a [u8], bool)> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = &self.bytes[self.at..];
            let plain = SPECIAL.plain_len(rest);
            if plain == rest.len() {
                return Err(SyntaxError("unexpected end of JSON input".to_owned()));
            }
            self.at += plain;
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    return Ok((&self.bytes[start..self.at - 1], escaped));
                }
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return self.fail("in string literal"),
            }
        }
    }

    fn escape(&mut self) -> Scan<()> {
        self.at += 1;
        match self.byte() {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => self.at += 1,
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.byte().is_ascii_hexdigit() {
                        return self.fail("in \\u hexadecimal character escape");
                    }
                    self.at += 1;
                }
            }
            _ => return self.fail("in string escape code"),
        }
        Ok(())
    }
}

/// The text of a string's well-formed content.
fn unquote(mut content: &[u8]) -> String {
    let mut text = String::with_capacity(content.len());
    while let Some(backslash) = content.iter().position(|byte| *byte == b'\\') {
        push_utf8(&mut text, &content[..backslash]);
        let escape = content[backslash + 1];
        content = &content[backslash + 2..];
        text.push(match escape {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => utf16(&mut content),
            other => char::from(other),
        });
    }
    push_utf8(&mut text, content);
    text
}

/// Reads the digits of a `\u` escape and, behind the first half of a surrogate pair, the escape of the second.
fn utf16(content: &mut &[u8]) -> char {
    let unit = hex4(content);
    *content = &content[4..];
    let pair = content.strip_prefix(b"\\u").map(|low| [unit, hex4(low)]);
    let decode = |units: &[u16]| char::decode_utf16(units.iter().copied()).next().and_then(Result::ok);
    if let Some(single) = decode(&[unit]) {
        return single;
    }
    if let Some(both) = pair.and_then(|pair| decode(&pair)) {
        *content = &content[6..];
        return both;
    }
    char::REPLACEMENT_CHARACTER
}

fn hex4(digits: &[u8]) -> u16 {
    digits[..4].iter().fold(0, |sum, digit| {
        sum << 4 | char::from(*digit).to_digit(16).and_then(|digit| u16::try_from(digit).ok()).unwrap_or(0)
    })
}

/// Appends bytes, each one that is not part of UTF-8 as U+FFFD.
pub(super) fn push_utf8(text: &mut String, mut bytes: &[u8]) {
    loop {
        match std::str::from_utf8(bytes) {
            Ok(rest) => return text.push_str(rest),
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                text.push(char::REPLACEMENT_CHARACTER);
                bytes = &rest[1..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_input_ends_when_it_is_told_to() {
        let text = format!("[{}1]", "1,".repeat(2 * STRIDE));
        let questions = std::cell::Cell::new(0);
        let goes_on = || {
            questions.set(questions.get() + 1);
            questions.get() < 2
        };
        let mut lexer = Lexer::new(text.as_bytes()).asking(&goes_on);
        assert_eq!(lexer.skip_value(), Err(SyntaxError("the time is up".to_owned())));
        assert_eq!((questions.get(), lexer.at / STRIDE), (2, 2));
        assert_eq!(Lexer::check(text.as_bytes()), Ok(()));
    }
}
