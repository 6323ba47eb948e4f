//! Quantities, such as `1.5Gi`.
//!
//! Port of `pkg/cel/library/quantity.go` of k8s.io/apiserver v0.37.1.

use super::{Opaque, Table, int, text};
use crate::value::{Outcome, Value, fail, no_such_overload};
use quantity::Quantity;
use std::cmp::Ordering;
use std::sync::Arc;

pub(super) const OVERLOADS: Table = &[
    ("string_to_quantity", |args| match Quantity::parse(text(&args[0])?) {
        Ok(quantity) => Ok(Value::Opaque(Opaque::Quantity(Arc::new(quantity), false))),
        Err(error) => fail(error),
    }),
    ("is_quantity_string", |args| Ok(Value::Bool(Quantity::parse(text(&args[0])?).is_ok()))),
    ("quantity_sign", |args| Ok(Value::Int(own(&args[0])?.sign() as i64))),
    ("quantity_is_greater_than", |args| Ok(Value::Bool(order(args)?.is_gt()))),
    ("quantity_is_less_than", |args| Ok(Value::Bool(order(args)?.is_lt()))),
    ("quantity_compare_to", |args| Ok(Value::Int(order(args)? as i64))),
    ("quantity_get_float", |args| Ok(Value::Double(own(&args[0])?.as_approximate_float64()))),
    ("quantity_get_int", |args| match own(&args[0])?.as_int64() {
        Some(value) => Ok(Value::Int(value)),
        None => fail("cannot convert value to integer"),
    }),
    ("quantity_is_integer", |args| Ok(Value::Bool(own(&args[0])?.as_int64().is_some()))),
    ("quantity_add", |args| calculated(Quantity::add, &args[0], own(&args[1])?)),
    ("quantity_add_int", |args| calculated(Quantity::add, &args[0], &Quantity::of(int(&args[1])?))),
    ("quantity_sub", |args| calculated(Quantity::subtract, &args[0], own(&args[1])?)),
    ("quantity_sub_int", |args| calculated(Quantity::subtract, &args[0], &Quantity::of(int(&args[1])?))),
];

fn own(value: &Value) -> Outcome<&Quantity> {
    match value {
        Value::Opaque(Opaque::Quantity(quantity, _)) => Ok(quantity),
        _ => no_such_overload(),
    }
}

fn order(args: &[Value]) -> Outcome<Ordering> {
    Ok(own(&args[0])?.cmp(own(&args[1])?))
}

fn calculated(how: fn(&mut Quantity, &Quantity), one: &Value, other: &Quantity) -> Outcome<Value> {
    let mut result = own(one)?.clone();
    how(&mut result, other);
    Ok(Value::Opaque(Opaque::Quantity(Arc::new(result), true)))
}
