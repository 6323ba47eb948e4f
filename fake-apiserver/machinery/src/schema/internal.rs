//! Values in messages, as `field.Error` of `k8s.io/apimachinery/pkg/util/validation/field` (v0.37.1) prints them.
//!
//! Validation works on Kubernetes' internal types. Their structs have no names for JSON, so that fields show under their names in Go,
//! and zeros with them: `{"Type":"x","RollingUpdate":null}`. Their other differences from the versioned types are data:
//! `internals.txt`. Types of apimachinery are the same inside and outside.

use super::encode::{encode, encode_any};
use super::types::{Field, Shape, TypeRef};
use go_text::quote;
use std::collections::HashMap;
use std::sync::LazyLock;
use tree::Value;

/// The beginning of the names of types that have names for JSON inside, too.
const SHARED: &str = "apis/meta/";

impl TypeRef<'_> {
    /// A value of the type in a message; `null` stands for Go's zero value. Texts are quoted, and what is neither text nor a number
    /// is JSON of the internal type.
    pub fn printed(self, value: &Value) -> String {
        match (self.target().shape(), value) {
            (_, Value::String(text)) => quote(text),
            _ => internal(self, value),
        }
    }

    /// The fields of a struct that is embedded in the type, as JSON of the internal type.
    pub fn printed_embedded(self, value: &Value, embedded: &str) -> String {
        let Shape::Struct(content) = self.target().shape() else { return String::new() };
        let is_own = |field: &&Field| field.context.split_once('.').is_some_and(|(first, _)| first == embedded);
        let fields = content.fields.iter().filter(is_own);
        joined('{', fields.map(|field| member(self.of(field), &field.go_name, &value[field.name()])), '}')
    }
}

/// The internal structs whose fields are not those of the versioned ones, by the names of these.
static DIFFERENT: LazyLock<HashMap<&'static str, Vec<Inner>>> = LazyLock::new(|| {
    let mut structs: HashMap<&str, Vec<Inner>> = HashMap::new();
    let mut name = "";
    for line in include_str!("internals.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("struct ") {
            Some(next) => name = next,
            None => {
                structs.entry(name).or_default().push(Inner::of(line).expect("`cargo xtask schema` writes fields"));
            }
        }
    }
    structs
});

/// A field of an internal struct.
#[derive(Debug, PartialEq)]
struct Inner {
    /// The name that is printed.
    name: &'static str,
    /// The versioned field that has the value; `None` if there is none.
    field: Option<&'static str>,
    /// The text printed where the versioned struct has no value; `None` for the zero of the versioned field's type.
    zero: Option<&'static str>,
}

impl Inner {
    fn of(line: &'static str) -> Option<Inner> {
        let mut words = line.split_whitespace();
        let (name, field) = (words.next()?, words.next()?);
        let zero = words.next().map(|zero| if zero == "*" { "null" } else { zero });
        Some(Inner { name, field: (field != "-").then_some(field), zero })
    }

    /// The field as it is printed in an object of the versioned type.
    fn printed(&self, ty: TypeRef<'_>, object: &Value) -> String {
        let value = self.field.map_or(&Value::Null, |field| &object[field]);
        let field_type = self.field.and_then(|field| Some(ty.of(ty.field(field)?)));
        match (self.zero, field_type) {
            (Some(zero), _) if value.is_null() => format!("\"{}\":{zero}", self.name),
            (_, Some(ty)) => member(ty, self.name, value),
            (_, None) => format!("\"{}\":null", self.name),
        }
    }
}

/// `json.Marshal` of a value of the internal type.
fn internal(ty: TypeRef<'_>, value: &Value) -> String {
    match (ty.shape(), value) {
        (Shape::Pointer(_), Value::Null) => "null".into(),
        (Shape::Pointer(target), value) => internal(ty.at(*target), value),
        (Shape::Struct(_), value) if ty.name().starts_with(SHARED) => shared(ty, value),
        (Shape::Struct(content), value) => match DIFFERENT.get(ty.name()) {
            Some(fields) => joined('{', fields.iter().map(|field| field.printed(ty, value)), '}'),
            None => {
                let fields = content.fields.iter().filter(|field| !field.context.starts_with("TypeMeta."));
                let member = |field: &Field| member(ty.of(field), &field.go_name, &value[field.name()]);
                joined('{', fields.map(member), '}')
            }
        },
        (Shape::List { element, .. }, Value::Array(items)) => {
            joined('[', items.iter().map(|item| internal(ty.at(*element), item)), ']')
        }
        (Shape::Map(element), Value::Object(entries)) => {
            let entry =
                |(key, value)| format!("{}:{}", encode_any(&Value::from(key)), internal(ty.at(*element), value));
            joined('{', entries.iter().map(|(key, value)| entry((key.as_str(), value))), '}')
        }
        (Shape::Bytes, Value::Null) => "null".into(),
        (_, Value::Null) => encode_any(&ty.zero()),
        (_, value) => encode_any(value),
    }
}

