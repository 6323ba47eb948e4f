//! Kubernetes' functions of lists: sums, minima and maxima, indices of elements.
//!
//! Port of `pkg/cel/library/lists.go` of k8s.io/apiserver v0.37.1.

use super::Table;
use super::lists::list;
use super::operators::add;
use crate::value::{Outcome, Value, fail, no_such_overload};
use std::cmp::Ordering;

pub(super) const OVERLOADS: Table = &[
    ("list_int_is_sorted_bool", is_sorted),
    ("list_uint_is_sorted_bool", is_sorted),
    ("list_double_is_sorted_bool", is_sorted),
    ("list_bool_is_sorted_bool", is_sorted),
    ("list_duration_is_sorted_bool", is_sorted),
    ("list_timestamp_is_sorted_bool", is_sorted),
    ("list_string_is_sorted_bool", is_sorted),
    ("list_bytes_is_sorted_bool", is_sorted),
    ("list_int_sum_int", |args| sum(args, Value::Int(0))),
    ("list_uint_sum_uint", |args| sum(args, Value::Uint(0))),
    ("list_double_sum_double", |args| sum(args, Value::Double(0.0))),
    ("list_duration_sum_duration", |args| sum(args, Value::Duration(0))),
    ("list_int_max_int", max),
    ("list_uint_max_uint", max),
    ("list_double_max_double", max),
    ("list_bool_max_bool", max),
    ("list_duration_max_duration", max),
    ("list_timestamp_max_timestamp", max),
    ("list_string_max_string", max),
    ("list_bytes_max_bytes", max),
    ("list_int_min_int", min),
    ("list_uint_min_uint", min),
    ("list_double_min_double", min),
    ("list_bool_min_bool", min),
    ("list_duration_min_duration", min),
    ("list_timestamp_min_timestamp", min),
    ("list_string_min_string", min),
    ("list_bytes_min_bytes", min),
    ("list_a_index_of_int", |args| {
        let place = list(&args[0])?.items().iter().position(|item| matches!(item.equals(&args[1]), Ok(true)));
        Ok(Value::Int(place.map_or(-1, |place| place as i64)))
    }),
    ("list_a_last_index_of_int", |args| {
        let place = list(&args[0])?.items().iter().rposition(|item| matches!(item.equals(&args[1]), Ok(true)));
        Ok(Value::Int(place.map_or(-1, |place| place as i64)))
    }),
    ("list_includes_dyn_dyn", |args| {
        let found = match &args[0] {
            Value::List(list) => list.items().iter().any(|item| matches!(item.equals(&args[1]), Ok(true))),
            other => matches!(other.equals(&args[1]), Ok(true)),
        };
        Ok(Value::Bool(found))
    }),
];

fn is_sorted(args: &[Value]) -> Outcome {
    let items = list(&args[0])?.items();
    for pair in items.windows(2) {
        if !good(&pair[1])?.is_ordered() {
            return no_such_overload();
        }
        if matches!(pair[0].compare(&pair[1]), Ok(Ordering::Greater)) {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum(args: &[Value], zero: Value) -> Outcome {
    list(&args[0])?.items().iter().try_fold(zero, |sum, item| add(&sum, good(item)?))
}

/// An element that is as its schema says.
fn good(item: &Value) -> Outcome<&Value> {
    match item {
        Value::Fault(message) => fail(message.clone()),
        item => Ok(item),
    }
}

fn max(args: &[Value]) -> Outcome {
    extreme(args, "max", Ordering::Less)
}

fn min(args: &[Value]) -> Outcome {
    extreme(args, "min", Ordering::Greater)
}

/// The minimum or maximum. `replaced_by` is the order of the present one to an element that replaces it.
fn extreme(args: &[Value], name: &str, replaced_by: Ordering) -> Outcome {
    let mut found: Option<&Value> = None;
    for item in list(&args[0])?.items() {
        if !good(item)?.is_ordered() {
            return no_such_overload();
        }
        if found.is_none_or(|so_far| matches!(so_far.compare(item), Ok(order) if order == replaced_by)) {
            found = Some(item);
        }
    }
    found.map_or_else(|| fail(format!("{name} called on empty list")), |value| Ok(value.clone()))
}
