//! Operators, conversions and the functions of the standard library.
//!
//! Port of `common/stdlib/standard.go` and `common/types` of cel-go v0.29.2.

use super::{Function, Table, text};
use crate::go_regex;
use crate::types::Type;
use crate::value::{Map, Outcome, Value, fail, no_such_overload};
use std::cmp::Ordering;

/// A check whether a function accepts a value.
pub(crate) type Accepts = fn(&Value) -> bool;

/// The functions with one implementation for all overloads.
pub(super) const SINGLES: &[(&str, Function, Accepts)] = &[
    ("!_", |args| logical_not(&args[0]), any),
    ("@in", |args| is_in(&args[0], &args[1]), any),
    ("_+_", |args| add(&args[0], &args[1]), adds),
    ("_-_", |args| subtract(&args[0], &args[1]), subtracts),
    ("_*_", |args| multiply(&args[0], &args[1]), multiplies),
    ("_/_", |args| divide(&args[0], &args[1]), multiplies),
    ("_%_", |args| modulo(&args[0], &args[1]), |v| matches!(v, Value::Int(_) | Value::Uint(_))),
    (
        "-_",
        |args| negate(&args[0]),
        |v| matches!(v, Value::Int(_) | Value::Double(_) | Value::Duration(_) | Value::Bool(_)),
    ),
    ("_<_", |args| ordered(args, Ordering::is_lt), Value::is_ordered),
    ("_<=_", |args| ordered(args, Ordering::is_le), Value::is_ordered),
    ("_>_", |args| ordered(args, Ordering::is_gt), Value::is_ordered),
    ("_>=_", |args| ordered(args, Ordering::is_ge), Value::is_ordered),
    ("size", |args| Ok(Value::Int(args[0].size().unwrap_or(1) as i64)), sizes),
    ("type", |args| args[0].convert(&Type::Type(None)), any),
    ("dyn", |args| Ok(args[0].clone()), any),
    ("matches", |args| matches(&args[0], &args[1]), |v| matches!(v, Value::String(_))),
    ("sort", |args| super::lists::sort(&args[0], &args[0]), is_list),
    ("@sortByAssociatedKeys", |args| super::lists::sort(&args[0], &args[1]), is_list),
];

pub(super) const OVERLOADS: Table = &[
    ("not_strictly_false", |args| Ok(args[0].clone())),
    ("bool_to_bool", same),
    ("string_to_bool", |args| args[0].convert(&Type::Bool)),
    ("bytes_to_bytes", same),
    ("string_to_bytes", |args| args[0].convert(&Type::Bytes)),
    ("double_to_double", same),
    ("int64_to_double", |args| args[0].convert(&Type::Double)),
    ("string_to_double", |args| args[0].convert(&Type::Double)),
    ("uint64_to_double", |args| args[0].convert(&Type::Double)),
    ("duration_to_duration", same),
    ("string_to_duration", |args| args[0].convert(&Type::Duration)),
    ("int64_to_int64", same),
    ("double_to_int64", |args| args[0].convert(&Type::Int)),
    ("duration_to_int64", |args| args[0].convert(&Type::Int)),
    ("string_to_int64", |args| args[0].convert(&Type::Int)),
    ("timestamp_to_int64", |args| args[0].convert(&Type::Int)),
    ("uint64_to_int64", |args| args[0].convert(&Type::Int)),
    ("string_to_string", same),
    ("bool_to_string", |args| args[0].convert(&Type::String)),
    ("bytes_to_string", |args| args[0].convert(&Type::String)),
    ("double_to_string", |args| args[0].convert(&Type::String)),
    ("duration_to_string", |args| args[0].convert(&Type::String)),
    ("int64_to_string", |args| args[0].convert(&Type::String)),
    ("timestamp_to_string", |args| args[0].convert(&Type::String)),
    ("uint64_to_string", |args| args[0].convert(&Type::String)),
    ("ip_to_string", |args| args[0].convert(&Type::String)),
    ("cidr_to_string", |args| args[0].convert(&Type::String)),
    ("timestamp_to_timestamp", same),
    ("int64_to_timestamp", |args| args[0].convert(&Type::Timestamp)),
    ("string_to_timestamp", |args| args[0].convert(&Type::Timestamp)),
    ("uint64_to_uint64", same),
    ("double_to_uint64", |args| args[0].convert(&Type::Uint)),
    ("int64_to_uint64", |args| args[0].convert(&Type::Uint)),
    ("string_to_uint64", |args| args[0].convert(&Type::Uint)),
    ("contains_string", |args| Ok(Value::Bool(text(&args[0])?.contains(text(&args[1])?)))),
    ("ends_with_string", |args| Ok(Value::Bool(text(&args[0])?.ends_with(text(&args[1])?)))),
    ("starts_with_string", |args| Ok(Value::Bool(text(&args[0])?.starts_with(text(&args[1])?)))),
];