/// A field of that type and its value. Metadata is embedded inside, so that its fields stand among those of the object.
fn member(ty: TypeRef<'_>, name: &str, value: &Value) -> String {
    if name == "ObjectMeta" {
        let metadata = shared(ty, value);
        return metadata[1..metadata.len() - 1].to_owned();
    }
    format!("\"{name}\":{}", internal(ty, value))
}

fn shared(ty: TypeRef<'_>, value: &Value) -> String {
    String::from_utf8(encode(value, ty).json).expect("JSON of texts is UTF-8")
}

fn joined(open: char, parts: impl Iterator<Item = String>, close: char) -> String {
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    format!("{open}{}{close}", parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::DIFFERENT;
    use crate::schema::{every_type, lookup};
    use std::collections::HashMap;
    use tree::{Value, json};

    #[test]
    fn values_print_as_go_prints_them() {
        let table = [
            ("spec.strategy", json!({"type": "x"}), r#"{"Type":"x","RollingUpdate":null}"#),
            (
                "spec.strategy",
                json!({"type": "a<b", "rollingUpdate": {"maxSurge": "25%"}}),
                r#"{"Type":"a\u003cb","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}"#,
            ),
            ("spec.replicas", json!(-1), "-1"),
            ("spec.replicas", Value::Null, "null"),
            ("spec.minReadySeconds", Value::Null, "0"),
            ("spec.paused", Value::Null, "false"),
            ("spec.strategy.type", Value::Null, r#""""#),
            ("spec.strategy.type", json!("a<b\n"), r#""a<b\n""#),
            ("spec.selector", json!({"matchLabels": {"b": "1", "a": "2"}}), r#"{"matchLabels":{"a":"2","b":"1"}}"#),
            ("spec.selector", Value::Null, "null"),
            ("spec.template.metadata.labels", json!({"b": "1", "a": "2"}), r#"{"a":"2","b":"1"}"#),
            ("spec.template.metadata.labels", Value::Null, "null"),
            ("status.conditions", Value::Null, "null"),
        ];
        let deployment = lookup("apps/v1", "Deployment").expect("the type");
        for (path, value, printed) in table {
            let ty = path.split('.').try_fold(deployment, |ty, name| Some(ty.target().of(ty.target().field(name)?)));
            assert_eq!(ty.expect(path).printed(&value), printed, "{path}: {value}");
        }
    }

    #[test]
    fn absent_bytes_are_nil() {
        let secret = lookup("v1", "Secret").expect("the type");
        let data = secret.of(secret.field("data").expect("the field"));
        assert_eq!(data.printed(&json!({"a": null, "b": ""})), r#"{"a":null,"b":""}"#);
    }

    #[test]
    fn metadata_is_embedded() {
        let template = lookup("v1", "PodTemplate").expect("the type");
        let printed = template.printed(&json!({"metadata": {"name": "a", "labels": {"b": "c"}}}));
        assert!(
            printed.starts_with(r#"{"name":"a","labels":{"b":"c"},"Template":{"Spec":{"Volumes":null,"#),
            "{printed}"
        );
    }

    #[test]
    fn differences_are_about_fields_that_exist() {
        let types: HashMap<&str, _> = every_type().map(|ty| (ty.name(), ty)).collect();
        for (name, fields) in &*DIFFERENT {
            let Some(ty) = types.get(name) else { continue };
            for field in fields.iter().filter_map(|field| field.field) {
                assert!(ty.field(field).is_some(), "{name} has no field {field}");
            }
        }
    }
}
