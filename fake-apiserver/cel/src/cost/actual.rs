//! The actual costs of calls.
//!
//! Port of `interpreter/runtimecost.go` and `ext` of cel-go v0.29.2, and of `CallCost` in `pkg/cel/library/cost.go` of
//! k8s.io/apiserver v0.37.1.

use super::functions::is_constant;
use super::{REGEX, STRING};
use crate::library::Opaque;
use crate::value::{Outcome, Value};

/// The costs of selecting a part, and of making a list, a map or an object.
pub(crate) const SELECT: u64 = 1;
pub(crate) const LIST: u64 = 10;
pub(crate) const MAP: u64 = 30;
pub(crate) const STRUCT: u64 = 40;

/// The cost of an authorization check.
pub(crate) const CHECK: u64 = 350_000;

/// The cost of a call. `overload` is empty if it is not known.
pub(crate) fn call(function: &str, overload: &str, args: &[Outcome], result: &Outcome) -> u64 {
    let size = |i: usize| args.get(i).map_or(1, of);
    of_list_function(overload, args, result)
        .or_else(|| of_kubernetes(function, overload, args, result))
        .unwrap_or_else(|| of_standard(overload, &size))
}

fn of(value: &Outcome) -> u64 {
    match value {
        Ok(Value::Optional(Some(value))) => of(&Ok((**value).clone())),
        Ok(value) => value.size().unwrap_or(1),
        Err(_) => 1,
    }
}

/// The size of an argument of Kubernetes' functions.
fn own_size(value: Option<&Outcome>) -> u64 {
    value.and_then(|value| value.as_ref().ok()).and_then(Value::size).unwrap_or(1)
}

fn part(size: u64, by: f64) -> u64 {
    (size as f64 * by).ceil() as u64
}

fn pattern(subject: u64, regex: u64) -> u64 {
    ((1.0 + subject as f64) * STRING).ceil() as u64 * part(regex, REGEX)
}

fn of_list_function(overload: &str, args: &[Outcome], result: &Outcome) -> Option<u64> {
    let size = |i: usize| args.get(i).map_or(1, of);
    let allocating = |factor: f64, size: u64| {
        let factor = if factor < 0.0 { 1.0 } else { factor };
        ((size as f64 * factor) as u64).saturating_add(1).saturating_add(LIST)
    };
    let compared = |i: usize| {
        let first = match args.get(i) {
            Some(Ok(Value::List(list))) => list.items().first().cloned(),
            _ => None,
        };
        let is_text = matches!(first, Some(Value::String(_) | Value::Bytes(_)));
        let size = size(i);
        if size == 0 {
            allocating(2.0, 0)
        } else {
            allocating(2.0 + if is_text { STRING } else { 0.0 }, size.saturating_mul(size))
        }
    };
    Some(match overload {
        "list_slice" | "lists_range" | "list_reverse" => allocating(1.0, of(result)),
        "list_flatten" => allocating(1.0, size(0)),
        "list_flatten_int" => match args.get(1) {
            Some(Ok(Value::Int(depth))) => allocating(*depth as f64, size(0)),
            _ => allocating(1.0, size(0)),
        },
        "list_distinct" => compared(0),
        overload if overload.starts_with("list_") && overload.ends_with("_sort") => compared(0),
        overload if overload.ends_with("_sortByAssociatedKeys") => compared(1),
        "list_sets_contains_list" | "list_sets_intersects_list" => 1_u64.saturating_add(size(0).wrapping_mul(size(1))),
        "list_sets_equivalent_list" => 1_u64.saturating_add((size(0).wrapping_mul(size(1)) as f64 * 2.0) as u64),
        _ => return None,
    })
}

fn of_kubernetes(function: &str, overload: &str, args: &[Outcome], result: &Outcome) -> Option<u64> {
    let size = |i: usize| own_size(args.get(i));
    let first = args.first()?;
    Some(match function {
        "check" => CHECK,
        "fieldSelector" | "labelSelector" if args.len() >= 2 => {
            let length = size(1);
            LIST + part(length, STRING) + part(part(length, 0.5), (LIST + STRUCT) as f64)
        }
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes" => traversal(first.as_ref().ok()),
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "quantity"
        | "isQuantity" | "semver" | "isSemver" => part(size(0), STRING),
        "replace" | "split" | "ip.isCanonical" => part(size(0), 2.0 * STRING),
        "join" => part(own_size(Some(result)), 2.0 * STRING),
        "find" | "findAll" if args.len() >= 2 => pattern(size(0), size(1)),
        "ip" if overload == "cidr_ip" => 1,
        "ip" => part(size(0), STRING),
        "containsIP" if args.len() >= 2 => {
            let parsed = if overload == "cidr_contains_ip_string" { part(size(1), STRING) } else { 0 };
            part(2 * size(0), STRING) + parsed
        }
        "containsCIDR" if args.len() >= 2 => {
            let parsed = if overload == "cidr_contains_cidr_string" { part(size(1), STRING) } else { 0 };
            part(2 * size(0), STRING) + part(size(0), STRING) + 1 + parsed
        }
        "validate" if args.len() >= 2 => match first {
            Ok(Value::Opaque(Opaque::Format(format))) => pattern(size(1), format.regex_size),
            _ => return None,
        },
        "_==_" => match first {
            Ok(Value::Opaque(opaque)) if !matches!(opaque, Opaque::Preserved(_)) => 1,
            _ => return None,
        },
        name if is_constant(name) => 1,
        _ => return None,
    })
}

/// The cost of traversing a value once.
fn traversal(value: Option<&Value>) -> u64 {
    match value {
        Some(Value::String(text)) => (text.len() as f64 * STRING) as u64,
        Some(Value::Bytes(bytes)) => (bytes.len() as f64 * STRING) as u64,
        Some(Value::List(list)) => list.items().iter().map(|item| traversal(Some(item))).sum(),
        Some(Value::Map(map)) => {
            map.entries().iter().map(|(key, value)| traversal(Some(key)) + traversal(Some(value))).sum()
        }
        _ => 1,
    }
}

fn of_standard(overload: &str, size: &dyn Fn(usize) -> u64) -> u64 {
    match overload {
        "starts_with_string" | "ends_with_string" => part(size(1), STRING),
        "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => part(size(0), STRING),
        "in_list" => size(1),
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes"
        | "equals"
        | "not_equals" => part(size(0).min(size(1)), STRING),
        "add_string" | "add_bytes" => part(size(0).saturating_add(size(1)), STRING),
        "matches" | "matches_string" => pattern(size(0), size(1)),
        "contains_string" => part(size(0), STRING) * part(size(1), STRING),
        _ => 1,
    }
}
