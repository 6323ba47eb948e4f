//! `allOf`, `anyOf`, `oneOf` and `not`, as a witness allows them.

use super::values::{HOPELESS, PATTERNS, TEXTS};
use super::{Generator, Made};
use serde_json::{Map, Value, json};

impl Generator {
    /// Adds schemas in which a structural schema only validates.
    pub(super) fn add_junctor(&mut self, made: &mut Made) {
        if made.schema.contains_key("anyOf") || made.schema.contains_key("allOf") {
            return;
        }
        let schema = Value::Object(made.schema.clone());
        let (kept, broken) = (self.kept(&schema, &made.witness, 2), self.broken(&schema, &made.witness));
        let (name, value) = match self.rng.u32(..6) {
            0 => ("allOf", json!([kept])),
            1 => ("allOf", json!([kept, self.kept(&schema, &made.witness, 1)])),
            2 => ("anyOf", json!([broken, kept])),
            3 => ("anyOf", json!([kept, self.kept(&schema, &made.witness, 1)])),
            4 => ("oneOf", json!([broken, kept, self.broken(&schema, &made.witness)])),
            _ => ("not", broken),
        };
        made.schema.insert(name.to_owned(), value);
    }

    /// A schema that the value meets; `depth` levels of junctors may be in it.
    fn kept(&mut self, schema: &Value, value: &Value, depth: u32) -> Value {
        if depth > 0 && self.chance(15) {
            let (kept, broken) = (self.kept(schema, value, depth - 1), self.broken(schema, value));
            return match self.rng.u32(..4) {
                0 => json!({"not": broken}),
                1 => json!({"anyOf": [broken, kept]}),
                2 => json!({"oneOf": [kept, broken]}),
                _ => json!({"allOf": [kept]}),
            };
        }
        match value {
            Value::String(text) => self.kept_text(text),
            Value::Number(number) => {
                let (number, of) = (number.as_f64().unwrap_or_default(), self.rng.u32(..4));
                match of {
                    0 if number.abs() < 1e15 => json!({"minimum": number - 0.5}),
                    1 if number.abs() < 1e15 => json!({"maximum": number + 1.0, "exclusiveMaximum": true}),
                    2 => json!({"enum": [value, 12345]}),
                    _ => json!({"minimum": -1e300}),
                }
            }
            Value::Object(fields) => self.kept_object(schema, fields, depth),
            Value::Array(list) => match (list.first(), self.rng.u32(..3)) {
                (Some(item), 0) => json!({"items": self.kept(&schema["items"], item, depth.saturating_sub(1))}),
                (_, 1) => json!({"minItems": list.len()}),
                _ => json!({"maxItems": list.len()}),
            },
            _ => json!({"enum": [value]}),
        }
    }

    fn kept_text(&mut self, text: &str) -> Value {
        let length = text.chars().count();
        let patterns: Vec<&str> = PATTERNS.iter().filter(|(_, of)| of.contains(&text)).map(|(name, _)| *name).collect();
        match self.rng.u32(..5) {
            0 if !patterns.is_empty() => json!({"pattern": *self.pick(&patterns)}),
            1 => json!({"minLength": length}),
            2 => json!({"enum": [text, "another"]}),
            3 => json!({"format": "password"}),
            _ => json!({"maxLength": length + 1}),
        }
    }

    fn kept_object(&mut self, schema: &Value, fields: &Map<String, Value>, depth: u32) -> Value {
        let known = |name: &&String| schema["properties"].get(name.as_str()).is_some();
        let names: Vec<&String> = fields.keys().filter(known).collect();
        let of_metadata = |name: &String| name == "metadata";
        if names.is_empty() || self.chance(20) {
            return json!({"minProperties": fields.len()});
        }
        let name = (*self.pick(&names)).clone();
        let mut kept = Map::new();
        if self.chance(60) {
            kept.insert("required".to_owned(), json!([name]));
        }
        if (kept.is_empty() || self.chance(50)) && !of_metadata(&name) {
            let inner = self.kept(&schema["properties"][&name], &fields[&name], depth.saturating_sub(1));
            kept.insert("properties".to_owned(), json!({name: inner}));
        }
        if kept.is_empty() { json!({"maxProperties": fields.len()}) } else { kept.into() }
    }

    /// A schema that the value does not meet.
    fn broken(&mut self, schema: &Value, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let other = if TEXTS[0] == text { TEXTS[2] } else { TEXTS[0] };
                match self.rng.u32(..4) {
                    0 => json!({"pattern": HOPELESS}),
                    1 => json!({"minLength": text.chars().count() + 1}),
                    2 => json!({"not": {"enum": [text]}}),
                    _ => json!({"enum": [other]}),
                }
            }
            Value::Number(number) => match number.as_f64().filter(|number| number.abs() < 1e15) {
                Some(number) if self.rng.bool() => json!({"minimum": number, "exclusiveMinimum": true}),
                Some(number) => json!({"maximum": number - 1.0}),
                None => json!({"not": {"enum": [value]}}),
            },
            Value::Bool(is) => json!({"enum": [!is]}),
            Value::Object(fields) => {
                let lacks = |name: &&String| !fields.contains_key(*name);
                let missing: Vec<&String> =
                    schema["properties"].as_object().into_iter().flat_map(Map::keys).filter(lacks).collect();
                let present: Vec<&String> =
                    fields.keys().filter(|name| schema["properties"].get(name.as_str()).is_some()).collect();
                match self.rng.u32(..3) {
                    0 if !missing.is_empty() => json!({"required": [*self.pick(&missing)]}),
                    1 if !present.is_empty() => {
                        let name = (*self.pick(&present)).clone();
                        if name == "metadata" {
                            return json!({"required": ["no such field"]});
                        }
                        let inner = self.broken(&schema["properties"][&name], &fields[&name]);
                        json!({"properties": {name: inner}})
                    }
                    _ => json!({"minProperties": fields.len() + 1}),
                }
            }
            Value::Array(list) => match list.first() {
                Some(item) if self.rng.bool() => json!({"items": self.broken(&schema["items"], item)}),
                _ => json!({"minItems": list.len() + 1}),
            },
            Value::Null => json!({"not": {"minProperties": 0}}),
        }
    }
}
