//! Children by name or index, as `serde_json` has them.

use crate::{Map, Text, Value};
use std::ops;

/// A name or an index of a child.
pub trait Index {
    /// The child, if there is one.
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value>;

    /// The child, if there is one.
    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value>;

    /// The child. A name that is not there is added, with `null`.
    ///
    /// # Panics
    /// If the value cannot have such a child.
    fn of_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value;
}

impl Index for str {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_object()?.get(self)
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_object_mut()?.get_mut(self)
    }

    fn of_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        match value {
            Value::Object(fields) => fields.entry(self).or_insert(Value::Null),
            other => panic!("cannot access field {self:?} of {other}"),
        }
    }
}

impl Index for usize {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_array()?.get(*self)
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_array_mut()?.get_mut(*self)
    }

    fn of_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        match value {
            Value::Array(items) => &mut items[*self],
            other => panic!("cannot access index {self} of {other}"),
        }
    }
}

macro_rules! as_str {
    ($($ty:ty),*) => {$(
        impl Index for $ty {
            fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
                self.as_str().of(value)
            }

            fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
                self.as_str().of_mut(value)
            }

            fn of_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
                self.as_str().of_or_insert(value)
            }
        }
    )*};
}

as_str!(String, Text);

impl<I: Index + ?Sized> Index for &I {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        (**self).of(value)
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        (**self).of_mut(value)
    }

    fn of_or_insert<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        (**self).of_or_insert(value)
    }
}

/// The child, or `null`.
impl<I: Index> ops::Index<I> for Value {
    type Output = Value;

    fn index(&self, index: I) -> &Value {
        static NULL: Value = Value::Null;
        index.of(self).unwrap_or(&NULL)
    }
}

/// The child. A name that is not there is added.
impl<I: Index> ops::IndexMut<I> for Value {
    fn index_mut(&mut self, index: I) -> &mut Value {
        index.of_or_insert(self)
    }
}

/// The field.
///
/// # Panics
/// If it is not there.
impl<Q: AsRef<str> + ?Sized> ops::Index<&Q> for Map {
    type Output = Value;

    fn index(&self, name: &Q) -> &Value {
        self.get(name).unwrap_or_else(|| panic!("no field {:?}", name.as_ref()))
    }
}

/// The field.
///
/// # Panics
/// If it is not there.
impl<Q: AsRef<str> + ?Sized> ops::IndexMut<&Q> for Map {
    fn index_mut(&mut self, name: &Q) -> &mut Value {
        self.get_mut(name).unwrap_or_else(|| panic!("no field {:?}", name.as_ref()))
    }
}
