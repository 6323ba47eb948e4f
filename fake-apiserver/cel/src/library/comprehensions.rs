//! The functions behind the macros with two variables.
//!
//! Port of `ext/comprehensions.go` of cel-go v0.29.2.

use super::Table;
use crate::value::{Value, no_such_overload};

pub(super) const OVERLOADS: Table = &[
    ("@mapInsert_map_key_value", |args| match &args[0] {
        Value::Map(map) => map.clone().with(args[1].clone(), args[2].clone()).map(Value::Map),
        _ => no_such_overload(),
    }),
    ("@mapInsert_map_map", |args| match (&args[0], &args[1]) {
        (Value::Map(map), Value::Map(more)) => {
            more.entries().into_iter().try_fold(map.clone(), |map, (key, value)| map.with(key, value)).map(Value::Map)
        }
        _ => no_such_overload(),
    }),
];
