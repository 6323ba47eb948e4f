//! Lists: slices, order, ranges.
//!
//! Port of `ext/lists.go` of cel-go v0.29.2, in its version 3.

use super::{Table, int};
use crate::value::{List, Outcome, Value, fail, no_such_overload};

/// The longest range.
const MAX_RANGE: i64 = 1_000_000;

pub(super) const OVERLOADS: Table = &[
    ("list_slice", |args| slice(list(&args[0])?, int(&args[1])?, int(&args[2])?)),
    ("list_flatten", |args| flatten(&args[0], "", 1)),
    ("list_flatten_int", |args| flatten(&args[0], "int", int(&args[1])?)),
    ("lists_range", |args| range(int(&args[0])?)),
    ("list_reverse", |args| Ok(Value::from(list(&args[0])?.items().iter().rev().cloned().collect::<Vec<_>>()))),
    ("list_distinct", |args| Ok(distinct(&args[0], list(&args[0])?))),
];

pub(super) fn list(value: &Value) -> Outcome<&List> {
    match value {
        Value::List(list) => Ok(list),
        _ => no_such_overload(),
    }
}

fn slice(list: &List, start: i64, end: i64) -> Outcome {
    let length = list.len() as i64;
    if start < 0 || end < 0 {
        return fail(format!("cannot slice({start}, {end}), negative indexes not supported"));
    }
    if start > end {
        return fail(format!("cannot slice({start}, {end}), start index must be less than or equal to end index"));
    }
    if length < end {
        return fail(format!("cannot slice({start}, {end}), list is length {length}"));
    }
    Ok(Value::from(list.items()[start as usize..end as usize].to_vec()))
}

fn flatten(value: &Value, given: &str, depth: i64) -> Outcome {
    let Value::List(list) = value else {
        return fail(format!("no such overload: {}.flatten({given})", value.type_of()));
    };
    if depth < 0 {
        return fail("level must be non-negative");
    }
    let mut out = Vec::new();
    flatten_into(list, depth, &mut out);
    Ok(Value::from(out))
}

fn flatten_into(list: &List, depth: i64, out: &mut Vec<Value>) {
    for item in list.items() {
        match item {
            Value::List(inner) if depth > 0 => flatten_into(inner, depth - 1, out),
            item => out.push(item.clone()),
        }
    }
}

fn range(count: i64) -> Outcome {
    if count < 0 {
        return fail(format!("lists.range: size must be non-negative, got {count}"));
    }
    if count > MAX_RANGE {
        return fail(format!("lists.range: size {count} exceeds maximum allowed ({MAX_RANGE})"));
    }
    Ok(Value::from((0..count).map(Value::Int).collect::<Vec<_>>()))
}

fn distinct(value: &Value, list: &List) -> Value {
    if list.len() == 0 {
        return value.clone();
    }
    let mut seen: Vec<Value> = Vec::new();
    for item in list.items() {
        if !seen.iter().any(|other| matches!(item.equals(other), Ok(true))) {
            seen.push(item.clone());
        }
    }
    Value::from(seen)
}

/// The elements of a list in the order of their keys.
pub(super) fn sort(value: &Value, keys: &Value) -> Outcome {
    let (items, keys) = (list(value)?, list(keys)?);
    if items.len() != keys.len() {
        let what = "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got";
        return fail(format!("{what} {} and {} elements respectively", items.len(), keys.len()));
    }
    let Some(first) = keys.items().first() else { return Ok(value.clone()) };
    if !first.is_ordered() {
        return fail("list elements must be comparable");
    }
    if keys.len() > 1 && keys.items().iter().any(|key| !key.type_of().same_kind(&first.type_of())) {
        return fail("list elements must have the same type");
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|a, b| keys.items()[*a].compare(&keys.items()[*b]).unwrap_or(std::cmp::Ordering::Equal));
    Ok(Value::from(order.into_iter().map(|i| items.items()[i].clone()).collect::<Vec<_>>()))
}
