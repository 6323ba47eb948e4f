//! Values to and from the formats of `serde`.

use crate::counting::{Work, count};
use crate::{Map, Text, Value};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;
use serde_json::value::RawValue;
use std::fmt;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => items.serialize(serializer),
            Value::Object(fields) => fields.serialize(serializer),
            Value::Raw(text) => match serde_json::from_str::<&RawValue>(text) {
                Ok(raw) => raw.serialize(serializer),
                Err(_) => serializer.serialize_unit(),
            },
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Part::Any)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Map, D::Error> {
        match deserializer.deserialize_map(Part::Any)? {
            Value::Object(fields) => Ok(fields),
            _ => Err(D::Error::custom("not an object")),
        }
    }
}

/// Parses an object of Kubernetes. The sets of fields in its `metadata.managedFields`, which few requests look at, stay texts.
///
/// # Errors
/// If the text is not JSON.
pub fn parse_object(json: &[u8]) -> Result<Value, serde_json::Error> {
    count(Work::Parse, 1);
    // Checked once as a whole, not text by text.
    let json = std::str::from_utf8(json).map_err(serde_json::Error::custom)?;
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let object = Part::Object.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(object)
}

/// A part of an object.
#[derive(Clone, Copy)]
enum Part {
    Object,
    Metadata,
    /// `managedFields`.
    Managers,
    Manager,
    /// `fieldsV1`.
    Fields,
    Any,
}

impl Part {
    fn field(self, name: &str) -> Part {
        match (self, name) {
            (Part::Object, "metadata") => Part::Metadata,
            (Part::Metadata, "managedFields") => Part::Managers,
            (Part::Manager, "fieldsV1") => Part::Fields,
            _ => Part::Any,
        }
    }

    fn item(self) -> Part {
        match self {
            Part::Managers => Part::Manager,
            _ => Part::Any,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Part {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self {
            Part::Fields => match <&RawValue>::deserialize(deserializer)?.get() {
                text if text.starts_with('{') => Ok(Value::Raw(text.into())),
                other => serde_json::from_str(other).map_err(D::Error::custom),
            },
            part => deserializer.deserialize_any(part),
        }
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.item())? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key_seed(Name)? {
            let part = self.field(&name);
            map.insert(name, fields.next_value_seed(part)?);
        }
        Ok(Value::Object(map))
    }
}

/// The name of a field.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Text;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(text.into())
    }
}
