//! Maps: those made by expressions, and objects.
//!
//! Port of `common/types/map.go` of cel-go v0.29.2 and `pkg/cel/common/valuesunstructured.go` of k8s.io/apiserver v0.37.1.

use super::{Outcome, Value, fail, no_such_overload, number};
use crate::schema::unescape;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// A map or an object.
#[derive(Debug, Clone)]
pub enum Map {
    /// Made by an expression.
    Plain(Arc<Entries>),
    /// Data with a schema.
    Object(Arc<Object>),
    /// An object whose fields are computed when they are read.
    Computed(Arc<dyn Computed>),
}

/// An object whose fields are computed when an expression reads them.
pub trait Computed: fmt::Debug + Send + Sync {
    /// The name of its type.
    fn type_name(&self) -> &str;

    /// The names of its fields.
    fn names(&self) -> Vec<&str>;

    /// The value of a field, which is computed once; `None` if there is no such field.
    fn field(&self, name: &str) -> Option<Outcome>;
}

/// The entries of a map, in the order of insertion.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    entries: Vec<(Value, Value)>,
    places: HashMap<Key, usize>,
}

/// A key for look-ups.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    String(Arc<str>),
    /// A key that equals no other.
    Other(String),
}

impl Key {
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Uint(value) => Self::Uint(*value),
            Value::Double(value) => Self::Double(value.to_bits()),
            Value::String(text) => Self::String(text.clone()),
            other => Self::Other(format!("{other:?}")),
        }
    }
}

/// An object, or a map of an object, with values by its schema.
#[derive(Debug)]
pub struct Object {
    /// The fields by their names in the data, or those of them that expressions read.
    pub(crate) fields: BTreeMap<Arc<str>, Member>,
    /// Whether names are escaped, and null fields count as missing.
    pub(crate) has_properties: bool,
}

/// A field of an object.
#[derive(Debug)]
pub(crate) enum Member {
    /// One that has a schema.
    Known { value: Value, is_null: bool },
    /// One that has none.
    Unknown(tree::Value),
}

impl Entries {
    pub(crate) fn insert(&mut self, key: Value, value: Value) {
        match self.places.entry(Key::of(&key)) {
            std::collections::hash_map::Entry::Occupied(place) => self.entries[*place.get()].1 = value,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(self.entries.len());
                self.entries.push((key, value));
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &Value) {
        if let Some(place) = self.places.remove(&Key::of(key)) {
            self.entries.remove(place);
            self.places.values_mut().filter(|other| **other > place).for_each(|other| *other -= 1);
        }
    }

    fn find(&self, key: &Value) -> Option<&Value> {
        let find = |key: Key| self.places.get(&key).map(|place| &self.entries[*place].1);
        find(Key::of(key)).or_else(|| match key {
            Value::Double(d) => number::whole(*d)
                .and_then(|i| find(Key::Int(i)))
                .or_else(|| number::whole_unsigned(*d).and_then(|u| find(Key::Uint(u)))),
            Value::Int(i) => u64::try_from(*i).ok().and_then(|u| find(Key::Uint(u))),
            Value::Uint(u) => i64::try_from(*u).ok().and_then(|i| find(Key::Int(i))),
            _ => None,
        })
    }
}

impl Map {
    /// A map made by an expression.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = (Value, Value)>) -> Self {
        let mut all = Entries::default();
        entries.into_iter().for_each(|(key, value)| all.insert(key, value));
        Self::Plain(Arc::new(all))
    }

    pub(super) fn go_type(&self) -> &'static str {
        match self {
            Self::Plain(_) => "*types.baseMap",
            Self::Object(_) => "*common.unstructuredMap",
            Self::Computed(_) => "*lazy.MapValue",
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Plain(entries) => entries.entries.len(),
            Self::Object(object) => object.fields.len(),
            Self::Computed(object) => object.names().len(),
        }
    }

    /// The value of a key.
    pub(crate) fn find(&self, key: &Value) -> Outcome<Option<Value>> {
        match self {
            Self::Plain(entries) => entries.find(key).cloned().map(Value::looked_at).transpose(),
            Self::Object(object) => {
                let Value::String(name) = key else { return no_such_overload() };
                let Some(found) = object.find(name) else { return Ok(None) };
                found.clone().looked_at().map(Some)
            }
            Self::Computed(object) => {
                let Value::String(name) = key else { return no_such_overload() };
                unescape(name).and_then(|name| object.field(&name)).transpose()
            }
        }
    }

    /// The value of a field by its name in the data.
    pub(super) fn find_field(&self, name: &str) -> Option<Value> {
        match self {
            Self::Plain(entries) => entries.find(&Value::from(name)).cloned(),
            Self::Object(object) => object.known(name).map(|(value, _)| value.clone()),
            Self::Computed(object) => object.field(name).map(shown),
        }
    }

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> Vec<Value> {
        self.entries().into_iter().map(|(key, _)| key).collect()
    }

    /// The keys and values.
    #[must_use]
    pub fn entries(&self) -> Vec<(Value, Value)> {
        match self {
            Self::Plain(entries) => entries.entries.clone(),
            Self::Object(object) => object
                .fields
                .keys()
                .filter_map(|name| {
                    let (value, _) = object.known(name)?;
                    let escaped = if object.has_properties { crate::schema::escape(name) } else { None };
                    Some((escaped.map_or_else(|| Value::String(name.clone()), Value::from), value.clone()))
                })
                .collect(),
            Self::Computed(object) => {
                let names = object.names().into_iter();
                names.filter_map(|name| Some((Value::from(name), shown(object.field(name)?)))).collect()
            }
        }
    }

    /// The map with one more entry.
    ///
    /// # Errors
    /// If it has the key.
    pub(crate) fn with(self, key: Value, value: Value) -> Outcome<Map> {
        if self.find(&key)?.is_some() {
            return fail(format!("insert failed: key {key} already exists"));
        }
        let mut entries = match self {
            Self::Plain(entries) => Arc::try_unwrap(entries).unwrap_or_else(|shared| (*shared).clone()),
            Self::Object(_) | Self::Computed(_) => {
                let mut all = Entries::default();
                self.entries().into_iter().for_each(|(key, value)| all.insert(key, value));
                all
            }
        };
        entries.insert(key, value);
        Ok(Self::Plain(Arc::new(entries)))
    }
}

/// A computed value as part of another one: an error is one on access.
fn shown(value: Outcome) -> Value {
    value.unwrap_or_else(|error| Value::Fault(error.to_string().into()))
}

impl Object {
    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        if !self.has_properties {
            return self.known(name).map(|(value, _)| value);
        }
        let found = self.known(&unescape(name)?);
        found.filter(|(_, is_null)| !is_null).map(|(value, _)| value)
    }

    /// The value of a field that has a schema, and whether it is null.
    fn known(&self, name: &str) -> Option<(&Value, bool)> {
        match self.fields.get(name)? {
            Member::Known { value, is_null } => Some((value, *is_null)),
            Member::Unknown(_) => None,
        }
    }
}
