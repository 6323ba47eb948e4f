//! Structural schemas: the types that they declare, and values of data by schema.
//!
//! Port of `pkg/cel/common/schemas.go` and `pkg/cel/types.go` of k8s.io/apiserver v0.37.1.

mod escape;
mod parts;
mod published;
mod values;

pub use escape::{escape, is_reserved, unescape};
pub use parts::Parts;

use crate::types::Type;
use std::collections::BTreeMap;
use tree::Value as Json;

/// The largest request, in bytes.
const MAX_REQUEST: i64 = 3 * 1024 * 1024;
/// The longest name of an object (`DNS1123SubdomainMaxLength`).
const MAX_NAME: i64 = 253;

/// The parts of a structural schema that matter to expressions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schema {
    kind: String,
    format: String,
    nullable: bool,
    int_or_string: bool,
    embedded_resource: bool,
    preserve_unknown: bool,
    properties: BTreeMap<String, Schema>,
    additional: Option<Box<Schema>>,
    items: Option<Box<Schema>>,
    list_type: String,
    list_keys: Vec<String>,
    max_length: Option<i64>,
    max_items: Option<i64>,
    max_properties: Option<i64>,
    enumeration: Vec<Json>,
    required: Vec<String>,
    has_default: bool,
}

impl Schema {
    /// Parses an OpenAPI v3 schema, as in a CustomResourceDefinition. Fields that structural schemas do not have are
    /// ignored.
    #[must_use]
    pub fn from_json(json: &Json) -> Self {
        Self::read(json, &mut Self::from_json)
    }

    /// Parses a schema, whose parts `part` parses.
    fn read<'j>(json: &'j Json, part: &mut dyn FnMut(&'j Json) -> Self) -> Self {
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        let flag = |key: &str| json[key].as_bool().unwrap_or(false);
        let texts = |key: &str| -> Vec<String> {
            json[key].as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
        };
        let properties = json["properties"].as_object().into_iter().flatten();
        let properties = properties.map(|(name, schema)| (name.to_string(), part(schema))).collect();
        let mut below = |key: &str| json[key].is_object().then(|| Box::new(part(&json[key])));
        Self {
            kind: text("type"),
            format: text("format"),
            nullable: flag("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            properties,
            additional: below("additionalProperties"),
            items: below("items"),
            list_type: text("x-kubernetes-list-type"),
            list_keys: texts("x-kubernetes-list-map-keys"),
            max_length: json["maxLength"].as_i64(),
            max_items: json["maxItems"].as_i64(),
            max_properties: json["maxProperties"].as_i64(),
            enumeration: json["enum"].as_array().cloned().unwrap_or_default(),
            required: texts("required"),
            has_default: json.get("default").is_some_and(|default| !default.is_null()),
        }
    }

    fn of_kind(kind: &str) -> Self {
        Self { kind: kind.to_owned(), ..Self::default() }
    }

    /// The schema with the fields of every object that expressions can see, for a resource (`WithTypeAndObjectMeta`).
    #[must_use]
    pub fn with_object_meta(&self) -> Self {
        let mut schema = self.clone();
        let string = || Self::of_kind("string");
        let is_string = |schema: Option<&Schema>| schema.is_some_and(|schema| schema.kind == "string");
        let metadata = self.properties.get("metadata").filter(|metadata| metadata.kind == "object");
        let is_complete = is_string(self.properties.get("kind"))
            && is_string(self.properties.get("apiVersion"))
            && metadata.is_some_and(|metadata| {
                is_string(metadata.properties.get("name")) && is_string(metadata.properties.get("generateName"))
            });
        if !is_complete {
            let declared = self.properties.get("metadata").map(|metadata| &metadata.properties);
            // The suffix of a generated name is at least one byte long.
            let names = [("name", MAX_NAME), ("generateName", MAX_NAME - 1)].map(|(name, max)| {
                let declared = declared.and_then(|declared| declared.get(name)?.max_length);
                let max_length = Some(declared.map_or(max, |declared| declared.min(max)));
                (name.to_owned(), Self { max_length, ..string() })
            });
            let metadata = Self { properties: names.into(), ..Self::of_kind("object") };
            schema.properties.insert("kind".to_owned(), string());
            schema.properties.insert("apiVersion".to_owned(), string());
            schema.properties.insert("metadata".to_owned(), metadata);
        }
        schema
    }

    /// The type that the schema declares, if expressions can access such values. `is_root` is for the schema of a resource,
    /// whose metadata is always accessible.
    #[must_use]
    pub fn declare(&self, is_root: bool) -> Option<Declared> {
        if self.int_or_string {
            let max_elements = self.max_length.map_or(MAX_REQUEST - 2, |length| length.max(0).wrapping_mul(4));
            return Some(Declared { max_elements, ..Declared::simple(Type::Dyn, 1) });
        }
        if is_root {
            return self.with_object_meta().declare_kind();
        }
        self.declare_kind()
    }

    fn declare_kind(&self) -> Option<Declared> {
        match self.kind.as_str() {
            "array" => {
                let items = self.items.as_ref()?;
                let element = items.declare(items.embedded_resource)?;
                let max = self.max_items.map(|max| max.max(0));
                let max_elements = max.unwrap_or_else(|| (MAX_REQUEST - 2) / (element.min_size + 1));
                Some(Declared { max_elements, ..Declared::new(Shape::List(Box::new(element)), 2) })
            }
            "object" => match &self.additional {
                Some(additional) => {
                    let value = additional.declare(additional.embedded_resource)?;
                    let max = self.max_properties.map(|max| max.max(0));
                    let max_elements = max.unwrap_or_else(|| (MAX_REQUEST - 2) / (value.min_size + 6));
                    Some(Declared { max_elements, ..Declared::new(Shape::Map(Box::new(value)), 2) })
                }
                None => Some(self.declare_object()),
            },
            "string" => Some(self.declare_string()),
            "boolean" => Some(Declared::simple(Type::Bool, 4)),
            "number" => Some(Declared::simple(Type::Double, 1)),
            "integer" => Some(Declared::simple(Type::Int, 1)),
            _ => None,
        }
    }

    fn declare_object(&self) -> Declared {
        let mut fields = BTreeMap::new();
        let mut min_size = 2;
        for (name, property) in &self.properties {
            let Some(declared) = property.declare(property.embedded_resource) else { continue };
            if self.required.contains(name) && !property.has_default {
                min_size += name.len() as i64 + declared.min_size + 4;
            }
            if let Some(name) = escape(name) {
                fields.insert(name, declared);
            }
        }
        Declared::new(Shape::Object("object".to_owned(), fields), min_size)
    }

    fn declare_string(&self) -> Declared {
        let (t, min_size, max) = match self.format.as_str() {
            "byte" => (Type::Bytes, 2, self.max_length.map_or(MAX_REQUEST - 2, |length| length.max(0))),
            "duration" => (Type::Duration, 3, 32),
            "date" => (Type::Timestamp, 12, 12),
            "date-time" => (Type::Timestamp, 21, 32),
            _ => {
                let longest = self.enumeration.iter().filter_map(Json::as_str).map(|text| text.len() as i64).max();
                let max = match self.max_length {
                    Some(length) => length.max(0).wrapping_mul(4),
                    None if !self.enumeration.is_empty() => longest.unwrap_or(0),
                    None => MAX_REQUEST - 2,
                };
                (Type::String, 2, max)
            }
        };
        Declared { max_elements: max, ..Declared::simple(t, min_size) }
    }
}

/// A type that a schema declares, with the limits of its values' sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    shape: Shape,
    /// The most elements, entries or bytes.
    max_elements: i64,
    /// The fewest bytes of JSON.
    min_size: i64,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Simple(Type),
    List(Box<Declared>),
    Map(Box<Declared>),
    /// An object: the name of its type, and its fields by escaped names.
    Object(String, BTreeMap<String, Declared>),
}

