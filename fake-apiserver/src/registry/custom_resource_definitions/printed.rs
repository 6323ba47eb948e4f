//! Parts of definitions as in findings: structs of the internal version, with their Go names and order.
//!
//! Follows `pkg/apis/apiextensions/{types,types_jsonschema}.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::versions::{Shared, Versions};
use crate::schema::encode_any;
use std::fmt::Write;
use tree::Value;

/// A field: its Go name, its JSON name, and its type.
type Field = (&'static str, &'static str, Holds);

/// The type of a field, which decides its text if it is not set.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Flag,
    Number,
    /// Any value, shown as it is, or null.
    Any,
    /// A struct behind a pointer.
    One(&'static [Field]),
    Many(&'static [Field]),
    Schema,
    Schemas,
    SchemaMap,
    SchemaOrSchemas,
    SchemaOrFlag,
    /// A map with a schema or a list of names in each entry.
    SchemasOrNames,
}

const SCHEMA: &[Field] = &[
    ("ID", "id", Holds::Text),
    ("Schema", "$schema", Holds::Text),
    ("Ref", "$ref", Holds::Any),
    ("Description", "description", Holds::Text),
    ("Type", "type", Holds::Text),
    ("Nullable", "nullable", Holds::Flag),
    ("Format", "format", Holds::Text),
    ("Title", "title", Holds::Text),
    ("Default", "default", Holds::Any),
    ("Maximum", "maximum", Holds::Any),
    ("ExclusiveMaximum", "exclusiveMaximum", Holds::Flag),
    ("Minimum", "minimum", Holds::Any),
    ("ExclusiveMinimum", "exclusiveMinimum", Holds::Flag),
    ("MaxLength", "maxLength", Holds::Any),
    ("MinLength", "minLength", Holds::Any),
    ("Pattern", "pattern", Holds::Text),
    ("MaxItems", "maxItems", Holds::Any),
    ("MinItems", "minItems", Holds::Any),
    ("UniqueItems", "uniqueItems", Holds::Flag),
    ("MultipleOf", "multipleOf", Holds::Any),
    ("Enum", "enum", Holds::Any),
    ("MaxProperties", "maxProperties", Holds::Any),
    ("MinProperties", "minProperties", Holds::Any),
    ("Required", "required", Holds::Any),
    ("Items", "items", Holds::SchemaOrSchemas),
    ("AllOf", "allOf", Holds::Schemas),
    ("OneOf", "oneOf", Holds::Schemas),
    ("AnyOf", "anyOf", Holds::Schemas),
    ("Not", "not", Holds::Schema),
    ("Properties", "properties", Holds::SchemaMap),
    ("AdditionalProperties", "additionalProperties", Holds::SchemaOrFlag),
    ("PatternProperties", "patternProperties", Holds::SchemaMap),
    ("Dependencies", "dependencies", Holds::SchemasOrNames),
    ("AdditionalItems", "additionalItems", Holds::SchemaOrFlag),
    ("Definitions", "definitions", Holds::SchemaMap),
    ("ExternalDocs", "externalDocs", Holds::One(DOCUMENTATION)),
    ("Example", "example", Holds::Any),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Holds::Any),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", Holds::Flag),
    ("XIntOrString", "x-kubernetes-int-or-string", Holds::Flag),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Holds::Any),
    ("XListType", "x-kubernetes-list-type", Holds::Any),
    ("XMapType", "x-kubernetes-map-type", Holds::Any),
    ("XValidations", "x-kubernetes-validations", Holds::Many(RULE)),
];

const DOCUMENTATION: &[Field] = &[("Description", "description", Holds::Text), ("URL", "url", Holds::Text)];

const RULE: &[Field] = &[
    ("Rule", "rule", Holds::Text),
    ("Message", "message", Holds::Text),
    ("MessageExpression", "messageExpression", Holds::Text),
    ("Reason", "reason", Holds::Any),
    ("FieldPath", "fieldPath", Holds::Text),
    ("OptionalOldSelf", "optionalOldSelf", Holds::Any),
];

const VERSION: &[Field] = &[
    ("Name", "name", Holds::Text),
    ("Served", "served", Holds::Flag),
    ("Storage", "storage", Holds::Flag),
    ("Deprecated", "deprecated", Holds::Flag),
    ("DeprecationWarning", "deprecationWarning", Holds::Any),
    ("Schema", "schema", Holds::One(&[("OpenAPIV3Schema", "openAPIV3Schema", Holds::Schema)])),
    ("Subresources", "subresources", Holds::One(SUBRESOURCES)),
    ("AdditionalPrinterColumns", "additionalPrinterColumns", Holds::Many(COLUMN)),
    ("SelectableFields", "selectableFields", Holds::Many(&[("JSONPath", "jsonPath", Holds::Text)])),
];

const SUBRESOURCES: &[Field] = &[
    ("Status", "status", Holds::Any),
    (
        "Scale",
        "scale",
        Holds::One(&[
            ("SpecReplicasPath", "specReplicasPath", Holds::Text),
            ("StatusReplicasPath", "statusReplicasPath", Holds::Text),
            ("LabelSelectorPath", "labelSelectorPath", Holds::Any),
        ]),
    ),
];

