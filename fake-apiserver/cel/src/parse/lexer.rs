//! The lexer: the lexer rules of CEL's grammar, with ANTLR's errors for characters that are not tokens.

use crate::source::{Findings, Source};

/// A kind of token, numbered as in the grammar; 0 is the end of the text.
pub(crate) type Kind = u8;

pub(crate) const EOF: Kind = 0;
pub(crate) const IN: Kind = 3;
pub(crate) const AND: Kind = 8;
pub(crate) const OR: Kind = 9;
pub(crate) const LBRACKET: Kind = 10;
pub(crate) const RBRACKET: Kind = 11;
pub(crate) const LBRACE: Kind = 12;
pub(crate) const RBRACE: Kind = 13;
pub(crate) const LPAREN: Kind = 14;
pub(crate) const RPAREN: Kind = 15;
pub(crate) const DOT: Kind = 16;
pub(crate) const COMMA: Kind = 17;
pub(crate) const MINUS: Kind = 18;
pub(crate) const EXCLAM: Kind = 19;
pub(crate) const QUESTION: Kind = 20;
pub(crate) const COLON: Kind = 21;
pub(crate) const PLUS: Kind = 22;
pub(crate) const TRUE: Kind = 26;
pub(crate) const FALSE: Kind = 27;
pub(crate) const NULL: Kind = 28;
const WHITESPACE: Kind = 29;
const COMMENT: Kind = 30;
pub(crate) const FLOAT: Kind = 31;
pub(crate) const INT: Kind = 32;
pub(crate) const UINT: Kind = 33;
pub(crate) const STRING: Kind = 34;
pub(crate) const BYTES: Kind = 35;
pub(crate) const IDENTIFIER: Kind = 36;
pub(crate) const ESC_IDENTIFIER: Kind = 37;

/// The names of the kinds in messages.
pub(crate) const NAMES: [&str; 38] = [
    "<EOF>",
    "'=='",
    "'!='",
    "'in'",
    "'<'",
    "'<='",
    "'>='",
    "'>'",
    "'&&'",
    "'||'",
    "'['",
    "']'",
    "'{'",
    "'}'",
    "'('",
    "')'",
    "'.'",
    "','",
    "'-'",
    "'!'",
    "'?'",
    "':'",
    "'+'",
    "'*'",
    "'/'",
    "'%'",
    "'true'",
    "'false'",
    "'null'",
    "WHITESPACE",
    "COMMENT",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
    "ESC_IDENTIFIER",
];

/// The kinds with one fixed text, the longer texts first.
const FIXED: [(&str, Kind); 25] = [
    ("==", 1),
    ("!=", 2),
    ("<=", 5),
    (">=", 6),
    ("&&", AND),
    ("||", OR),
    ("<", 4),
    (">", 7),
    ("[", LBRACKET),
    ("]", RBRACKET),
    ("{", LBRACE),
    ("}", RBRACE),
    ("(", LPAREN),
    (")", RPAREN),
    (".", DOT),
    (",", COMMA),
    ("-", MINUS),
    ("!", EXCLAM),
    ("?", QUESTION),
    (":", COLON),
    ("+", PLUS),
    ("*", 23),
    ("/", 24),
    ("%", 25),
    ("=", EOF),
];

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) text: String,
}

/// All tokens, and the indices of those for the parser, of which the last is the end of the text.
pub(crate) struct Tokens {
    pub(crate) all: Vec<Token>,
    pub(crate) seen: Vec<usize>,
}

/// Splits a text into tokens.
pub(crate) fn tokens(source: &Source, findings: &mut Findings) -> Tokens {
    let chars = &source.chars;
    let mut tokens = Tokens { all: Vec::new(), seen: Vec::new() };
    let mut at = 0;
    while at < chars.len() {
        match longest(chars, at) {
            Ok((kind, end)) => {
                if kind != WHITESPACE && kind != COMMENT {
                    tokens.seen.push(tokens.all.len());
                }
                tokens.all.push(Token { kind, start: at, text: source.text(at, end) });
                at = end;
            }
            Err(stop) => {
                let text = source.text(at, stop + 1);
                findings.add(Some(at), format!("Syntax error: token recognition error at: '{text}'"));
                at = (stop + 1).min(chars.len());
            }
        }
    }
    tokens.seen.push(tokens.all.len());
    tokens.all.push(Token { kind: EOF, start: chars.len(), text: "<EOF>".to_owned() });
    tokens
}

