//! Conversion of strings, numbers, lists and the like into values.

use crate::{Map, Text, Value};
use serde_json::Number;
use std::borrow::Cow;
use std::str::FromStr;

macro_rules! from {
    ($($ty:ty, |$value:ident| $made:expr;)*) => {$(
        impl From<$ty> for Value {
            fn from($value: $ty) -> Value {
                $made
            }
        }
    )*};
}

from! {
    (), |_value| Value::Null;
    bool, |value| Value::Bool(value);
    &str, |value| Value::String(value.into());
    &String, |value| Value::String(value.as_str().into());
    String, |value| Value::String(value.into());
    Text, |value| Value::String(value);
    &Text, |value| Value::String(value.clone());
    Cow<'_, str>, |value| match value {
        Cow::Borrowed(text) => text.into(),
        Cow::Owned(text) => text.into(),
    };
    Map, |value| Value::Object(value);
    Number, |value| Value::Number(value);
    u8, |value| Value::Number(value.into());
    u16, |value| Value::Number(value.into());
    u32, |value| Value::Number(value.into());
    u64, |value| Value::Number(value.into());
    usize, |value| Value::Number(value.into());
    i8, |value| Value::Number(value.into());
    i16, |value| Value::Number(value.into());
    i32, |value| Value::Number(value.into());
    i64, |value| Value::Number(value.into());
    f64, |value| Number::from_f64(value).map_or(Value::Null, Value::Number);
    serde_json::Value, |value| match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => Value::Number(number),
        serde_json::Value::String(text) => text.into(),
        serde_json::Value::Array(items) => items.into(),
        serde_json::Value::Object(fields) => fields.into_iter().collect(),
    };
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> serde_json::Value {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Number(number) => serde_json::Value::Number(number),
            Value::String(text) => text.as_str().into(),
            Value::Array(items) => items.into(),
            Value::Object(fields) => fields.into_iter().map(|(name, value)| (String::from(name), value)).collect(),
            Value::Raw(text) => serde_json::from_str(&text).unwrap_or_default(),
        }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, T::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        items.into_iter().collect()
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    fn from(items: &[T]) -> Value {
        items.iter().cloned().collect()
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(items: [T; N]) -> Value {
        items.into_iter().collect()
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Value {
        Value::Array(items.into_iter().map(T::into).collect())
    }
}

impl<K: Into<Text>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Value {
        Value::Object(fields.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

/// Parses JSON.
impl FromStr for Value {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(text)
    }
}
