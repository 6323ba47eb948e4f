//! Strings.
//!
//! Port of `ext/strings.go` of cel-go v0.29.2, in its version 2; and `pkg/cel/library/jsonpatch.go` of k8s.io/apiserver v0.37.1.

use super::{Table, go, int, text};
use crate::functions::PATCH_OVERLOAD;
use crate::value::{Outcome, Value, fail, no_such_overload};

pub(super) const OVERLOADS: Table = &[
    ("string_char_at_int", |args| char_at(text(&args[0])?, int(&args[1])?)),
    ("string_index_of_string", |args| index_of(text(&args[0])?, text(&args[1])?, 0)),
    ("string_index_of_string_int", |args| index_of(text(&args[0])?, text(&args[1])?, int(&args[2])?)),
    ("string_last_index_of_string", |args| last_index_of(text(&args[0])?, text(&args[1])?, None)),
    ("string_last_index_of_string_int", |args| last_index_of(text(&args[0])?, text(&args[1])?, Some(int(&args[2])?))),
    ("string_lower_ascii", |args| Ok(Value::from(text(&args[0])?.to_ascii_lowercase()))),
    ("string_upper_ascii", |args| Ok(Value::from(text(&args[0])?.to_ascii_uppercase()))),
    ("string_replace_string_string", |args| Ok(Value::from(text(&args[0])?.replace(text(&args[1])?, text(&args[2])?)))),
    ("string_replace_string_string_int", |args| {
        let (subject, old, new) = (text(&args[0])?, text(&args[1])?, text(&args[2])?);
        Ok(Value::from(match usize::try_from(int(&args[3])?) {
            Ok(count) => subject.replacen(old, new, count),
            Err(_) => subject.replace(old, new),
        }))
    }),
    ("string_split_string", |args| Ok(split(text(&args[0])?, text(&args[1])?, -1))),
    ("string_split_string_int", |args| Ok(split(text(&args[0])?, text(&args[1])?, int(&args[2])?))),
    ("string_substring_int", |args| substring(text(&args[0])?, int(&args[1])?, None)),
    ("string_substring_int_int", |args| substring(text(&args[0])?, int(&args[1])?, Some(int(&args[2])?))),
    ("string_trim", |args| Ok(Value::from(text(&args[0])?.trim_matches(go::is_space)))),
    ("string_format", super::format::format),
    ("strings_quote", |args| Ok(Value::from(quote(text(&args[0])?)))),
    (PATCH_OVERLOAD, |args| Ok(Value::from(text(&args[0])?.replace('~', "~0").replace('/', "~1")))),
    ("list_join", |args| join(&args[0], "")),
    ("list_join_string", |args| join(&args[0], text(&args[1])?)),
];

fn out_of_range<T>(index: i64) -> Outcome<T> {
    fail(format!("index out of range: {index}"))
}

fn char_at(subject: &str, index: i64) -> Outcome {
    let Ok(at) = usize::try_from(index) else { return out_of_range(index) };
    match subject.chars().nth(at) {
        Some(c) => Ok(Value::from(c.to_string())),
        None if subject.chars().count() == at => Ok(Value::from("")),
        None => out_of_range(index),
    }
}

fn index_of(subject: &str, part: &str, from: i64) -> Outcome {
    let Ok(start) = usize::try_from(from) else { return out_of_range(from) };
    let length = subject.chars().count();
    if part.is_empty() {
        return Ok(Value::Int(from.min(length as i64)));
    }
    let Some((byte, _)) = subject.char_indices().nth(start) else { return Ok(Value::Int(-1)) };
    let found = subject[byte..].find(part).map(|at| start + subject[byte..byte + at].chars().count());
    Ok(Value::Int(found.map_or(-1, |at| at as i64)))
}

fn last_index_of(subject: &str, part: &str, from: Option<i64>) -> Outcome {
    let length = subject.chars().count() as i64;
    let from = match from {
        Some(from) => from,
        None if part.is_empty() => return Ok(Value::Int(length)),
        None if subject.len() < part.len() => return Ok(Value::Int(-1)),
        None => length - 1,
    };
    if from < 0 {
        return out_of_range(from);
    }
    if part.is_empty() {
        return Ok(Value::Int(from.min(length)));
    }
    if from >= length {
        return Ok(Value::Int(-1));
    }
    // An occurrence that begins at or before `from` ends at or before `from` plus the length of the part.
    let end = subject.char_indices().nth((from as usize).saturating_add(part.chars().count()));
    let within = end.map_or(subject, |(byte, _)| &subject[..byte]);
    Ok(Value::Int(within.rfind(part).map_or(-1, |at| subject[..at].chars().count() as i64)))
}

/// Go's `strings.SplitN`.
fn split(subject: &str, separator: &str, count: i64) -> Value {
    let parts: Vec<Value> = match usize::try_from(count) {
        Ok(0) => Vec::new(),
        count if separator.is_empty() => {
            let chars: Vec<char> = subject.chars().collect();
            let singles = count.unwrap_or(usize::MAX).min(chars.len());
            let mut parts: Vec<String> = chars.iter().take(singles).map(char::to_string).collect();
            if let Some(last) = parts.last_mut() {
                last.extend(&chars[singles..]);
            }
            parts.into_iter().map(Value::from).collect()
        }
        Ok(count) => subject.splitn(count, separator).map(Value::from).collect(),
        Err(_) => subject.split(separator).map(Value::from).collect(),
    };
    Value::from(parts)
}

fn substring(subject: &str, start: i64, end: Option<i64>) -> Outcome {
    let length = subject.chars().count() as i64;
    if let Some(end) = end.filter(|end| start > *end) {
        return fail(format!("invalid substring range. start: {start}, end: {end}"));
    }
    let end = end.unwrap_or(length);
    for index in [start, end] {
        if !(0..=length).contains(&index) {
            return out_of_range(index);
        }
    }
    Ok(Value::from(subject.chars().skip(start as usize).take((end - start) as usize).collect::<String>()))
}

fn quote(subject: &str) -> String {
    let mut out = String::from("\"");
    for c in subject.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn join(list: &Value, separator: &str) -> Outcome {
    let Value::List(list) = list else { return no_such_overload() };
    let mut parts = Vec::with_capacity(list.len());
    for item in list.items() {
        match item {
            Value::String(part) => parts.push(&**part),
            other => return fail(format!("join: invalid input: {other}")),
        }
    }
    Ok(Value::from(parts.join(separator)))
}