/// The longest token at a place and its end, or the index at which no token is possible any more.
fn longest(chars: &[char], at: usize) -> Result<(Kind, usize), usize> {
    let get = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let run = |from: usize, of: fn(char) -> bool| (from..chars.len()).find(|i| !of(chars[*i])).unwrap_or(chars.len());
    let first = get(at);
    let mut best: Result<(Kind, usize), usize> = Err(at);
    let mut offer = |found: Result<(Kind, usize), usize>| match (&best, &found) {
        (Ok((_, end)), Ok((_, new))) if new > end => best = found,
        (Err(_), Ok(_)) => best = found,
        (Err(stop), Err(new)) if new > stop => best = found,
        _ => {}
    };
    if is_space(first) {
        return Ok((WHITESPACE, run(at, is_space)));
    }
    if first == '/' && get(at + 1) == '/' {
        return Ok((COMMENT, run(at, |c| c != '\n')));
    }
    for (text, kind) in FIXED {
        if text.chars().enumerate().all(|(i, c)| at + i < chars.len() && get(at + i) == c) {
            offer(if kind == EOF { Err(at + 1) } else { Ok((kind, at + text.len())) });
            break;
        }
    }
    if first == '&' || first == '|' {
        offer(Err(at + 1));
    }
    if first.is_ascii_digit() || (first == '.' && get(at + 1).is_ascii_digit()) {
        offer(Ok(number(chars, at)));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let end = run(at, |c| c.is_ascii_alphanumeric() || c == '_');
        let kind = match chars[at..end].iter().collect::<String>().as_str() {
            "in" => IN,
            "true" => TRUE,
            "false" => FALSE,
            "null" => NULL,
            _ => IDENTIFIER,
        };
        offer(Ok((kind, end)));
    }
    if first == '`' {
        let end = run(at + 1, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' '));
        offer(if end > at + 1 && get(end) == '`' { Ok((ESC_IDENTIFIER, end + 1)) } else { Err(end) });
    }
    let bytes = matches!(first, 'b' | 'B');
    let kind = if bytes { BYTES } else { STRING };
    let quote = at + usize::from(bytes);
    let raw = matches!(get(quote), 'r' | 'R');
    let quote = quote + usize::from(raw);
    if matches!(get(quote), '"' | '\'') {
        offer(string(chars, quote, raw, false).map(|end| (kind, end)));
        if get(quote + 1) == get(quote) && get(quote + 2) == get(quote) {
            offer(string(chars, quote, raw, true).map(|end| (kind, end)));
        }
    }
    best
}

fn is_space(c: char) -> bool {
    matches!(c, '\t' | ' ' | '\r' | '\n' | '\u{c}')
}

fn number(chars: &[char], at: usize) -> (Kind, usize) {
    let get = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let digits = |from: usize| (from..).find(|i| !get(*i).is_ascii_digit()).unwrap_or(from);
    let unsigned = |end: usize| matches!(get(end), 'u' | 'U');
    if get(at) == '0' && get(at + 1) == 'x' && get(at + 2).is_ascii_hexdigit() {
        let end = (at + 2..).find(|i| !get(*i).is_ascii_hexdigit()).unwrap_or(at);
        return if unsigned(end) { (UINT, end + 1) } else { (INT, end) };
    }
    let whole = digits(at);
    let mut end = whole;
    if get(end) == '.' && get(end + 1).is_ascii_digit() {
        end = digits(end + 1);
    }
    if matches!(get(end), 'e' | 'E') {
        let sign = end + 1 + usize::from(matches!(get(end + 1), '+' | '-'));
        if get(sign).is_ascii_digit() {
            end = digits(sign);
        }
    }
    match end > whole {
        true => (FLOAT, end),
        false if unsigned(whole) => (UINT, whole + 1),
        false => (INT, whole),
    }
}

/// The end of a string whose quote is at `at`, or the index of the first invalid character.
fn string(chars: &[char], at: usize, raw: bool, triple: bool) -> Result<usize, usize> {
    let quote = chars[at];
    let mut i = at + if triple { 3 } else { 1 };
    loop {
        let Some(c) = chars.get(i).copied() else { return Err(i) };
        if c == quote && (!triple || (chars.get(i + 1) == Some(&quote) && chars.get(i + 2) == Some(&quote))) {
            return Ok(i + if triple { 3 } else { 1 });
        }
        if !triple && (c == '\n' || c == '\r') {
            return Err(i);
        }
        i = if c == '\\' && !raw { escape(chars, i)? } else { i + 1 };
    }
}

/// The end of the escape sequence that begins with the backslash at `at`.
fn escape(chars: &[char], at: usize) -> Result<usize, usize> {
    let is = |i: usize, of: fn(char) -> bool| chars.get(i).is_some_and(|c| of(*c));
    let hex = |from: usize, count: usize| {
        (from..from + count).find(|i| !is(*i, |c| c.is_ascii_hexdigit())).map_or(Ok(from + count), Err)
    };
    match chars.get(at + 1) {
        Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`') => Ok(at + 2),
        Some('0'..='3') => (at + 2..at + 4).find(|i| !is(*i, |c| matches!(c, '0'..='7'))).map_or(Ok(at + 4), Err),
        Some('x' | 'X') => hex(at + 2, 2),
        Some('u') => hex(at + 2, 4),
        Some('U') => hex(at + 2, 8),
        _ => Err(at + 1),
    }
}
