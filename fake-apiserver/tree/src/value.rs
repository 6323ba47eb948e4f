//! Values: their kinds and contents.

use crate::counting::{Work, count};
use crate::{Index, Map, Text};
use serde_json::Number;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::{fmt, mem};

/// A JSON value.
#[derive(Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer or a float.
    Number(Number),
    /// A string.
    String(Text),
    /// A list.
    Array(Vec<Value>),
    /// An object.
    Object(Map),
    /// An object that is seldom looked at, as the text of its JSON.
    Raw(Text),
}

impl Clone for Value {
    fn clone(&self) -> Value {
        count(Work::Clone, 1);
        match self {
            Value::Null => Value::Null,
            Value::Bool(flag) => Value::Bool(*flag),
            Value::Number(number) => Value::Number(number.clone()),
            Value::String(text) => Value::String(text.clone()),
            Value::Array(items) => Value::Array(items.clone()),
            Value::Object(fields) => Value::Object(fields.clone()),
            Value::Raw(text) => Value::Raw(text.clone()),
        }
    }
}

impl Value {
    /// The child of this name or index; `None` if there is none.
    pub fn get(&self, index: impl Index) -> Option<&Value> {
        index.of(self)
    }

    /// The child of this name or index; `None` if there is none.
    pub fn get_mut(&mut self, index: impl Index) -> Option<&mut Value> {
        index.of_mut(self)
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Number(_))
    }

    /// Whether it is an integer that an `i64` holds.
    pub fn is_i64(&self) -> bool {
        self.as_i64().is_some()
    }

    /// Whether it is an integer that a `u64` holds.
    pub fn is_u64(&self) -> bool {
        self.as_u64().is_some()
    }

    /// Whether it is a number other than an integer.
    pub fn is_f64(&self) -> bool {
        matches!(self, Value::Number(number) if number.is_f64())
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Value::String(_))
    }

    /// Whether it is a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Value::Array(_))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Value::Object(_))
    }

    /// The boolean; `None` for others.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number; `None` for others.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The integer; `None` for others.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The integer, if it is not negative; `None` for others.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number as a float; `None` for others.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The text of a string; `None` for others.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; `None` for others.
    pub fn as_array(&self) -> Option<&Vec<Value>> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The items of a list; `None` for others.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The fields of an object; `None` for others.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The fields of an object; `None` for others.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The value that a text stands for; any other as it is.
    pub fn parsed(&self) -> Cow<'_, Value> {
        match self {
            Value::Raw(text) => Cow::Owned(serde_json::from_str(text).unwrap_or_default()),
            other => Cow::Borrowed(other),
        }
    }

    /// The value, in whose place `null` is left.
    pub fn take(&mut self) -> Value {
        std::mem::take(self)
    }

    /// The value at a JSON pointer (RFC 6901).
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Value::Object(fields) => fields.get(&step),
            Value::Array(items) => items.get(place(&step)?),
            _ => None,
        })
    }

    /// The value at a JSON pointer (RFC 6901).
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Value::Object(fields) => fields.get_mut(&step),
            Value::Array(items) => items.get_mut(place(&step)?),
            _ => None,
        })
    }
}

/// The steps of a pointer; `None` if it is none.
fn steps(pointer: &str) -> Option<impl Iterator<Item = String>> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    Some(pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")))
}

/// The index that a step is: digits without a leading zero.
fn place(step: &str) -> Option<usize> {
    let is_plain = step == "0" || !step.starts_with(['0', '+']);
    step.parse().ok().filter(|_| is_plain)
}

/// Text kept as JSON is equal to the value that it encodes.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Number(one), Value::Number(other)) => one == other,
            (Value::String(one), Value::String(other)) => one == other,
            (Value::Array(one), Value::Array(other)) => one == other,
            (Value::Object(one), Value::Object(other)) => one == other,
            (Value::Raw(one), Value::Raw(other)) if one == other => true,
            (Value::Raw(_), _) | (_, Value::Raw(_)) => self.parsed() == other.parsed(),
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let value = self.parsed();
        mem::discriminant(&*value).hash(state);
        match &*value {
            Value::Null | Value::Raw(_) => {}
            Value::Bool(value) => value.hash(state),
            Value::Number(number) => number.hash(state),
            Value::String(text) => text.hash(state),
            Value::Array(items) => items.hash(state),
            Value::Object(fields) => fields.hash(state),
        }
    }
}

/// JSON without spaces, or with them if the alternate form is asked for.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = if f.alternate() { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        f.write_str(&written.map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("Null"),
            Value::Bool(value) => f.debug_tuple("Bool").field(value).finish(),
            Value::Number(number) => fmt::Debug::fmt(number, f),
            Value::String(text) => f.debug_tuple("String").field(text).finish(),
            Value::Array(items) => {
                f.write_str("Array ")?;
                items.fmt(f)
            }
            Value::Object(fields) => {
                f.write_str("Object ")?;
                fields.fmt(f)
            }
            Value::Raw(text) => f.debug_tuple("Raw").field(text).finish(),
        }
    }
}