const COLUMN: &[Field] = &[
    ("Name", "name", Holds::Text),
    ("Type", "type", Holds::Text),
    ("Format", "format", Holds::Text),
    ("Description", "description", Holds::Text),
    ("Priority", "priority", Holds::Number),
    ("JSONPath", "jsonPath", Holds::Text),
];

/// The JSON of a value, as messages show values behind pointers.
pub(super) fn quoted(value: &Value) -> String {
    encode_any(value)
}

/// The fields of a schema that are set, by their names in JSON, in Go's order.
pub(super) fn fields(schema: &Value) -> impl Iterator<Item = &'static str> {
    SCHEMA.iter().map(|(_, name, _)| *name).filter(|name| schema.get(name).is_some())
}

/// A schema.
pub(super) fn schema(schema: &Value) -> String {
    print(|text| one(text, SCHEMA, schema))
}

/// A rule.
pub(super) fn rule(rule: &Value) -> String {
    print(|text| one(text, RULE, rule))
}

/// The schemas of a list's items.
pub(super) fn items(items: &Value) -> String {
    print(|text| value(text, Holds::SchemaOrSchemas, Some(items)))
}

/// The versions of a definition, without the fields that they share.
pub(super) fn versions(versions: &Versions<'_>) -> String {
    let all: Vec<Value> = versions.all().iter().map(|version| own(versions, version)).collect();
    let all = (!versions.are_nil()).then(|| Value::from(all));
    print(|text| value(text, Holds::Many(VERSION), all.as_ref()))
}

fn own(versions: &Versions<'_>, version: &Value) -> Value {
    let mut version = version.clone();
    if let Some(fields) = version.as_object_mut() {
        fields.retain(|field, _| {
            Shared::ALL.iter().all(|shared| shared.field() != field || !versions.is_shared(*shared))
        });
    }
    version
}

fn print(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    write(&mut text).expect("writing to a String cannot fail");
    text
}

fn one(text: &mut String, fields: &[Field], of: &Value) -> std::fmt::Result {
    for (index, (name, field, holds)) in fields.iter().enumerate() {
        write!(text, "{}\"{name}\":", if index == 0 { '{' } else { ',' })?;
        value(text, *holds, of.get(field))?;
    }
    text.write_char('}')
}

fn many<'a>(text: &mut String, fields: &[Field], all: impl IntoIterator<Item = &'a Value>) -> std::fmt::Result {
    text.write_char('[')?;
    for (index, item) in all.into_iter().enumerate() {
        text.write_str(if index == 0 { "" } else { "," })?;
        one(text, fields, item)?;
    }
    text.write_char(']')
}

fn value(text: &mut String, holds: Holds, value: Option<&Value>) -> std::fmt::Result {
    match (holds, value) {
        (Holds::Text, None) => text.write_str("\"\""),
        (Holds::Flag, None) => text.write_str("false"),
        (Holds::Number, None) => text.write_str("0"),
        (_, None | Some(Value::Null)) => text.write_str("null"),
        (Holds::Text | Holds::Flag | Holds::Number | Holds::Any, Some(value)) => text.write_str(&quoted(value)),
        (Holds::One(fields), Some(value)) => one(text, fields, value),
        (Holds::Many(fields), Some(value)) => many(text, fields, value.as_array().into_iter().flatten()),
        (Holds::Schema, Some(value)) => one(text, SCHEMA, value),
        (Holds::Schemas, Some(value)) => many(text, SCHEMA, value.as_array().into_iter().flatten()),
        (Holds::SchemaMap, Some(value)) => map(text, value, |text, value| one(text, SCHEMA, value)),
        (Holds::SchemaOrSchemas, Some(Value::Array(all))) => {
            text.write_str("{\"Schema\":null,\"JSONSchemas\":")?;
            many(text, SCHEMA, all)?;
            text.write_char('}')
        }
        (Holds::SchemaOrSchemas, Some(value)) => {
            text.write_str("{\"Schema\":")?;
            one(text, SCHEMA, value)?;
            text.write_str(",\"JSONSchemas\":null}")
        }
        (Holds::SchemaOrFlag, Some(Value::Bool(allows))) => write!(text, "{{\"Allows\":{allows},\"Schema\":null}}"),
        (Holds::SchemaOrFlag, Some(value)) => {
            text.write_str("{\"Allows\":true,\"Schema\":")?;
            one(text, SCHEMA, value)?;
            text.write_char('}')
        }
        (Holds::SchemasOrNames, Some(value)) => map(text, value, |text, value| match value {
            Value::Object(_) => {
                text.write_str("{\"Schema\":")?;
                one(text, SCHEMA, value)?;
                text.write_str(",\"Property\":null}")
            }
            names => write!(text, "{{\"Schema\":null,\"Property\":{}}}", quoted(names)),
        }),
    }
}

fn map(text: &mut String, of: &Value, print: impl Fn(&mut String, &Value) -> std::fmt::Result) -> std::fmt::Result {
    text.write_char('{')?;
    for (index, (key, value)) in of.as_object().into_iter().flatten().enumerate() {
        write!(text, "{}{}:", if index == 0 { "" } else { "," }, quoted(&Value::from(key.as_str())))?;
        print(text, value)?;
    }
    text.write_char('}')
}