fn any(_: &Value) -> bool {
    true
}

fn adds(value: &Value) -> bool {
    subtracts(value) || matches!(value, Value::String(_) | Value::Bytes(_) | Value::List(_))
}

fn subtracts(value: &Value) -> bool {
    multiplies(value) || matches!(value, Value::Timestamp(_) | Value::Duration(_))
}

fn multiplies(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

fn sizes(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_))
}

fn is_list(value: &Value) -> bool {
    matches!(value, Value::List(_))
}

fn same(args: &[Value]) -> Outcome {
    Ok(args[0].clone())
}

fn logical_not(value: &Value) -> Outcome {
    match value {
        Value::Bool(value) => Ok(Value::Bool(!value)),
        _ => no_such_overload(),
    }
}

fn is_in(element: &Value, of: &Value) -> Outcome {
    match of {
        Value::List(list) => list.contains(element).map(Value::Bool),
        Value::Map(map) => map_contains(map, element),
        _ => no_such_overload(),
    }
}

fn map_contains(map: &Map, key: &Value) -> Outcome {
    map.find(key).map(|found| Value::Bool(found.is_some()))
}

fn ordered(args: &[Value], is: fn(Ordering) -> bool) -> Outcome {
    args[0].compare(&args[1]).map(|order| Value::Bool(is(order)))
}

fn or_overflow(value: Option<Value>, message: &str) -> Outcome {
    value.map_or_else(|| fail(message), Ok)
}

const INT: &str = "integer overflow";
const UINT: &str = "unsigned integer overflow";

pub(crate) fn add(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => or_overflow(a.checked_add(*b).map(Value::Int), INT),
        (Value::Uint(a), Value::Uint(b)) => or_overflow(a.checked_add(*b).map(Value::Uint), UINT),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => Ok(Value::from(format!("{a}{b}"))),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Value::from_bytes([&**a, &**b].concat())),
        (Value::List(a), Value::List(b)) => a.clone().join(b).map(Value::List),
        (Value::Duration(a), Value::Duration(b)) => or_overflow(a.checked_add(*b).map(Value::Duration), INT),
        (Value::Timestamp(at), Value::Duration(nanos)) | (Value::Duration(nanos), Value::Timestamp(at)) => {
            or_overflow(at.plus(*nanos).map(Value::Timestamp), "timestamp overflow")
        }
        _ => no_such_overload(),
    }
}

fn subtract(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => or_overflow(a.checked_sub(*b).map(Value::Int), INT),
        (Value::Uint(a), Value::Uint(b)) => or_overflow(a.checked_sub(*b).map(Value::Uint), UINT),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => or_overflow(a.checked_sub(*b).map(Value::Duration), INT),
        (Value::Timestamp(a), Value::Timestamp(b)) => or_overflow(a.since(*b).map(Value::Duration), INT),
        (Value::Timestamp(at), Value::Duration(nanos)) => match nanos.checked_neg() {
            Some(nanos) => or_overflow(at.plus(nanos).map(Value::Timestamp), "timestamp overflow"),
            None => fail(INT),
        },
        _ => no_such_overload(),
    }
}

fn multiply(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => or_overflow(a.checked_mul(*b).map(Value::Int), INT),
        (Value::Uint(a), Value::Uint(b)) => or_overflow(a.checked_mul(*b).map(Value::Uint), UINT),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        _ => no_such_overload(),
    }
}

fn divide(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => fail("division by zero"),
        (Value::Int(a), Value::Int(b)) => or_overflow(a.checked_div(*b).map(Value::Int), INT),
        (Value::Uint(a), Value::Uint(b)) => Ok(Value::Uint(a / b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        _ => no_such_overload(),
    }
}

fn modulo(a: &Value, b: &Value) -> Outcome {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => fail("modulus by zero"),
        (Value::Int(a), Value::Int(b)) => or_overflow(a.checked_rem(*b).map(Value::Int), INT),
        (Value::Uint(a), Value::Uint(b)) => Ok(Value::Uint(a % b)),
        _ => no_such_overload(),
    }
}

fn negate(value: &Value) -> Outcome {
    match value {
        Value::Int(i) => or_overflow(i.checked_neg().map(Value::Int), INT),
        Value::Double(d) => Ok(Value::Double(-d)),
        Value::Duration(nanos) => or_overflow(nanos.checked_neg().map(Value::Duration), INT),
        _ => no_such_overload(),
    }
}

fn matches(subject: &Value, pattern: &Value) -> Outcome {
    let (subject, pattern) = (text(subject)?, text(pattern)?);
    match go_regex::compile(pattern) {
        Ok(regex) => Ok(Value::Bool(regex.is_match(subject))),
        Err(error) => fail(error),
    }
}
