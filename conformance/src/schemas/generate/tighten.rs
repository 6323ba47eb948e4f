//! Changes of a schema after objects were stored under it, which those objects may not meet.

use super::Generator;
use super::values::{HOPELESS, PATTERNS};
use serde_json::{Map, Value, json};

impl Generator {
    /// The schema with some changes.
    pub(super) fn tightened(&mut self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for _ in 0..=self.rng.usize(..3) {
            let places = places(&schema);
            let place = self.pick(&places).clone();
            if let Some(Value::Object(node)) = schema.pointer_mut(&place) {
                self.tighten(node);
            }
        }
        schema
    }

    fn tighten(&mut self, node: &mut Map<String, Value>) {
        let rules = |rule: &str| ("x-kubernetes-validations", json!([{"rule": rule}]));
        let of = node.get("type").and_then(Value::as_str).unwrap_or_default();
        let (name, value) = match (of, self.rng.u32(..6)) {
            ("string", 0) => ("enum", json!(["abc", "another"])),
            ("string", 1) => ("maxLength", 1.into()),
            ("string", 2) => ("pattern", PATTERNS[self.rng.usize(..PATTERNS.len() - 1)].0.into()),
            ("string", 3) => rules("self == oldSelf || self != 'abc'"),
            ("integer" | "number", 0) => ("maximum", 6.into()),
            ("integer" | "number", 1) => ("minimum", 3.into()),
            ("integer", 2) => rules("self > 4"),
            ("array", 0) => ("maxItems", 0.into()),
            ("array", 1) => ("minItems", 2.into()),
            ("array", 2) => rules("self.size() != 1"),
            ("object", 0) => ("required", json!(["a", "name"])),
            ("object", 1) => ("minProperties", 3.into()),
            ("object", 2) => {
                ("x-kubernetes-validations", json!([{"rule": "oldSelf.hasValue() || true", "optionalOldSelf": true}]))
            }
            ("object", 3) => ("x-kubernetes-map-type", "atomic".into()),
            ("object", 4) => match node.get("properties") {
                Some(Value::Object(properties)) if properties.len() > 1 => {
                    let mut fewer = properties.clone();
                    let names: Vec<&String> = properties.keys().filter(|name| *name != "spec").collect();
                    fewer.remove(*self.pick(&names));
                    ("properties", fewer.into())
                }
                _ => ("description", "Another object.".into()),
            },
            ("string", _) => ("allOf", json!([{"pattern": HOPELESS}])),
            ("boolean", _) => ("enum", json!([true])),
            (_, 3) => ("not", json!({"enum": [null, 5, "x"]})),
            (_, 4) => ("nullable", (!node.contains_key("nullable")).into()),
            _ => ("description", "Another value.".into()),
        };
        node.insert(name.to_owned(), value);
    }
}

/// The JSON pointers of all schemas in a schema, those of junctors apart.
pub(super) fn places(schema: &Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut below =
        |at: &str, schema: &Value| all.extend(places(schema).into_iter().map(|place| at.to_owned() + &place));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        below(&format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")), property);
    }
    for name in ["items", "additionalProperties"] {
        if schema[name].is_object() {
            below(&format!("/{name}"), &schema[name]);
        }
    }
    all
}
