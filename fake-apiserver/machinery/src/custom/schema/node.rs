//! Parsed schemas: `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/{structural,convert}.go` (v0.37.1).

use super::enumeration::Enumeration;
use super::format::{self, Check};
use super::kind::Kind;
use super::number::{Bounds, NumberFormat};
use crate::deadline::Deadline;
use kubernetes_cel::go_regex;
use std::collections::BTreeMap;
use tree::{Map, Text, Value};

/// A schema of a value, with those of the values in it. It stands for upstream's `Structural` and for its
/// `NestedValueValidation`, the schemas in `allOf` and the like.
#[derive(Debug, Default)]
pub struct Node {
    /// The types; none for any type, two for `x-kubernetes-int-or-string`.
    pub kinds: Vec<Kind>,
    /// A type that no value has, where defaults are validated before other rules refuse it.
    pub(super) odd_kind: Option<Box<str>>,
    pub(crate) nullable: bool,
    pub(crate) format: Option<Format>,
    /// Whether field management treats the values as any scalars: strings with a format, supported or not, except `byte`.
    pub any_scalar: bool,
    pub(crate) bounds: Bounds,
    /// The minimum length in characters, as is `max_length`.
    pub min_length: Option<i64>,
    pub(crate) max_length: Option<i64>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) enumeration: Enumeration,
    pub(crate) min_items: Option<i64>,
    pub(crate) max_items: Option<i64>,
    pub(crate) items: Option<Box<Node>>,
    pub(crate) min_properties: Option<i64>,
    pub(crate) max_properties: Option<i64>,
    pub(crate) required: Vec<String>,
    pub(crate) properties: BTreeMap<String, Node>,
    pub(crate) others: Option<Others>,
    pub(crate) junctors: Option<Box<Junctors>>,
    pub(crate) preserves_unknown: bool,
    /// Whether the value is an embedded object (`x-kubernetes-embedded-resource`).
    pub embedded: bool,
    pub(crate) list_type: ListType,
    /// Whether an object is one value for server-side apply (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// The default, if it is not null.
    pub default: Option<Value>,
    /// Whether parts of the values have defaults.
    pub(super) has_defaults: bool,
}

/// Fields of JSON schemas that structural ones do not have, each with its name in Go's errors (`validateUnsupportedFields`).
pub const UNSUPPORTED: [(&str, &str); 7] = [
    ("id", "id"),
    ("$schema", "schema"),
    ("$ref", "$ref"),
    ("patternProperties", "patternProperties"),
    ("dependencies", "dependencies"),
    ("additionalItems", "additionalItems"),
    ("definitions", "definitions"),
];

/// `additionalProperties`.
#[derive(Debug)]
pub enum Others {
    /// No further fields.
    Forbidden,
    /// Further fields with any values.
    Anything,
    /// Further fields with values of a schema.
    Like(Box<Node>),
}

/// The schemas that one schema combines.
#[derive(Debug, Default)]
pub(crate) struct Junctors {
    pub all_of: Vec<Node>,
    pub any_of: Vec<Node>,
    pub one_of: Vec<Node>,
    pub not: Option<Node>,
}

/// A format: enforced, or only relevant for the type.
#[derive(Debug)]
pub(crate) struct Format {
    /// The name in the schema.
    pub name: String,
    pub(super) check: Option<Check>,
}

/// A regular expression, compiled when a value is matched.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// The text in the schema.
    pub text: String,
}

/// `x-kubernetes-list-type`.
#[derive(Debug, Default)]
pub enum ListType {
    /// `atomic`, the default.
    #[default]
    Atomic,
    /// `set`.
    Set,
    /// `map`, with the fields that are its keys.
    Map(Vec<String>),
}

/// The purpose of a parsed schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    /// To validate the values of a resource.
    Values,
    /// To validate the defaults in it. Upstream converts the schema in another way for that (`ToKubeOpenAPI`): unsupported
    /// formats count with the type, and `x-kubernetes-int-or-string` does not.
    Defaults,
}

