//! The functions of regular expressions.
//!
//! Port of `pkg/cel/library/regex.go` of k8s.io/apiserver v0.37.1.

use super::{Table, int, text};
use crate::go_regex::{Expression, compile};
use crate::value::{Outcome, Value, fail};
use std::sync::Arc;

pub(super) const OVERLOADS: Table = &[
    ("string_find_string", |args| {
        let (subject, pattern) = (text(&args[0])?, text(&args[1])?);
        find(subject, &*compile(pattern).or_else(illegal)?)
    }),
    ("string_find_all_string", |args| {
        let (subject, pattern) = (text(&args[0])?, text(&args[1])?);
        find_all(subject, &*compile(pattern).or_else(illegal)?, -1)
    }),
    ("string_find_all_string_int", |args| {
        let (subject, pattern) = (text(&args[0])?, text(&args[1])?);
        let count = int(&args[2])?;
        find_all(subject, &*compile(pattern).or_else(illegal)?, count)
    }),
];

fn illegal(error: String) -> Outcome<Arc<Expression>> {
    fail(format!("Illegal regex: {error}"))
}

pub(crate) fn find(subject: &str, regex: &Expression) -> Outcome {
    Ok(Value::from(regex.find(subject).unwrap_or_default()))
}

pub(crate) fn find_all(subject: &str, regex: &Expression, count: i64) -> Outcome {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let found: Vec<Value> = regex.find_iter(subject).take(count).map(Value::from).collect();
    Ok(Value::from(found))
}
