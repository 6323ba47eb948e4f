//! Lists: those made by expressions, and those of objects, which may be sets or maps by keys.
//!
//! Port of `common/types/list.go` of cel-go v0.29.2 and `pkg/cel/common/values*.go` of k8s.io/apiserver v0.37.1.

use super::{Outcome, Value, fail};
use std::collections::HashMap;
use std::sync::Arc;

/// The kind of a list, which matters to comparison and `+`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// Made by an expression.
    Plain,
    /// Made by an expression from two lists.
    Joined,
    /// A list of an object.
    Atomic,
    /// A set of an object.
    Set,
    /// A list of an object, with these fields as keys of its elements.
    Keyed(Arc<[String]>),
    /// Made by an expression from a set.
    JoinedSet,
    /// Made by an expression from a list with these keys.
    JoinedKeyed(Arc<[String]>),
}

/// A list.
#[derive(Debug, Clone)]
pub struct List {
    items: Arc<Vec<Value>>,
    kind: ListKind,
}

impl List {
    /// A list made by an expression.
    #[must_use]
    pub fn new(items: Vec<Value>) -> Self {
        Self::with_kind(items, ListKind::Plain)
    }

    /// A list of some kind.
    #[must_use]
    pub fn with_kind(items: Vec<Value>, kind: ListKind) -> Self {
        Self { items: Arc::new(items), kind }
    }

    /// The elements.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    pub(crate) fn kind(&self) -> &ListKind {
        &self.kind
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.kind, ListKind::Plain | ListKind::Joined)
    }

    /// Whether the list comes from an object.
    pub(crate) fn is_data(&self) -> bool {
        matches!(self.kind, ListKind::Atomic | ListKind::Set | ListKind::Keyed(_))
    }

    pub(super) fn go_type(&self) -> &'static str {
        match self.kind {
            ListKind::Plain => "*types.baseList",
            ListKind::Joined => "*types.concatList",
            ListKind::Atomic => "*common.unstructuredList",
            ListKind::Set => "*common.unstructuredSetList",
            ListKind::Keyed(_) => "*common.unstructuredMapList",
            ListKind::JoinedSet => "*common.refValSetList",
            ListKind::JoinedKeyed(_) => "*common.refValMapList",
        }
    }

    /// The element at an index.
    pub(crate) fn get(&self, index: &Value) -> Outcome {
        if self.is_data() {
            let Value::Int(i) = index else { return fail(format!("unsupported index: {index}")) };
            return match usize::try_from(*i).ok().and_then(|i| self.items.get(i)) {
                Some(item) => item.clone().looked_at(),
                None => fail(format!("index out of bounds: {i}")),
            };
        }
        let i = position(index)?;
        match usize::try_from(i).ok().and_then(|i| self.items.get(i)) {
            Some(item) => item.clone().looked_at(),
            None => fail(format!("index '{i}' out of range in list size '{}'", self.len())),
        }
    }

    pub(crate) fn contains(&self, element: &Value) -> Outcome<bool> {
        let mut error = None;
        for item in self.items.iter() {
            let (a, b) = if self.is_data() { (item, element) } else { (element, item) };
            match a.equals(b) {
                Ok(true) => return Ok(true),
                Err(found) if self.is_data() => error = error.or(Some(found)),
                _ => {}
            }
        }
        error.map_or(Ok(false), Err)
    }

    /// `+`: for sets and lists by keys a union.
    pub(crate) fn join(self, other: &List) -> Outcome<List> {
        let kind = match &self.kind {
            ListKind::Plain | ListKind::Joined if self.len() == 0 => return Ok(other.clone()),
            ListKind::Plain | ListKind::Joined if other.len() == 0 => return Ok(self),
            ListKind::Plain | ListKind::Joined => ListKind::Joined,
            ListKind::Atomic => ListKind::Plain,
            ListKind::Set | ListKind::JoinedSet => return union(self, other, ListKind::JoinedSet, set_key),
            ListKind::Keyed(keys) | ListKind::JoinedKeyed(keys) => {
                let keys = keys.clone();
                let key = |item: &Value| Ok(item_key(item, &keys));
                return union(self, other, ListKind::JoinedKeyed(keys.clone()), key);
            }
        };
        let mut items = Arc::try_unwrap(self.items).unwrap_or_else(|shared| (*shared).clone());
        items.extend(other.items.iter().cloned());
        Ok(List::with_kind(items, kind))
    }

    /// The list as a plain one, if it was joined.
    pub(crate) fn settled(self) -> Self {
        match self.kind {
            ListKind::Joined => Self { kind: ListKind::Plain, ..self },
            _ => self,
        }
    }
}

fn union(list: List, other: &List, kind: ListKind, key: impl Fn(&Value) -> Outcome<String>) -> Outcome<List> {
    let replaces = matches!(kind, ListKind::JoinedKeyed(_));
    let mut items = list.items().to_vec();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (i, item) in items.iter().enumerate() {
        places.insert(key(item)?, i);
    }
    for item in other.items() {
        let key = key(item)?;
        match places.get(&key) {
            Some(place) if replaces => items[*place] = item.clone(),
            Some(_) => {}
            None => {
                if !replaces {
                    places.insert(key, items.len());
                }
                items.push(item.clone());
            }
        }
    }
    Ok(List::with_kind(items, kind))
}

/// The key of an element of a set.
pub(super) fn set_key(item: &Value) -> Outcome<String> {
    match item {
        Value::List(_) | Value::Map(_) => fail("listSet operations are only supported on lists of scalar values"),
        Value::Fault(_) => item.clone().looked_at().map(|_| String::new()),
        item => Ok(format!("{item:?}")),
    }
}

/// The key of an element of a list by keys.
pub(super) fn item_key(item: &Value, keys: &[String]) -> String {
    let Value::Map(map) = item else { return format!("{item:?}") };
    let parts: Vec<Option<Value>> = keys.iter().map(|key| map.find_field(key)).collect();
    format!("{parts:?}")
}

/// The index for a numeric value.
pub(crate) fn position(index: &Value) -> Outcome<i64> {
    let found = match index {
        Value::Int(i) => return Ok(*i),
        Value::Double(d) => super::number::whole(*d),
        Value::Uint(u) => i64::try_from(*u).ok(),
        other => return fail(format!("unsupported index type '{}' in list", other.type_of().name())),
    };
    match found {
        Some(i) => Ok(i),
        None => fail(format!("unsupported index value {index} in list")),
    }
}
