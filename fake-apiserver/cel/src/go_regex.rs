//! Regular expressions in Go's syntax, translated for the crate `regex`.
//!
//! Both match in linear time and share most of their syntax, but not all: in Go `\d`, `\s`, `\w` and `\b` are ASCII,
//! and `\s` has no vertical tab; `&&`, `--`, `~~` and `[` in a class are characters, as are `\<` and a `{` that does not begin
//! a count; there are `\Q…\E`, octal escapes and `\p{^…}`. So an expression is parsed by Go's grammar
//! (`regexp/syntax/parse.go` of Go 1.26) and written in the crate's syntax, in its least ambiguous form. Expressions that Go
//! refuses are refused with Go's message.

mod class;
mod expression;
mod limits;
mod program;
mod shared;
mod threads;

pub use expression::Expression;

use limits::{Measure, Sum};
use std::sync::Arc;

/// The most copies that nested counted repetitions may make (`repeatIsValid`).
const MAX_COPIES: usize = 1000;

/// Compiles an expression as `regexp.Compile` does, unless that was done lately.
///
/// # Errors
/// If Go refuses the expression, Go's message: ``error parsing regexp: missing closing ): `(` ``.
pub fn compile(pattern: &str) -> Result<Arc<Expression>, String> {
    shared::get(pattern, || {
        let translated = Parser::new(pattern).run()?;
        let unsupported = |why| format!("error parsing regexp: expression not supported: `{pattern}`: {why}");
        Expression::new(&translated).map_err(unsupported)
    })
}

/// Checks that Go accepts an expression, without compiling it.
///
/// # Errors
/// As [`compile`].
pub fn check(pattern: &str) -> Result<(), String> {
    Parser::new(pattern).run().map(|_| ())
}

/// An error of Go's parser about a part of the expression.
fn refuse<T>(why: &str, part: &str) -> Result<T, String> {
    Err(format!("error parsing regexp: {why}: `{part}`"))
}

/// The parsed part of a group.
#[derive(Default)]
struct Group {
    /// Whether the last element can be repeated.
    repeatable: bool,
    /// The copies that counted repetitions make within the last element.
    copies: usize,
    /// The most copies of any earlier element.
    most: usize,
    /// Whether it is a node of its own.
    captures: bool,
    /// The measures of the last element, of those before it, and of the earlier alternatives.
    last: Option<Measure>,
    elements: Sum,
    alternatives: Sum,
}

impl Group {
    fn atom(&mut self, copies: usize, measure: Measure) {
        self.most = self.most.max(self.copies);
        self.repeatable = true;
        self.copies = copies;
        self.elements.add_all(self.last.replace(measure));
    }

    /// Begins another alternative, and returns the measure of the ended one.
    fn alternative(&mut self) -> Measure {
        self.most = self.most.max(self.copies);
        self.repeatable = false;
        self.elements.add_all(self.last.take());
        let ended = std::mem::take(&mut self.elements).concatenated();
        self.alternatives.add(ended.as_alternative());
        ended
    }

    /// The measure of the whole.
    fn measure(&mut self) -> Measure {
        self.alternative();
        let alternatives = self.alternatives.alternatives();
        if self.captures { alternatives.captured() } else { alternatives }
    }
}

struct Parser<'p> {
    whole: &'p str,
    rest: &'p str,
    written: String,
    /// The open groups, the whole expression first.
    groups: Vec<Group>,
    /// The repetition that ended just here.
    last_repeat: Option<&'p str>,
    /// The start of the last flags, behind which a repetition still applies to the element before them.
    flags: Option<usize>,
}

impl<'p> Parser<'p> {
    fn new(whole: &'p str) -> Self {
        Parser {
            whole,
            rest: whole,
            written: String::new(),
            groups: vec![Group::default()],
            last_repeat: None,
            flags: None,
        }
    }

    fn group(&mut self) -> &mut Group {
        self.groups.last_mut().expect("the whole expression is never closed")
    }