impl Node {
    /// Whether values must be of some type.
    pub(super) fn has_kind(&self) -> bool {
        !self.kinds.is_empty() || self.odd_kind.is_some()
    }

    /// Parses a schema.
    ///
    /// # Errors
    /// If it is not structural, or the deadline has passed.
    pub(super) fn read(schema: &Value, purpose: Purpose, deadline: &Deadline) -> Result<Node, String> {
        deadline.check().map_err(|passed| passed.to_string())?;
        let read = |schema: &Value| Node::read(schema, purpose, deadline);
        let empty = Map::new();
        let fields = Fields(schema.as_object().unwrap_or(&empty));
        fields.refuse_unsupported()?;
        let junctors = Junctors::read(&fields, &read)?;
        if fields.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
            return Err("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".into());
        }
        let kinds = match (fields.text("type"), purpose) {
            (_, Purpose::Values) if fields.is("x-kubernetes-int-or-string") => vec![Kind::Integer, Kind::String],
            ("", _) => Vec::new(),
            // Other rules refuse an unknown type, unless the definition had it before.
            ("null", Purpose::Defaults) => vec![Kind::Null],
            (name, _) => match (Kind::named(name), purpose) {
                (Some(kind), _) => vec![kind],
                (None, Purpose::Defaults) => Vec::new(),
                (None, Purpose::Values) => return Err(format!("OpenAPIV3Schema 'type' {name:?} is not supported")),
            },
        };
        let format = Format::read(&kinds, fields.text("format"), purpose);
        let bounds = Bounds {
            multiple_of: fields.float("multipleOf"),
            minimum: fields.float("minimum"),
            exclusive_minimum: fields.is("exclusiveMinimum"),
            maximum: fields.float("maximum"),
            exclusive_maximum: fields.is("exclusiveMaximum"),
            format: match kinds.as_slice() {
                [kind] => NumberFormat::of(*kind, fields.text("format")),
                _ => None,
            },
        };
        Ok(Node {
            odd_kind: Some(fields.text("type")).filter(|name| kinds.is_empty() && !name.is_empty()).map(Box::from),
            any_scalar: kinds == [Kind::String] && !matches!(fields.text("format"), "" | "byte"),
            kinds,
            nullable: fields.is("nullable"),
            format,
            bounds,
            min_length: fields.count("minLength"),
            max_length: fields.count("maxLength"),
            pattern: Pattern::read(fields.text("pattern"))?,
            enumeration: Enumeration::new(fields.list("enum")),
            min_items: fields.count("minItems"),
            max_items: fields.count("maxItems"),
            items: match fields.get("items") {
                Some(Value::Array(_)) => {
                    return Err("OpenAPIV3Schema 'items' must be a schema, but is an array".into());
                }
                Some(items) => Some(Box::new(read(items)?)),
                None => None,
            },
            min_properties: fields.count("minProperties"),
            max_properties: fields.count("maxProperties"),
            required: fields.texts("required"),
            properties: {
                let read = |(name, schema): (&Text, &Value)| Ok((name.to_string(), read(schema)?));
                let properties = fields.get("properties").and_then(Value::as_object);
                properties.into_iter().flatten().map(read).collect::<Result<_, String>>()?
            },
            others: match fields.get("additionalProperties") {
                Some(Value::Bool(false)) => Some(Others::Forbidden),
                Some(Value::Bool(true)) => Some(Others::Anything),
                Some(schema) => Some(Others::Like(Box::new(read(schema)?))),
                None => None,
            },
            junctors,
            preserves_unknown: fields.is("x-kubernetes-preserve-unknown-fields"),
            embedded: fields.is("x-kubernetes-embedded-resource"),
            list_type: match fields.text("x-kubernetes-list-type") {
                "set" => ListType::Set,
                "map" => ListType::Map(fields.texts("x-kubernetes-list-map-keys")),
                _ => ListType::Atomic,
            },
            atomic: fields.text("x-kubernetes-map-type") == "atomic",
            default: fields.get("default").cloned(),
            has_defaults: false,
        })
    }

    /// The schema of a field, if it has one.
    pub fn field(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or(match &self.others {
            Some(Others::Like(node)) => Some(node),
            _ => None,
        })
    }

    /// The schemas of the values in the value, with their places in the schema, without those of junctors.
    pub(super) fn children_mut(&mut self) -> impl Iterator<Item = (Child, &mut Node)> {
        let others = match &mut self.others {
            Some(Others::Like(node)) => Some((Child::Other, &mut **node)),
            _ => None,
        };
        let items = self.items.as_deref_mut().map(|node| (Child::Item, node));
        let properties = self.properties.iter_mut().map(|(name, node)| (Child::Property(name.clone()), node));
        others.into_iter().chain(items).chain(properties)
    }
}

