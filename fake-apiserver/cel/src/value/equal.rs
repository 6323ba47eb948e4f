//! Equality of values.

use super::list::{item_key, set_key};
use super::{List, ListKind, Map, Member, Outcome, Value, no_such_overload};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Value {
    /// `==`: null equals only null, whatever the equality of a type.
    pub(crate) fn is_equal(&self, other: &Value) -> Outcome<bool> {
        match (self, other) {
            (Self::Null, other) | (other, Self::Null) => Ok(matches!(other, Self::Null)),
            _ => self.equals(other),
        }
    }

    /// Equality by the type of the first value. Values of different types are not equal, or cannot be compared.
    pub(crate) fn equals(&self, other: &Value) -> Outcome<bool> {
        if let Self::Fault(_) = self {
            return self.clone().looked_at().map(|_| false);
        }
        match (self, other) {
            (Self::List(a), Self::List(b)) => a.equals(b),
            (Self::List(a), _) if !a.is_plain() => no_such_overload(),
            (Self::Map(a), Self::Map(b)) => a.equals(b),
            (Self::Map(Map::Object(_)), _) => no_such_overload(),
            (Self::Optional(Some(a)), Self::Optional(Some(b))) => a.equals(b),
            (Self::Optional(a), Self::Optional(b)) => Ok(a.is_none() && b.is_none()),
            (Self::Opaque(a), _) => a.equals(other),
            _ => Ok(self.scalar_equals(other)),
        }
    }

    fn scalar_equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a.same_instant(b),
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a.name() == b.name(),
            (Self::Double(d), _) | (_, Self::Double(d)) if d.is_nan() => false,
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), Self::Int(_) | Self::Uint(_) | Self::Double(_)) => {
                matches!(self.compare(other), Ok(Ordering::Equal))
            }
            _ => false,
        }
    }
}

impl List {
    fn equals(&self, other: &List) -> Outcome<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        match self.kind() {
            ListKind::Plain | ListKind::Joined => self.same_elements(other),
            ListKind::Atomic => {
                for (a, b) in self.items().iter().zip(other.items()) {
                    if !a.equals(b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ListKind::Set | ListKind::JoinedSet => self.same_set(other),
            ListKind::Keyed(keys) | ListKind::JoinedKeyed(keys) => self.same_by_key(other, keys),
        }
    }

    fn same_elements(&self, other: &List) -> Outcome<bool> {
        let mut error = None;
        for (a, b) in self.items().iter().zip(other.items()) {
            match a.is_equal(b) {
                Ok(false) => return Ok(false),
                Err(found) if *self.kind() == ListKind::Joined => error = error.or(Some(found)),
                _ => {}
            }
        }
        error.map_or(Ok(true), Err)
    }

    fn same_set(&self, other: &List) -> Outcome<bool> {
        let mine = self.items().iter().map(set_key).collect::<Outcome<HashSet<String>>>()?;
        let mut seen = HashSet::new();
        for item in other.items() {
            let key = set_key(item)?;
            if !mine.contains(&key) {
                return Ok(false);
            }
            seen.insert(key);
        }
        Ok(seen.len() == mine.len())
    }

    fn same_by_key(&self, other: &List, keys: &Arc<[String]>) -> Outcome<bool> {
        let mine: HashMap<String, &Value> = self.items().iter().map(|item| (item_key(item, keys), item)).collect();
        let mut seen = HashSet::new();
        for item in other.items() {
            let key = item_key(item, keys);
            let Some(found) = mine.get(&key) else { return Ok(false) };
            if !found.equals(item)? {
                return Ok(false);
            }
            seen.insert(key);
        }
        Ok(seen.len() == mine.len())
    }
}

impl Map {
    fn equals(&self, other: &Map) -> Outcome<bool> {
        if let Self::Computed(object) = self {
            return match other {
                Self::Computed(other) => Ok(Arc::ptr_eq(object, other)),
                _ => no_such_overload(),
            };
        }
        if self.len() != other.len() {
            return Ok(false);
        }
        let Self::Object(object) = self else {
            for (key, value) in self.entries() {
                match other.find(&key) {
                    Ok(Some(found)) if !matches!(value.is_equal(&found), Ok(false)) => {}
                    Err(_) => {}
                    _ => return Ok(false),
                }
            }
            return Ok(true);
        };
        for (name, member) in &object.fields {
            if let Member::Unknown(data) = member {
                let Self::Object(theirs) = other else { return no_such_overload() };
                match theirs.fields.get(name) {
                    Some(Member::Unknown(theirs)) if theirs == data => {}
                    None => {}
                    Some(_) => return Ok(false),
                }
                continue;
            }
            let key = Value::String(name.clone());
            match (self.find(&key)?, other.find(&key)?) {
                (None, None) => {}
                (Some(mine), Some(theirs)) => {
                    if !mine.equals(&theirs)? {
                        return Ok(false);
                    }
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
