//! Schemas with a defect, for which a definition is refused, or of which it warns.

use super::Generator;
use super::rules::rules_mut;
use super::tighten::places;
use serde_json::{Map, Value, json};

/// Keywords with values that are wrong, or wrong at most places.
const KEYWORDS: [(&str, &str); 52] = [
    ("type", r#""thing""#),
    ("type", r#""null""#),
    ("type", r#""""#),
    ("type", r#""object""#),
    ("type", r#""string""#),
    ("type", r#""array""#),
    ("type", r#""integer""#),
    ("type", "5"),
    ("default", r#""a text""#),
    ("default", "5"),
    ("default", "{}"),
    ("default", r#"{"unknown": 1}"#),
    ("default", "[{}]"),
    ("default", "null"),
    ("pattern", r#""(""#),
    ("pattern", r#""(?=x)""#),
    ("minLength", "-1"),
    ("maxLength", r#""long""#),
    ("maxLength", "1.5"),
    ("multipleOf", "0"),
    ("multipleOf", "-2"),
    ("uniqueItems", "true"),
    ("additionalProperties", "false"),
    ("additionalProperties", "true"),
    ("additionalProperties", r#"{"type": "string"}"#),
    ("properties", r#"{"a": {}}"#),
    ("properties", r#"{"a": {"type": "string"}}"#),
    ("items", r#"{"type": "string"}"#),
    ("items", r#"[{"type": "string"}]"#),
    ("items", "{}"),
    ("x-kubernetes-list-type", r#""map""#),
    ("x-kubernetes-list-type", r#""set""#),
    ("x-kubernetes-list-type", r#""other""#),
    ("x-kubernetes-list-map-keys", r#"["name", "name"]"#),
    ("x-kubernetes-list-map-keys", r#"["missing"]"#),
    ("x-kubernetes-map-type", r#""other""#),
    ("x-kubernetes-map-type", r#""atomic""#),
    ("x-kubernetes-embedded-resource", "true"),
    ("x-kubernetes-int-or-string", "true"),
    ("x-kubernetes-preserve-unknown-fields", "false"),
    ("x-kubernetes-preserve-unknown-fields", "true"),
    ("nullable", r#""yes""#),
    ("nullable", "true"),
    ("$ref", r##""#/x""##),
    ("$schema", r#""x""#),
    ("id", r#""x""#),
    ("definitions", r#"{"a": {"type": "string"}}"#),
    ("patternProperties", r#"{"a": {"type": "string"}}"#),
    ("dependencies", r#"{"a": ["b"]}"#),
    ("format", r#""no-such-format""#),
    ("enum", r#"["x", 5, null]"#),
    ("no-such-keyword", "1"),
];

/// Junctors that no structural schema may have, or only at some places.
const JUNCTORS: [&str; 12] = [
    r#"{"allOf": [{"type": "string"}]}"#,
    r#"{"anyOf": [{"description": "x"}, {"title": "x"}]}"#,
    r#"{"oneOf": [{"default": 1}]}"#,
    r#"{"not": {"nullable": true}}"#,
    r#"{"allOf": [{"properties": {"elsewhere": {"minLength": 1}}}]}"#,
    r#"{"anyOf": [{"items": {"minLength": 1}}]}"#,
    r#"{"allOf": [{"additionalProperties": {"minLength": 1}}]}"#,
    r#"{"not": {"x-kubernetes-preserve-unknown-fields": true}}"#,
    r#"{"allOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}"#,
    r#"{"anyOf": [{"x-kubernetes-list-type": "set"}]}"#,
    r#"{"anyOf": [{"type": "integer"}, {"type": "string"}]}"#,
    r#"{"allOf": [{"pattern": "("}]}"#,
];

/// Schemas of metadata that are wrong at the root.
const METADATA: [&str; 4] = [
    r#"{"type": "object", "properties": {"labels": {"type": "object"}}}"#,
    r#"{"type": "string"}"#,
    r#"{"type": "object", "properties": {"name": {"type": "integer"}}}"#,
    r#"{"type": "object", "required": ["name"], "minProperties": 1}"#,
];

/// Rules that are wrong everywhere, or at most places.
const RULES: [&str; 22] = [
    r#"{"rule": "self."}"#,
    r#"{"rule": ""}"#,
    r#"{"rule": " "}"#,
    r#"{"rule": "'a text'"}"#,
    r#"{"rule": "self + 1 == 2"}"#,
    r#"{"rule": "self.no_such_field"}"#,
    r#"{"rule": "self == oldSelf"}"#,
    r#"{"rule": "true", "optionalOldSelf": true}"#,
    r#"{"rule": "oldSelf == self", "optionalOldSelf": true}"#,
    r#"{"rule": "true", "message": " "}"#,
    r#"{"rule": "true", "message": "two\nlines"}"#,
    r#"{"rule": "true\n"}"#,
    r#"{"rule": "true &&\ntrue"}"#,
    r#"{"rule": "true", "messageExpression": ""}"#,
    r#"{"rule": "true", "messageExpression": "5"}"#,
    r#"{"rule": "true", "messageExpression": "unknown"}"#,
    r#"{"rule": "true", "reason": "Whatever"}"#,
    r#"{"rule": "true", "fieldPath": ".missing"}"#,
    r#"{"rule": "true", "fieldPath": "a["}"#,
    r#"{"rule": "self.all(x, self.all(y, x == y))"}"#,
    r#"{"rule": "true", "messageExpression": "'got ' + string(self)"}"#,
    r#"{"rule": "self == null"}"#,
];

impl Generator {
    /// Makes a schema invalid in one way, most probably.
    pub(super) fn break_schema(&mut self, schema: &mut Value) {
        let places = places(schema);
        let place = self.pick(&places).clone();
        let Some(Value::Object(node)) = schema.pointer_mut(&place) else { return };
        match self.rng.u32(..10) {
            0 => drop(node.remove("type")),
            1 => drop(node.remove("items")),
            2 => drop(node.remove("x-kubernetes-list-map-keys")),
            3 | 4 => {
                let added = parsed(self.pick::<&str>(&JUNCTORS));
                node.extend(added);
            }
            5 | 6 => {
                let rule = parsed(self.pick::<&str>(&RULES)).into();
                match rules_mut(node) {
                    Some(rules) => rules.push(rule),
                    None => drop(node.insert("x-kubernetes-validations".to_owned(), json!([rule]))),
                }
            }
            7 if place.is_empty() => {
                node["properties"]["metadata"] = parsed(self.pick::<&str>(&METADATA)).into();
            }
            _ => {
                let (name, value) = *self.pick(&KEYWORDS);
                node.insert(name.to_owned(), serde_json::from_str(value).expect("it is JSON"));
            }
        }
    }
}

/// The fields of a JSON object.
fn parsed(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("it is a JSON object")
}