/// The place of a schema in another.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Child {
    Property(String),
    Other,
    Item,
}

impl Junctors {
    fn read(fields: &Fields<'_>, one: &dyn Fn(&Value) -> Result<Node, String>) -> Result<Option<Box<Self>>, String> {
        let read = |name| fields.list(name).iter().map(one).collect::<Result<Vec<Node>, String>>();
        let not = fields.get("not").map(one).transpose()?;
        let read = Junctors { not, all_of: read("allOf")?, any_of: read("anyOf")?, one_of: read("oneOf")? };
        let none = read.not.is_none() && read.all_of.is_empty() && read.any_of.is_empty() && read.one_of.is_empty();
        Ok((!none).then(|| Box::new(read)))
    }
}

impl Format {
    /// The format, unless it is not supported for the type (`StripUnsupportedFormatsPostProcessorForVersion`).
    fn read(kinds: &[Kind], name: &str, purpose: Purpose) -> Option<Format> {
        let check = match kinds {
            _ if name.is_empty() => return None,
            _ if purpose == Purpose::Defaults => format::of_text(name),
            [Kind::Integer | Kind::Number] => {
                NumberFormat::of(kinds[0], name).filter(|format| !format.name.is_empty())?;
                None
            }
            // Upstream treats two types as none.
            [] | [Kind::String] | [_, _] => Some(format::of_text(name)?),
            _ => return None,
        };
        Some(Format { name: name.to_owned(), check })
    }
}

impl Pattern {
    /// Whether it matches somewhere in a text; false, if the time is up.
    pub(super) fn is_match(&self, text: &str, deadline: &Deadline) -> bool {
        let compiled = go_regex::compile(&self.text);
        compiled.is_ok_and(|compiled| compiled.is_match_while(text, &|| deadline.check().is_ok()))
    }

    fn read(text: &str) -> Result<Option<Pattern>, String> {
        match text {
            "" => Ok(None),
            text => go_regex::check(text).map(|()| Some(Pattern { text: text.to_owned() })),
        }
    }
}

/// The fields of a `JSONSchemaProps`; null is the same as missing.
struct Fields<'s>(&'s Map);

impl<'s> Fields<'s> {
    fn get(&self, name: &str) -> Option<&'s Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn is(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Bool(true))
    }

    fn text(&self, name: &str) -> &'s str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn float(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    fn count(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    fn list(&self, name: &str) -> &'s [Value] {
        self.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// `validateUnsupportedFields`.
    fn refuse_unsupported(&self) -> Result<(), String> {
        let is_empty = |value: &Value| match value {
            Value::String(text) => text.is_empty(),
            Value::Object(entries) => entries.is_empty(),
            _ => false,
        };
        for (name, shown) in UNSUPPORTED {
            if self.get(name).is_some_and(|value| !is_empty(value)) {
                return Err(format!("OpenAPIV3Schema '{shown}' is not supported"));
            }
        }
        Ok(())
    }
}
