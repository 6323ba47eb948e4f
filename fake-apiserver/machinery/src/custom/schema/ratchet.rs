//! Ratcheting: unchanged invalid values are tolerated.
//!
//! A port of `k8s.io/apiserver/pkg/cel/common/{equality,maplist}.go` (v0.37.1). Its equality is special: an
//! object with a field without a schema never equals another, nor does a number equal the same number of the other kind.

use super::kind::Kind;
use super::node::{ListType, Node};
use crate::deadline::Deadline;
use crate::schema::quote;
use std::cell::RefCell;
use std::collections::HashMap;
use tree::{Text, Value};

/// The results of comparing objects and lists of a new value with the old ones, by their addresses in memory, so that each
/// is compared once, however many values around it have findings.
#[derive(Debug, Default)]
pub struct Compared {
    deadline: Deadline,
    known: RefCell<HashMap<usize, bool>>,
}

impl Compared {
    /// No results yet. Once the time is up, everything has changed.
    pub fn until(deadline: &Deadline) -> Self {
        Compared { deadline: deadline.clone(), ..Compared::default() }
    }
}

/// The value that another one replaces.
#[derive(Debug, Clone, Copy)]
pub struct Old<'v> {
    value: &'v Value,
    compared: &'v Compared,
}

impl<'v> Old<'v> {
    /// A stored value, and how the new one compares with it.
    pub fn new(value: &'v Value, compared: &'v Compared) -> Self {
        Old { value, compared }
    }

    fn part(self, value: &'v Value) -> Self {
        Old { value, ..self }
    }

    /// The value itself.
    pub fn value(self) -> &'v Value {
        self.value
    }

    /// Whether the value is null.
    pub fn is_null(self) -> bool {
        self.value.is_null()
    }

    /// Whether the value has not changed (`CachedDeepEqual`).
    pub fn equals(self, node: &Node, new: &Value) -> bool {
        if !new.is_object() && !new.is_array() {
            return self.value == new;
        }
        let place = std::ptr::from_ref(new).addr();
        let known = self.compared.known.borrow().get(&place).copied();
        known.unwrap_or_else(|| {
            let equal = self.compared.deadline.check().is_ok() && self.compare(node, new);
            self.compared.known.borrow_mut().insert(place, equal);
            equal
        })
    }

    fn compare(self, node: &Node, new: &Value) -> bool {
        match (self.value, new) {
            (Value::Array(old), Value::Array(new)) => {
                if old.len() != new.len() {
                    return false;
                }
                let Some(items) = node.items.as_deref().filter(|_| keys_of(node).is_some()) else { return old == new };
                let list = self.list(node);
                new.iter().all(|new| list.of(new).is_some_and(|old| old.equals(items, new)))
            }
            (Value::Object(old), Value::Object(new)) => {
                let same = |(name, new): (&Text, &Value)| {
                    let schema = node.field(name);
                    schema.is_some_and(|schema| self.field(name).is_some_and(|old| old.equals(schema, new)))
                };
                old.len() == new.len() && new.iter().all(same)
            }
            (old, new) => old == new,
        }
    }

    /// The old value of a field.
    pub fn field(self, name: &str) -> Option<Old<'v>> {
        Some(self.part(self.value.as_object()?.get(name)?))
    }

    /// The old items of a list by their keys.
    pub fn list<'s>(self, node: &'s Node) -> OldItems<'v, 's> {
        let keys = keys_of(node).unwrap_or_default();
        let mut items = HashMap::new();
        if !keys.is_empty() {
            for item in self.value.as_array().into_iter().flatten() {
                if let Some(key) = key_of(keys, item) {
                    items.entry(key).or_insert(self.part(item));
                }
            }
        }
        OldItems { keys, items }
    }
}

/// The old items of a list; none if it has no keys.
pub struct OldItems<'v, 's> {
    keys: &'s [String],
    items: HashMap<String, Old<'v>>,
}

impl<'v> OldItems<'v, '_> {
    /// The old item that a new one replaces.
    pub fn of(&self, new: &Value) -> Option<Old<'v>> {
        if self.items.is_empty() {
            return None;
        }
        self.items.get(&key_of(self.keys, new)?).copied()
    }
}

/// The keys of a list of type map.
fn keys_of(node: &Node) -> Option<&[String]> {
    match &node.list_type {
        ListType::Map(keys) if node.kinds == [Kind::Array] => Some(keys),
        _ => None,
    }
}

/// The key of an item (`CompositeKeyFor`): in a key of several fields, fractions of numbers count to six places only.
fn key_of(keys: &[String], item: &Value) -> Option<String> {
    let mut key = String::new();
    for name in keys {
        let part = match item.as_object()?.get(name)? {
            Value::Bool(on) => on.to_string(),
            Value::String(text) => quote(text),
            Value::Number(number) if number.is_i64() => number.to_string(),
            Value::Number(number) => {
                let float = number.as_f64()? + 0.0;
                if keys.len() == 1 { format!("f{float}") } else { format!("f{float:.6}") }
            }
            Value::Null | Value::Array(_) | Value::Object(_) | Value::Raw(_) => return None,
        };
        key.push('\0');
        key.push_str(&part);
    }
    Some(key)
}
