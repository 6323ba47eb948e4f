//! Regular expressions: Go's syntax, matched by the crate `regex`.
//!
//! Port of `pkg/cel/library/regex.go` of k8s.io/apiserver v0.37.1, and of the syntax of Go's `regexp/syntax`.

use super::{Table, int, text};
use crate::value::{Outcome, Value, fail};
use regex::Regex;

pub(super) const OVERLOADS: Table = &[
    ("string_find_string", |args| {
        let (subject, pattern) = (text(&args[0])?, text(&args[1])?);
        find(subject, &compile(pattern).or_else(illegal)?)
    }),
    ("string_find_all_string", |args| {
        let (subject, pattern) = (text(&args[0])?, text(&args[1])?);
        find_all(subject, &compile(pattern).or_else(illegal)?, -1)
    }),
    ("string_find_all_string_int", |args| {
        let (subject, pattern) = (text(&args[0])?, text(&args[1])?);
        let count = int(&args[2])?;
        find_all(subject, &compile(pattern).or_else(illegal)?, count)
    }),
];

fn illegal(error: String) -> Outcome<Regex> {
    fail(format!("Illegal regex: {error}"))
}

pub(crate) fn find(subject: &str, regex: &Regex) -> Outcome {
    Ok(Value::from(regex.find(subject).map_or("", |found| found.as_str())))
}

pub(crate) fn find_all(subject: &str, regex: &Regex, count: i64) -> Outcome {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let found: Vec<Value> = regex.find_iter(subject).take(count).map(|found| Value::from(found.as_str())).collect();
    Ok(Value::from(found))
}

/// Compiles a pattern of Go's syntax.
///
/// # Errors
/// Go's message for a malformed pattern.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let mut translator = Translator { chars: pattern.chars().collect(), at: 0, out: String::new(), open: 0 };
    translator.translate().map_err(|(code, part)| format!("error parsing regexp: {code}: `{part}`"))?;
    regex::RegexBuilder::new(&translator.out)
        .size_limit(1 << 24)
        .build()
        .map_err(|_| format!("error parsing regexp: expression too large: `{pattern}`"))
}

/// The error, and the part of the pattern that it is about.
type Wrong = (&'static str, String);

struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
    open: usize,
}

/// The largest count of a repetition.
const MAX_REPEAT: u32 = 1000;

impl Translator {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn part(&self, from: usize, to: usize) -> String {
        self.chars[from..to.min(self.chars.len())].iter().collect()
    }

    fn push_literal(&mut self, c: char) {
        if c.is_ascii_punctuation() || c.is_ascii_whitespace() {
            self.out.push('\\');
            if c.is_ascii_whitespace() {
                self.out.push_str(&format!("x{:02x}", c as u32));
                return;
            }
        }
        self.out.push(c);
    }

    fn translate(&mut self) -> Result<(), Wrong> {
        // Whether the last part can be repeated, and its start if it is a repetition itself.
        let mut repeatable = false;
        let mut repeated: Option<usize> = None;
        while let Some(c) = self.peek(0) {
            let start = self.at;
            match c {
                '*' | '+' | '?' | '{' => {
                    let end = if c == '{' { self.repeat()? } else { Some(self.at + 1) };
                    let Some(mut end) = end else {
                        self.at += 1;
                        self.push_literal('{');
                        (repeatable, repeated) = (true, None);
                        continue;
                    };
                    if !repeatable {
                        return Err(("missing argument to repetition operator", self.part(start, end)));
                    }
                    if self.chars.get(end) == Some(&'?') {
                        end += 1;
                    }
                    if let Some(first) = repeated {
                        return Err(("invalid nested repetition operator", self.part(first, end)));
                    }
                    let text = self.part(start, end);
                    self.out.push_str(&text);
                    self.at = end;
                    repeated = Some(start);
                    continue;
                }
                '(' => {
                    self.group()?;
                    repeatable = false;
                    // Neither a group of flags alone nor the start of a group can be repeated.
                    repeated = None;
                    continue;
                }
                ')' => {
                    if self.open == 0 {
                        return Err(("unexpected )", self.part(0, self.chars.len())));
                    }
                    self.open -= 1;
                    self.out.push(')');
                    self.at += 1;
                }
                '|' => {
                    self.out.push('|');
                    self.at += 1;
                    (repeatable, repeated) = (false, None);
                    continue;
                }
                '[' => self.class()?,
                '\\' => self.escape()?,
                '^' | '$' | '.' => {
                    self.out.push(c);
                    self.at += 1;
                }
                c => {
                    self.push_literal(c);
                    self.at += 1;
                }
            }
            (repeatable, repeated) = (true, None);
        }
        if self.open > 0 {
            return Err(("missing closing )", self.part(0, self.chars.len())));
        }
        Ok(())
    }

