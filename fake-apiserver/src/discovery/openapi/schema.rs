//! The JSON of schemas, in the order of keys that Go writes: `SchemaProps` of `k8s.io/kube-openapi/pkg/validation/spec/schema.go`
//! (d427ff9ee9ad).

use super::convert::unescaped;
use super::template::{Form, Template};
use crate::deadline::Deadline;
use crate::schema::encode_any;
use tree::Value;

/// The key of a schema that is the recorded one of a field of all objects.
pub(super) const STANDARD: &str = "⟨standard⟩";
/// The same of embedded objects.
pub(super) const EMBEDDED: &str = "⟨embedded⟩";
/// The fields that all objects have.
pub(super) const STANDARD_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The kind of a member of a schema.
#[derive(Clone, Copy)]
enum Is {
    /// Left out if it is empty or false.
    Plain,
    /// A number.
    Float,
    /// Any value but null.
    Any,
    Schema,
    Schemas,
    Properties,
    /// An object with members in this order; another one in version 2.
    Object(&'static [&'static str]),
    /// Such objects.
    Objects(&'static [&'static str]),
}

/// The members of a schema, in order.
const MEMBERS: &[(&str, Is)] = &[
    ("description", Is::Plain),
    ("type", Is::Plain),
    ("nullable", Is::Plain),
    ("format", Is::Plain),
    ("title", Is::Plain),
    ("default", Is::Any),
    ("maximum", Is::Float),
    ("exclusiveMaximum", Is::Plain),
    ("minimum", Is::Float),
    ("exclusiveMinimum", Is::Plain),
    ("maxLength", Is::Any),
    ("minLength", Is::Any),
    ("pattern", Is::Plain),
    ("maxItems", Is::Any),
    ("minItems", Is::Any),
    ("uniqueItems", Is::Plain),
    ("multipleOf", Is::Float),
    ("enum", Is::Plain),
    ("maxProperties", Is::Any),
    ("minProperties", Is::Any),
    ("required", Is::Plain),
    ("items", Is::Schema),
    ("allOf", Is::Schemas),
    ("oneOf", Is::Schemas),
    ("anyOf", Is::Schemas),
    ("not", Is::Schema),
    ("properties", Is::Properties),
    ("additionalProperties", Is::Schema),
    ("externalDocs", Is::Object(&["description", "url"])),
    ("example", Is::Plain),
    ("x-kubernetes-embedded-resource", Is::Plain),
    ("x-kubernetes-group-version-kind", Is::Plain),
    ("x-kubernetes-int-or-string", Is::Plain),
    ("x-kubernetes-list-map-keys", Is::Plain),
    ("x-kubernetes-list-type", Is::Plain),
    ("x-kubernetes-map-type", Is::Plain),
    ("x-kubernetes-preserve-unknown-fields", Is::Plain),
    ("x-kubernetes-selectable-fields", Is::Plain),
    (
        "x-kubernetes-validations",
        Is::Objects(&["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"]),
    ),
];

/// The JSON of a schema. In version 2 nothing is escaped that is special in HTML only.
pub(super) fn write(schema: &Value, form: Form, deadline: &Deadline) -> String {
    let mut writer = Writer { json: String::new(), form, deadline };
    writer.schema(schema);
    match form {
        Form::V2 => unescaped(&writer.json),
        Form::V3 => writer.json,
    }
}

struct Writer<'d> {
    json: String,
    form: Form,
    deadline: &'d Deadline,
}

impl Writer<'_> {
    fn schema(&mut self, schema: &Value) {
        if self.deadline.check().is_err() {
            return;
        }
        let template = Template::of(self.form);
        let recorded = |key: &str| schema.get(key).and_then(Value::as_str);
        if let Some(json) = recorded(STANDARD).and_then(|field| template.standard.get(field)) {
            return self.json.push_str(json);
        }
        if let Some(json) = recorded(EMBEDDED).and_then(|field| template.embedded.get(field)) {
            return self.json.push_str(json);
        }
        if !schema.is_object() {
            return self.any(schema);
        }
        let members = MEMBERS.iter().filter_map(|(name, is)| Some((*name, *is, schema.get(name)?)));
        let members = members.filter(|(_, is, value)| is.written(value));
        self.members(members.map(|(name, is, value)| (name, (is, value))), |writer, (is, value)| {
            writer.member(is, value);
        });
    }

    fn member(&mut self, is: Is, value: &Value) {
        match is {
            Is::Plain | Is::Any => self.any(value),
            Is::Float => self.any(&value.as_f64().and_then(crate::schema::float).map_or(Value::Null, Value::Number)),
            Is::Schema => self.schema(value),
            Is::Schemas => self.list(value, Self::schema),
            Is::Properties => {
                let properties = value.as_object().into_iter().flatten();
                self.members(properties.map(|(name, schema)| (name.as_str(), schema)), Self::schema);
            }
            Is::Object(order) => self.ordered(value, order),
            Is::Objects(order) => self.list(value, |writer, value| writer.ordered(value, order)),
        }
    }

    fn ordered(&mut self, value: &Value, order: &[&'static str]) {
        let mut order = order.to_vec();
        if self.form == Form::V2 {
            order.sort_unstable();
        }
        let members = order.into_iter().filter_map(|name| Some((name, value.get(name)?)));
        self.members(members.filter(|(_, value)| !is_empty(value)), Self::any);
    }

    fn list(&mut self, items: &Value, write: impl Fn(&mut Self, &Value)) {
        self.json.push('[');
        for (number, item) in items.as_array().into_iter().flatten().enumerate() {
            if number > 0 {
                self.json.push(',');
            }
            write(self, item);
        }
        self.json.push(']');
    }

    fn members<'v, T>(&mut self, members: impl Iterator<Item = (&'v str, T)>, write: impl Fn(&mut Self, T)) {
        self.json.push('{');
        for (number, (name, value)) in members.enumerate() {
            if number > 0 {
                self.json.push(',');
            }
            self.any(&name.into());
            self.json.push(':');
            write(self, value);
        }
        self.json.push('}');
    }

    fn any(&mut self, value: &Value) {
        self.json.push_str(&encode_any(value));
    }
}

impl Is {
    /// Whether a member is written at all.
    fn written(self, value: &Value) -> bool {
        match self {
            Is::Plain | Is::Schemas | Is::Properties | Is::Objects(_) => !is_empty(value),
            Is::Float | Is::Any | Is::Schema | Is::Object(_) => !value.is_null(),
        }
    }
}

/// Whether Go leaves out a value that may be omitted.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(_) | Value::Raw(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}
