//! Optional values.
//!
//! Port of the optional library in `cel/library.go` of cel-go v0.29.2. `or` and `orValue`, which evaluate their argument
//! only if they need it, are steps of evaluation.

use super::Table;
use super::lists::list;
use crate::value::{Outcome, Value, fail, no_such_overload};

pub(super) const OVERLOADS: Table = &[
    ("optional_of", |args| Ok(Value::some(args[0].clone()))),
    ("optional_ofNonZeroValue", |args| {
        Ok(if args[0].is_zero() { Value::Optional(None) } else { Value::some(args[0].clone()) })
    }),
    ("optional_none", |_| Ok(Value::Optional(None))),
    ("optional_value", |args| match &args[0] {
        Value::Optional(Some(value)) => (**value).clone().looked_at(),
        Value::Optional(None) => fail("optional.none() dereference"),
        _ => no_such_overload(),
    }),
    ("optional_hasValue", |args| match &args[0] {
        Value::Optional(value) => Ok(Value::Bool(value.is_some())),
        _ => no_such_overload(),
    }),
    ("optional_unwrap", unwrap),
    ("optional_unwrapOpt", unwrap),
    ("list_first", |args| Ok(Value::Optional(list(&args[0])?.items().first().cloned().map(Into::into)))),
    ("list_last", |args| Ok(Value::Optional(list(&args[0])?.items().last().cloned().map(Into::into)))),
];

fn unwrap(args: &[Value]) -> Outcome {
    let mut present = Vec::new();
    for item in list(&args[0])?.items() {
        match item {
            Value::Optional(Some(value)) => present.push((**value).clone()),
            Value::Optional(None) => {}
            other => return fail(format!("value {other} is not optional")),
        }
    }
    Ok(Value::from(present))
}