impl Declared {
    fn new(shape: Shape, min_size: i64) -> Self {
        Self { shape, max_elements: 0, min_size }
    }

    fn simple(t: Type, min_size: i64) -> Self {
        Self::new(Shape::Simple(t), min_size)
    }

    /// The type with a name; objects within it are named after their places.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        let shape = match &self.shape {
            Shape::Simple(t) => Shape::Simple(t.clone()),
            Shape::List(element) => Shape::List(Box::new(element.named(&format!("{name}.@idx")))),
            Shape::Map(value) => Shape::Map(Box::new(value.named(&format!("{name}.@elem")))),
            Shape::Object(_, fields) => {
                let field = |(field, t): (&String, &Declared)| (field.clone(), t.named(&format!("{name}.{field}")));
                Shape::Object(name.to_owned(), fields.iter().map(field).collect())
            }
        };
        Self { shape, ..*self }
    }

    /// The type in expressions.
    #[must_use]
    pub fn to_type(&self) -> Type {
        match &self.shape {
            Shape::Simple(t) => t.clone(),
            Shape::List(element) => Type::list(element.to_type()),
            Shape::Map(value) => Type::map(Type::String, value.to_type()),
            Shape::Object(name, _) => Type::object(name),
        }
    }

    /// The type of a field, by its escaped name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Declared> {
        match &self.shape {
            Shape::Object(_, fields) => fields.get(name),
            _ => None,
        }
    }

    /// The type of the elements of a list, or of the values of a map.
    #[must_use]
    pub fn element(&self) -> Option<&Declared> {
        match &self.shape {
            Shape::List(below) | Shape::Map(below) => Some(below),
            _ => None,
        }
    }

    /// The most such values in one request.
    #[must_use]
    pub fn max_cardinality(&self) -> u64 {
        (MAX_REQUEST / (self.min_size + 1)).cast_unsigned()
    }

    /// The objects within the type, by name, with the types of their fields.
    pub(crate) fn objects(&self, into: &mut BTreeMap<String, BTreeMap<String, Type>>) {
        match &self.shape {
            Shape::Simple(_) => {}
            Shape::List(below) | Shape::Map(below) => below.objects(into),
            Shape::Object(name, fields) => {
                fields.values().for_each(|field| field.objects(into));
                into.insert(name.clone(), fields.iter().map(|(name, t)| (name.clone(), t.to_type())).collect());
            }
        }
    }

    /// The most elements of the part at a path of fields, `@items`, `@values` and `@keys`.
    pub(crate) fn max_elements(&self, path: &[String]) -> Option<u64> {
        let Some((step, rest)) = path.split_first() else { return Some(self.max_elements.cast_unsigned()) };
        match (&self.shape, step.as_str()) {
            (Shape::List(below), "@items" | "@values") | (Shape::Map(below), "@items" | "@values") => {
                below.max_elements(rest)
            }
            (Shape::Map(_), "@keys") => Declared::simple(Type::String, 2).max_elements(rest),
            (Shape::Object(_, fields), name) => fields.get(name)?.max_elements(rest),
            _ => None,
        }
    }
}
