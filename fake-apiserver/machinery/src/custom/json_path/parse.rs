//! The parser of expressions.

use super::steps::{Comparison, JsonPath, Slice, Step};
use tree::Value;

impl JsonPath {
    /// Parses an expression; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<JsonPath> {
        let mut steps = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let after = &rest[first.len_utf8()..];
            rest = match first {
                _ if rest.starts_with("[?(") => filter(&rest[3..], &mut steps)?,
                _ if rest.starts_with("..") => {
                    if matches!(steps.last(), Some(Step::Descend)) {
                        return None;
                    }
                    steps.push(Step::Descend);
                    let after = &rest[2..];
                    if after.starts_with(|next: char| next == '_' || next.is_alphanumeric()) {
                        field(after, &mut steps)
                    } else {
                        after
                    }
                }
                ' ' | '@' | '$' => after,
                '[' => {
                    let end = after.find(']')?;
                    brackets(&after[..end], &mut steps)?;
                    &after[end + 1..]
                }
                '.' => field(after, &mut steps),
                '"' | '\'' => {
                    let end = closing_quote(after, first)?;
                    steps.push(Step::Constant(unquote(&after[..end])?.into()));
                    &after[end + 1..]
                }
                '+' | '-' | '0'..='9' => {
                    let end = after.find(|next: char| next != '.' && !next.is_ascii_digit()).unwrap_or(after.len());
                    steps.push(Step::Constant(number(&rest[..end + 1])?));
                    &after[end..]
                }
                _ => {
                    let end = rest.find(is_terminator).unwrap_or(rest.len());
                    let constant = rest[..end].parse::<bool>().ok()?;
                    steps.push(Step::Constant(constant.into()));
                    &rest[end..]
                }
            };
        }
        Some(JsonPath(steps))
    }
}

/// Parses a field's name, and returns the rest of the text.
fn field<'t>(text: &'t str, steps: &mut Vec<Step>) -> &'t str {
    let mut escaped = false;
    let end = text.find(|next: char| {
        let ends = !escaped && is_terminator(next);
        escaped = !escaped && next == '\\';
        ends
    });
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name.replace('\\', "")) });
    rest
}

fn is_terminator(next: char) -> bool {
    matches!(next, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// Parses the text between brackets.
fn brackets(text: &str, steps: &mut Vec<Step>) -> Option<()> {
    if text.contains(',') {
        let paths = text.split(',').map(|part| JsonPath::parse(&format!("[{}]", part.trim_matches(' '))));
        steps.push(Step::Union(paths.collect::<Option<_>>()?));
        return Some(());
    }
    if let Some(key) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        let rest = field(key, steps);
        steps.extend(JsonPath::parse(rest)?.0);
        return Some(());
    }
    let text = if text == "*" { ":" } else { text };
    let parts: Vec<&str> = text.split(':').collect();
    let place = |part: &str| if part.is_empty() { Some(None) } else { part.parse::<i64>().ok().map(Some) };
    let slice = match parts[..] {
        [index] => {
            let start = index.parse::<i64>().ok()?;
            Slice { start, end: Some(start.checked_add(1)?), step: 1, index: true }
        }
        [start, end] => Slice { start: place(start)?.unwrap_or(0), end: place(end)?, step: 1, index: false },
        [start, end, step] => {
            let step = place(step)?.unwrap_or(1);
            Slice { start: place(start)?.unwrap_or(0), end: place(end)?, step, index: false }
        }
        _ => return None,
    };
    steps.push(Step::Slice(slice));
    Some(())
}

/// Parses a filter, and returns the rest of the text.
fn filter<'t>(text: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    let mut quote = None;
    let mut end = None;
    let mut previous = ' ';
    for (at, next) in text.char_indices() {
        match (quote, next) {
            (None, '"' | '\'') => quote = Some(next),
            (Some(open), next) if next == open && previous != '\\' => quote = None,
            (None, ')') => {
                end = Some(at);
                break;
            }
            _ => {}
        }
        previous = next;
    }
    let (condition, rest) = text.split_at(end?);
    let rest = rest.strip_prefix(")]")?;
    let is_operator = |next: char| matches!(next, '!' | '<' | '>' | '=');
    let step = match condition.find(is_operator).filter(|at| *at > 0) {
        None => Step::Filter { left: JsonPath::parse(condition)?, comparison: None },
        Some(at) => {
            let (left, right) = condition.split_at(at);
            let length = right.find(|next| !is_operator(next)).unwrap_or(right.len());
            let comparison = match &right[..length] {
                "==" => Comparison::Equal,
                "!=" => Comparison::NotEqual,
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterOrEqual,
                _ => return None,
            };
            let right = JsonPath::parse(&right[length..])?;
            Step::Filter { left: JsonPath::parse(left)?, comparison: Some((comparison, right)) }
        }
    };
    steps.push(step);
    Some(rest)
}

fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut previous = ' ';
    text.char_indices().find_map(|(at, next)| {
        let closes = next == quote && previous != '\\';
        previous = next;
        closes.then_some(at)
    })
}

/// The text between quotes, with those of Go's escapes that JSON has, too, and `\'`.
fn unquote(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return Some(text.into());
    }
    let inner = text.replace("\\'", "'").replace('"', "\\\"").replace("\\\\\"", "\\\"");
    serde_json::from_str(&format!("\"{inner}\"")).ok()
}

fn number(text: &str) -> Option<Value> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let float = || Some(tree::Number::from_f64(text.parse().ok()?)?.into());
    text.parse::<i64>().map(Value::from).ok().or_else(float)
}