    /// The end of a count in braces; `None` if it is not one.
    fn repeat(&self) -> Result<Option<usize>, Wrong> {
        let Some(length) = self.chars[self.at..].iter().position(|c| *c == '}') else { return Ok(None) };
        let end = self.at + length + 1;
        let inner = self.part(self.at + 1, end - 1);
        let (low, high) = inner.split_once(',').map_or((inner.as_str(), None), |(low, high)| (low, Some(high)));
        let is_number = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'))
        };
        if !is_number(low) || high.is_some_and(|high| !high.is_empty() && !is_number(high)) {
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        let high = high.filter(|high| !high.is_empty()).map(number);
        if number(low) > MAX_REPEAT || high.is_some_and(|high| high > MAX_REPEAT || high < number(low)) {
            return Err(("invalid repeat count", self.part(self.at, end)));
        }
        Ok(Some(end))
    }

    fn group(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        if self.peek(1) != Some('?') {
            self.open += 1;
            self.out.push('(');
            self.at += 1;
            return Ok(());
        }
        let name_at = match (self.peek(2), self.peek(3)) {
            (Some('P'), Some('<')) => Some(4),
            (Some('<'), _) => Some(3),
            _ => None,
        };
        if let Some(name_at) = name_at {
            let Some(length) = self.chars[start..].iter().position(|c| *c == '>') else {
                return Err(("invalid named capture", self.part(start, self.chars.len())));
            };
            let name = self.part(start + name_at, start + length);
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_alphanumeric()) {
                return Err(("invalid named capture", self.part(start, start + length + 1)));
            }
            self.open += 1;
            self.out.push('(');
            self.at = start + length + 1;
            return Ok(());
        }
        self.at += 2;
        let mut flags = String::new();
        loop {
            let c = self.peek(0);
            self.at += 1;
            match c {
                Some(c @ ('i' | 'm' | 's' | 'U')) => flags.push(c),
                Some('-') if !flags.contains('-') => flags.push('-'),
                Some(end @ (':' | ')')) if !flags.ends_with('-') => {
                    self.out.push_str(&format!("(?{flags}{end}"));
                    self.open += usize::from(end == ':');
                    return Ok(());
                }
                Some(_) => return Err(("invalid or unsupported Perl syntax", self.part(start, self.at))),
                None => return Err(("missing closing )", self.part(0, self.chars.len()))),
            }
        }
    }

    fn class(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        let unclosed = |t: &Self| ("missing closing ]", t.part(start, t.chars.len()));
        self.at += 1;
        self.out.push('[');
        if self.peek(0) == Some('^') {
            self.out.push('^');
            self.at += 1;
        }
        let mut first = true;
        loop {
            let c = self.peek(0).ok_or_else(|| unclosed(self))?;
            if c == ']' && !first {
                self.out.push(']');
                self.at += 1;
                return Ok(());
            }
            if c == '-' && !first && self.peek(1) != Some(']') && self.peek(1).is_some() {
                // Go refuses a range that begins with the end of another one.
                return Err(("invalid character class range", self.part(self.at, self.at + 2)));
            }
            first = false;
            if c == '['
                && self.peek(1) == Some(':')
                && let Some(length) =
                    self.chars[self.at..].windows(2).position(|pair| pair == [':', ']']).filter(|l| *l > 1)
            {
                let name = self.part(self.at, self.at + length + 2);
                if !is_posix(&name) {
                    return Err(("invalid character class range", name));
                }
                self.out.push_str(&name);
                self.at += length + 2;
                continue;
            }
            if c == '\\' && self.peek(1).is_some_and(|c| "dDwWsSpP".contains(c)) {
                self.escape_class()?;
                continue;
            }
            let range = self.at;
            let low = self.class_char().and_then(|c| c.ok_or_else(|| unclosed(self)))?;
            let mut high = low;
            if self.peek(0) == Some('-') && self.peek(1).is_some_and(|c| c != ']') {
                self.at += 1;
                high = self.class_char().and_then(|c| c.ok_or_else(|| unclosed(self)))?;
                if high < low {
                    return Err(("invalid character class range", self.part(range, self.at)));
                }
            }
            self.out.push_str(&format!("\\x{{{:x}}}", low as u32));
            if high != low {
                self.out.push_str(&format!("-\\x{{{:x}}}", high as u32));
            }
        }
    }

    fn class_char(&mut self) -> Result<Option<char>, Wrong> {
        match self.peek(0) {
            Some('\\') => self.escaped_char().map(Some),
            Some(c) => {
                self.at += 1;
                Ok(Some(c))
            }
            None => Ok(None),
        }
    }

    /// An escape that stands for several characters.
    fn escape_class(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        let kind = self.peek(1).unwrap_or('d');
        self.at += 2;
        self.out.push_str(match kind {
            'd' => "[0-9]",
            'D' => "[^0-9]",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            's' => "[\\t\\n\\x0c\\r\\x20]",
            'S' => "[^\\t\\n\\x0c\\r\\x20]",
            _ => {
                let name = match self.peek(0) {
                    Some('{') => {
                        let Some(length) = self.chars[self.at..].iter().position(|c| *c == '}') else {
                            return Err(("invalid character class range", self.part(start, self.chars.len())));
                        };
                        let name = self.part(self.at + 1, self.at + length);
                        self.at += length + 1;
                        name
                    }
                    Some(c) => {
                        self.at += 1;
                        c.to_string()
                    }
                    None => return Err(("invalid character class range", self.part(start, self.chars.len()))),
                };
                let (negated, name) = name.strip_prefix('^').map_or((false, name.as_str()), |name| (true, name));
                let letter = if negated == (kind == 'P') { 'p' } else { 'P' };
                let class =
                    if name == "Any" { "\\x{0}-\\x{10ffff}".to_owned() } else { format!("\\{letter}{{{name}}}") };
                if name != "Any" && Regex::new(&class).is_err() {
                    return Err(("invalid character class range", self.part(start, self.at)));
                }
                self.out.push_str(&format!("[{class}]"));
                return Ok(());
            }
        });
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        match self.peek(1) {
            Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P') => self.escape_class(),
            Some('A') => self.assertion("\\A"),
            Some('z') => self.assertion("\\z"),
            Some('b') => self.assertion("(?-u:\\b)"),
            Some('B') => self.assertion("(?:\\B)"),
            Some('Q') => {
                self.at += 2;
                while let Some(c) = self.peek(0) {
                    if c == '\\' && self.peek(1) == Some('E') {
                        self.at += 2;
                        break;
                    }
                    self.push_literal(c);
                    self.at += 1;
                }
                Ok(())
            }
            _ => {
                let c = self.escaped_char()?;
                self.out.push_str(&format!("\\x{{{:x}}}", c as u32));
                Ok(())
            }
        }
    }

    fn assertion(&mut self, text: &str) -> Result<(), Wrong> {
        self.out.push_str(text);
        self.at += 2;
        Ok(())
    }

    /// The character that an escape stands for.
    fn escaped_char(&mut self) -> Result<char, Wrong> {
        let start = self.at;
        let Some(c) = self.peek(1) else { return Err(("trailing backslash at end of expression", String::new())) };
        self.at += 2;
        let code = match c {
            'a' => 7,
            'f' => 12,
            't' => 9,
            'n' => 10,
            'r' => 13,
            'v' => 11,
            '0'..='7' if c == '0' || self.peek(0).is_some_and(|next| ('0'..='7').contains(&next)) => {
                let mut code = c as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = self.peek(0).and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    self.at += 1;
                }
                code
            }
            'x' => {
                let digits = match self.peek(0) {
                    Some('{') => {
                        let length = self.chars[self.at..].iter().position(|c| *c == '}').unwrap_or(0);
                        let digits = self.part(self.at + 1, self.at + length);
                        self.at += length + 1;
                        digits
                    }
                    _ => {
                        let digits = self.part(self.at, self.at + 2);
                        self.at += 2;
                        if digits.len() == 2 { digits } else { String::new() }
                    }
                };
                u32::from_str_radix(&digits, 16).unwrap_or(u32::MAX)
            }
            c if c.is_ascii_punctuation() || c.is_ascii_whitespace() || c.is_ascii_control() => c as u32,
            _ => u32::MAX,
        };
        char::from_u32(code).ok_or_else(|| ("invalid escape sequence", self.part(start, self.at)))
    }
}

fn is_posix(name: &str) -> bool {
    let inner = name.trim_start_matches("[:").trim_end_matches(":]").trim_start_matches('^');
    matches!(
        inner,
        "alnum"
            | "alpha"
            | "ascii"
            | "blank"
            | "cntrl"
            | "digit"
            | "graph"
            | "lower"
            | "print"
            | "punct"
            | "space"
            | "upper"
            | "word"
            | "xdigit"
    )
}
