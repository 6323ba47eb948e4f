//! The types, as the Go structs of Kubernetes v1.37 declare them: parsed once, on first use, from `types.txt`.
//!
//! The data file is made by `cargo xtask schema` from the tags of the real structs; its head explains its lines. Every
//! type stands after those that it uses, so one pass links them.

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::OnceLock;

const DATA: &str = include_str!("types.txt");

/// A Go type.
#[derive(Debug)]
pub(super) struct Type {
    /// As Go prints it, but with the package's path in place of its name: `map[string]string`, `core/v1.Secret`.
    name: &'static str,
    pub(super) shape: Shape,
}

/// What a type is made of.
#[derive(Debug)]
pub(super) enum Shape {
    Bool,
    Int32,
    Int64,
    String,
    /// `[]byte`: base64 in JSON.
    Bytes,
    /// `metav1.Time`: seconds.
    Time,
    /// `metav1.MicroTime`: microseconds.
    MicroTime,
    Quantity,
    IntOrString,
    /// `metav1.FieldsV1`: any JSON.
    FieldsV1,
    Pointer(&'static Type),
    List {
        element: &'static Type,
        /// Protobuf has a message around the items, as its field 1.
        wrapped: bool,
    },
    /// Keys are strings.
    Map(&'static Type),
    Struct(Struct),
}

/// A struct: its fields as JSON and as protobuf see them.
#[derive(Debug, Default)]
pub(super) struct Struct {
    /// In the order in which Go prints them, with those of embedded structs in their places.
    pub(super) fields: Vec<Field>,
    /// Indices into `fields`, ordered by name.
    by_name: Vec<usize>,
    /// Ordered by number.
    members: Vec<Member>,
}

/// A field of a JSON object.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) ty: &'static Type,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    /// Name of the struct, as errors show it: `ObjectMeta`.
    pub(super) owner: &'static str,
    /// The name behind those of the embedded structs around the field, as errors show it: `TypeMeta.kind`.
    pub(super) context: String,
}

/// A field of a protobuf message.
#[derive(Debug)]
pub(super) struct Member {
    number: u32,
    /// As errors show it.
    pub(super) go_name: &'static str,
    pub(super) content: Content,
}

/// Where a protobuf field stands in JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// Index into the struct's fields.
    Field(usize),
    /// A message whose fields stand among those of its parent.
    Embedded(&'static Type),
}

impl Type {
    /// As Go prints it: `map[string]string`, `v1.Secret`.
    pub(super) fn go_name(&self) -> String {
        let mut printed = String::with_capacity(self.name.len());
        for part in self.name.split_inclusive(['[', ']', '*']) {
            printed.push_str(part.rsplit('/').next().unwrap_or(part));
        }
        printed
    }

    /// The name without its package, of a named type.
    pub(super) fn bare_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// The type itself, or what it points to.
    pub(super) fn target(&'static self) -> &'static Type {
        match self.shape {
            Shape::Pointer(target) => target,
            _ => self,
        }
    }

    /// The struct's fields, for a struct.
    pub(super) fn as_struct(&self) -> Option<&Struct> {
        match &self.shape {
            Shape::Struct(content) => Some(content),
            _ => None,
        }
    }

    /// What an element of a list or map holds that was not given.
    pub(super) fn zero(&self) -> Value {
        match &self.shape {
            Shape::Bool => Value::Bool(false),
            Shape::Int32 | Shape::Int64 | Shape::IntOrString => Value::from(0),
            Shape::String | Shape::Bytes => Value::String(String::new()),
            Shape::Quantity => Value::from("0"),
            Shape::Struct(_) => Value::Object(Map::new()),
            Shape::Time | Shape::MicroTime | Shape::FieldsV1 => Value::Null,
            Shape::Pointer(_) | Shape::List { .. } | Shape::Map(_) => Value::Null,
        }
    }

    /// Whether a value of this type is Go's zero value (of lists and maps: empty).
    pub(super) fn is_zero(&self, value: &Value) -> bool {
        match (&self.shape, value) {
            (_, Value::Null) => true,
            (Shape::Pointer(_) | Shape::FieldsV1, _) => false,
            (_, Value::Bool(on)) => !on,
            (_, Value::Number(number)) => number.as_i64() == Some(0),
            (Shape::Quantity, Value::String(text)) => text == "0",
            (Shape::IntOrString, Value::String(_)) => false,
            (_, Value::String(text)) => text.is_empty(),
            (_, Value::Array(items)) => items.is_empty(),
            (_, Value::Object(fields)) => fields.is_empty(),
        }
    }
}

impl Struct {
    /// The field of this JSON name, and its index.
    pub(super) fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let at = self.by_name.binary_search_by(|index| self.fields[*index].name.cmp(name)).ok()?;
        let index = self.by_name[at];
        Some((index, &self.fields[index]))
    }

    /// The field of this protobuf number.
    pub(super) fn member(&self, number: u32) -> Option<&Member> {
        let at = self.members.binary_search_by_key(&number, |member| member.number).ok()?;
        Some(&self.members[at])
    }
}

/// The type that bodies of `kind` in `api_version` hold.
pub(super) fn lookup(api_version: &str, kind: &str) -> Option<&'static Type> {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    let kinds = &SCHEMA.get_or_init(|| Schema::parse(DATA)).kinds;
    kinds.get(&(api_version, kind)).or_else(|| kinds.get(&("*", kind))).copied()
}

#[derive(Default)]
struct Schema {
    kinds: HashMap<(&'static str, &'static str), &'static Type>,
    types: HashMap<&'static str, &'static Type>,
}

