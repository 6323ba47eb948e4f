//! The functions of regular expressions.
//!
//! Port of `pkg/cel/library/regex.go` of k8s.io/apiserver v0.37.1.

use super::{Table, int, text};
use crate::go_regex::compile;
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
