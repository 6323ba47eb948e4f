//! Lists as sets.
//!
//! Port of `ext/sets.go` of cel-go v0.29.2.

use super::Table;
use super::lists::list;
use crate::value::{List, Outcome, Value};

pub(super) const OVERLOADS: Table = &[
    ("list_sets_contains_list", |args| contains(list(&args[0])?, list(&args[1])?).map(Value::Bool)),
    ("list_sets_equivalent_list", |args| {
        let (a, b) = (list(&args[0])?, list(&args[1])?);
        Ok(Value::Bool(contains(a, b)? && contains(b, a)?))
    }),
    ("list_sets_intersects_list", |args| {
        let (a, b) = (list(&args[0])?, list(&args[1])?);
        Ok(Value::Bool(a.items().iter().any(|item| matches!(b.contains(item), Ok(true)))))
    }),
];

fn contains(list: &List, part: &List) -> Outcome<bool> {
    for item in part.items() {
        if !list.contains(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}