impl Schema {
    /// # Panics
    /// If the data is not what `cargo xtask schema` writes: it is compiled in, and the tests load it.
    fn parse(data: &'static str) -> Schema {
        let mut schema = Schema::default();
        for (name, shape) in [
            ("bool", Shape::Bool),
            ("int32", Shape::Int32),
            ("int64", Shape::Int64),
            ("string", Shape::String),
            ("[]uint8", Shape::Bytes),
        ] {
            schema.define(name, shape);
        }
        let mut roots = Vec::new();
        let mut lines = data.lines().filter(|line| !line.starts_with('#')).peekable();
        while let Some(line) = lines.next() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["kind", api_version, kind, name] => roots.push((api_version, kind, name)),
                ["leaf", name] => schema.leaf(name),
                ["type", name, underlying] => schema.named(name, underlying, false),
                ["message", name, underlying] => schema.named(name, underlying, true),
                ["struct", name] => {
                    let fields = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("  ")));
                    let shape = Shape::Struct(schema.fields(name, fields));
                    schema.define(name, shape);
                }
                _ => panic!("schema: not a line: {line}"),
            }
        }
        for (api_version, kind, name) in roots {
            let ty = schema.resolve(name);
            schema.kinds.insert((api_version, kind), ty);
        }
        schema
    }

    /// Types live as long as the process: leaked, they can refer to each other.
    fn define(&mut self, name: &'static str, shape: Shape) -> &'static Type {
        let ty: &'static Type = Box::leak(Box::new(Type { name, shape }));
        self.types.insert(name, ty);
        ty
    }

    fn leaf(&mut self, name: &'static str) {
        let shape = match name {
            "apis/meta/v1.Time" => Shape::Time,
            "apis/meta/v1.MicroTime" => Shape::MicroTime,
            "apis/meta/v1.FieldsV1" => Shape::FieldsV1,
            "api/resource.Quantity" => Shape::Quantity,
            "util/intstr.IntOrString" => Shape::IntOrString,
            _ => panic!("schema: unknown leaf {name}"),
        };
        self.define(name, shape);
    }

    fn named(&mut self, name: &'static str, underlying: &'static str, in_message: bool) {
        let shape = match self.resolve(underlying).shape {
            Shape::Bool => Shape::Bool,
            Shape::Int32 => Shape::Int32,
            Shape::Int64 => Shape::Int64,
            Shape::String => Shape::String,
            Shape::List { element, .. } => Shape::List { element, wrapped: in_message },
            Shape::Map(element) => Shape::Map(element),
            _ => panic!("schema: {name} cannot be a {underlying}"),
        };
        self.define(name, shape);
    }

    fn resolve(&mut self, name: &'static str) -> &'static Type {
        if let Some(known) = self.types.get(name) {
            return known;
        }
        let shape = if let Some(target) = name.strip_prefix('*') {
            Shape::Pointer(self.resolve(target))
        } else if let Some(element) = name.strip_prefix("[]") {
            Shape::List { element: self.resolve(element), wrapped: false }
        } else if let Some((_, element)) = name.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            Shape::Map(self.resolve(element))
        } else {
            panic!("schema: {name} is used before it is defined")
        };
        self.define(name, shape)
    }

    fn fields(&mut self, name: &'static str, lines: impl Iterator<Item = &'static str>) -> Struct {
        let owner = name.rsplit('.').next().unwrap_or(name);
        let mut content = Struct::default();
        for line in lines {
            let words: Vec<&'static str> = line.split_ascii_whitespace().collect();
            let [go_name, number, json, ty] = words[..] else { panic!("schema: not a field: {line}") };
            let ty = self.resolve(ty);
            let place = if json == "." {
                let embedded = ty.as_struct().expect("only structs are embedded");
                content.fields.extend(embedded.fields.iter().map(|field| Field {
                    owner,
                    context: format!("{go_name}.{}", field.context),
                    ..field.clone()
                }));
                Content::Embedded(ty)
            } else {
                let mut options = json.split(',');
                let name = options.next().unwrap_or(json);
                let (mut omit_empty, mut omit_zero) = (false, false);
                for option in options {
                    omit_empty |= option == "omitempty";
                    omit_zero |= option == "omitzero";
                }
                content.fields.push(Field { name, ty, omit_empty, omit_zero, owner, context: name.to_owned() });
                Content::Field(content.fields.len() - 1)
            };
            if let Ok(number) = number.parse() {
                content.members.push(Member { number, go_name, content: place });
            }
        }
        assert!(content.fields.len() <= 64, "schema: {name} has more fields than the decoder can tick off");
        content.by_name = (0..content.fields.len()).collect();
        content.by_name.sort_by_key(|index| content.fields[*index].name);
        content.members.sort_by_key(|member| member.number);
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_loads() {
        let schema = Schema::parse(DATA);
        assert!(schema.kinds.len() > 30, "{} kinds", schema.kinds.len());
    }

    #[test]
    fn names_are_those_of_go() {
        let map = Type { name: "map[core/v1.ResourceName]api/resource.Quantity", shape: Shape::Bool };
        assert_eq!(map.go_name(), "map[v1.ResourceName]resource.Quantity");
        let list = Type { name: "[]*apis/meta/v1.Time", shape: Shape::Bool };
        assert_eq!(list.go_name(), "[]*v1.Time");
    }

    #[test]
    fn meta_kinds_belong_to_every_version() {
        assert!(lookup("coordination.k8s.io/v1", "DeleteOptions").is_some());
        assert!(lookup("coordination.k8s.io/v1", "Pod").is_none());
    }
}