    /// The text parsed since `before`.
    fn since(&self, before: &'p str) -> &'p str {
        &before[..before.len() - self.rest.len()]
    }

    fn run(mut self) -> Result<String, String> {
        while let Some(next) = self.rest.chars().next() {
            let before = self.rest;
            let mut repeated = false;
            let (flags, start) = (self.flags.take(), self.written.len());
            match next {
                '(' => {
                    let open = self.groups.len();
                    self.open()?;
                    self.flags = (self.groups.len() == open).then_some(flags.unwrap_or(start));
                }
                ')' => {
                    if self.groups.len() == 1 {
                        return refuse("unexpected )", self.whole);
                    }
                    self.take(1, ")");
                    let mut inner = self.groups.pop().unwrap_or_default();
                    let measure = self.within_limits(inner.measure())?;
                    self.group().atom(inner.most.max(inner.copies), measure);
                }
                '|' => {
                    self.take(1, "|");
                    let ended = self.group().alternative();
                    self.within_limits(ended)?;
                }
                '^' | '$' | '.' => {
                    self.take(1, &next.to_string());
                    self.group().atom(0, Measure::ONE);
                }
                '[' => {
                    self.class()?;
                    self.group().atom(0, Measure::ONE);
                }
                '*' | '+' | '?' => {
                    self.take(1, &next.to_string());
                    let (min, max) = match next {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(before, None, min, max)?;
                    repeated = true;
                }
                '{' => match counts(self.rest) {
                    Some((bounds, length)) => {
                        let text = &self.rest[..length];
                        self.rest = &self.rest[length..];
                        let Some(copies) = copies(bounds) else {
                            return refuse("invalid repeat count", text);
                        };
                        self.written.push_str(text);
                        let (min, max) = bounds;
                        self.repeat(before, Some(copies), min.unwrap_or_default(), max.flatten())?;
                        repeated = true;
                    }
                    None => {
                        self.rest = &self.rest[1..];
                        self.literal('{');
                    }
                },
                '\\' => self.escape()?,
                _ => {
                    self.rest = &self.rest[next.len_utf8()..];
                    self.literal(next);
                }
            }
            self.last_repeat = repeated.then_some(before);
            if let Some(flags) = flags.filter(|_| repeated) {
                let operator = self.written.split_off(start);
                self.written.insert_str(flags, &operator);
            }
        }
        if self.groups.len() > 1 {
            return refuse("missing closing )", self.whole);
        }
        let measure = self.group().measure();
        self.within_limits(measure)?;
        Ok(self.written)
    }

    /// The measure of a node.
    ///
    /// # Errors
    /// If Go refuses the expression for it.
    fn within_limits(&self, measure: Measure) -> Result<Measure, String> {
        measure.excess().map_or(Ok(measure), |why| refuse(why, self.whole))
    }

    /// Consumes some bytes, and writes their translation.
    fn take(&mut self, bytes: usize, written: &str) {
        self.rest = &self.rest[bytes..];
        self.written.push_str(written);
    }

    fn literal(&mut self, char: char) {
        push_char(&mut self.written, char);
        self.group().atom(0, Measure::LITERAL);
    }

    /// Parses the end of a repetition operator, whose element must exist and must not be repeated already.
    fn repeat(&mut self, before: &'p str, copies: Option<usize>, min: usize, max: Option<usize>) -> Result<(), String> {
        if self.rest.starts_with('?') {
            self.take(1, "?");
        }
        if let Some(last) = self.last_repeat {
            return refuse("invalid nested repetition operator", self.since(last));
        }
        let operator = self.since(before);
        let group = self.group();
        if !group.repeatable {
            return refuse("missing argument to repetition operator", operator);
        }
        if let Some(copies) = copies {
            group.copies = copies * group.copies.max(1);
            if copies >= 2 && group.copies > MAX_COPIES {
                return refuse("invalid repeat count", operator);
            }
        }
        let measure = group.last.unwrap_or(Measure::ONE).repeated(min, max);
        group.last = Some(measure);
        self.within_limits(measure).map(|_| ())
    }

    /// Parses `(`, with flags and names.
    fn open(&mut self) -> Result<(), String> {
        let before = self.rest;
        let Some(special) = before.strip_prefix("(?") else {
            self.take(1, "(?:");
            self.groups.push(Group { captures: true, ..Group::default() });
            return Ok(());
        };
        let name = special.strip_prefix("P<").or_else(|| special.strip_prefix('<'));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let Some(end) = name.find('>') else {
                return refuse("invalid named capture", before);
            };
            let length = before.len() - name.len() + end + 1;
            let name = &name[..end];
            if name.is_empty() || !name.chars().all(|char| char == '_' || char.is_ascii_alphanumeric()) {
                return refuse("invalid named capture", &before[..length]);
            }
            self.take(length, "(?:");
            self.groups.push(Group { captures: true, ..Group::default() });
            return Ok(());
        }
        let (mut on, mut off) = (String::new(), String::new());
        let mut negative = false;
        let mut seen = true;
        for (at, char) in special.char_indices() {
            let length = 2 + at + char.len_utf8();
            match char {
                'i' | 'm' | 's' | 'U' => {
                    on.retain(|flag| flag != char);
                    if negative && !off.contains(char) {
                        off.push(char);
                    } else if !negative {
                        on.push(char);
                    }
                    seen = true;
                }
                '-' if !negative => {
                    negative = true;
                    seen = false;
                }
                ':' | ')' if seen => {
                    let flags = if off.is_empty() { on } else { format!("{on}-{off}") };
                    match (char, flags.as_str()) {
                        (')', "") => self.take(length, ""),
                        (')', flags) => self.take(length, &format!("(?{flags})")),
                        (_, flags) => {
                            self.take(length, &format!("(?{flags}:"));
                            self.groups.push(Group::default());
                        }
                    }
                    return Ok(());
                }
                _ => return refuse("invalid or unsupported Perl syntax", &before[..length]),
            }
        }
        refuse("invalid or unsupported Perl syntax", before)
    }

    /// Parses an escape outside of a class.
    fn escape(&mut self) -> Result<(), String> {
        let place = match self.rest.as_bytes().get(1) {
            Some(b'A') => Some(r"\A"),
            Some(b'z') => Some(r"\z"),
            Some(b'b') => Some(r"(?-u:\b)"),
            Some(b'B') => Some(r"(?-u:\B)"),
            Some(b'C') => return refuse("invalid escape sequence", &self.rest[..2]),
            Some(b'Q') => {
                let quoted = &self.rest[2..];
                let (text, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                text.chars().for_each(|char| self.literal(char));
                self.rest = rest;
                return Ok(());
            }
            _ => None,
        };
        if let Some(place) = place {
            self.take(2, place);
        } else if let Some(ranges) = self.shared_class()? {
            self.written.push('[');
            self.written.push_str(&ranges);
            self.written.push(']');
        } else {
            let char = self.escaped_char()?;
            push_char(&mut self.written, char);
        }
        self.group().atom(0, Measure::ONE);
        Ok(())
    }
}

/// Writes a literal character, within a class or outside.
fn push_char(written: &mut String, char: char) {
    if char.is_ascii_alphanumeric() || !char.is_ascii() {
        written.push(char);
    } else {
        written.push_str(&format!("\\x{:02x}", u32::from(char)));
    }
}

/// The minimum and the maximum number of copies.
type Bounds = (Option<usize>, Option<Option<usize>>);

/// The bounds in `{2}`, `{2,}` and `{2,5}`, and the length of that; `None` if the text is not of this form. A bound that is too large
/// to count is `None`.
fn counts(text: &str) -> Option<(Bounds, usize)> {
    fn number(text: &str) -> Option<(Option<usize>, &str)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        let ok = digits > 0 && (digits == 1 || !number.starts_with('0'));
        ok.then(|| (number.parse().ok().filter(|number| *number < 1_000_000_000), rest))
    }
    let (min, rest) = number(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => number(rest).map(|(max, rest)| (Some(max), rest))?,
    };
    let rest = rest.strip_prefix('}')?;
    Some(((min, max), text.len() - rest.len()))
}

/// The most copies that bounds allow; `None` if the bounds are invalid.
fn copies((min, max): Bounds) -> Option<usize> {
    let min = min.filter(|min| *min <= MAX_COPIES)?;
    match max {
        None => Some(min),
        Some(max) => max.filter(|max| (min..=MAX_COPIES).contains(max)),
    }
}

#[cfg(test)]
mod tests;
