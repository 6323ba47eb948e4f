//! Changes of a value, small ones, that its schema has something to say about.

use super::Generator;
use super::values::{FLOATS, FORMATS, INTEGERS, KEYS, NAMES, ODD, TEXTS};
use serde_json::{Map, Value, json};

impl Generator {
    /// Changes the value in one place.
    pub(super) fn mutate(&mut self, schema: &Value, value: &mut Value) {
        let inner = match value {
            Value::Object(fields) => fields.len(),
            Value::Array(items) => items.len(),
            _ => 0,
        };
        if inner > 0 && self.chance(70) {
            let index = self.rng.usize(..inner);
            return match value {
                Value::Object(fields) => {
                    let (name, value) = fields.iter_mut().nth(index).expect("the index is one of its fields");
                    let name = name.clone();
                    self.mutate(&of_field(schema, &name), value);
                }
                Value::Array(items) => self.mutate(&schema["items"], &mut items[index]),
                _ => {}
            };
        }
        *value = match self.rng.u32(..100) {
            0..4 => Value::Null,
            4..12 => self.anything(),
            _ => match std::mem::take(value) {
                Value::String(_) => self.other_text(schema),
                Value::Number(_) => self.other_number(schema),
                Value::Bool(is) => Value::Bool(!is),
                Value::Array(items) => self.other_list(schema, items),
                Value::Object(fields) => self.other_object(schema, fields),
                Value::Null => self.fresh(schema, 2),
            },
        };
    }

    /// A value of any type.
    pub(super) fn anything(&mut self) -> Value {
        match self.rng.u32(..12) {
            0 => json!({}),
            1 => json!([]),
            2 => json!({"k": *self.pick(&TEXTS)}),
            3 => json!([*self.pick(&INTEGERS), null]),
            4 => json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}),
            5 => json!(self.rng.bool()),
            6 | 7 => json!(*self.pick(&INTEGERS)),
            8 => json!(*self.pick(&FLOATS)),
            9 => json!({"a": {"b": [1, {"c": null}]}}),
            _ => json!(*self.pick(&TEXTS)),
        }
    }

    /// A value of the type that the schema names, which it need not allow.
    pub(super) fn fresh(&mut self, schema: &Value, depth: u32) -> Value {
        if let Some(Value::Array(all)) = schema.get("enum")
            && self.chance(70)
        {
            return self.pick(all).clone();
        }
        match schema["type"].as_str() {
            Some("string") => self.other_text(schema),
            Some("integer") => self.other_number(schema),
            Some("number") => self.other_number(schema),
            Some("boolean") => Value::Bool(self.rng.bool()),
            Some("array") if depth > 0 => {
                let size = self.rng.usize(..4);
                (0..size).map(|_| self.fresh(&schema["items"], depth - 1)).collect()
            }
            Some("array") => json!([]),
            Some("object") if depth > 0 => {
                let mut fields = Map::new();
                for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                    if self.chance(60) {
                        fields.insert(name.clone(), self.fresh(schema, depth - 1));
                    }
                }
                if schema["additionalProperties"].is_object() {
                    let key = (*self.pick(&KEYS)).to_owned();
                    fields.insert(key, self.fresh(&schema["additionalProperties"], depth - 1));
                }
                fields.into()
            }
            Some("object") => json!({}),
            _ if schema["x-kubernetes-int-or-string"] == true && self.rng.bool() => self.other_number(schema),
            _ if schema["x-kubernetes-int-or-string"] == true => self.other_text(schema),
            _ => self.anything(),
        }
    }

    fn other_text(&mut self, schema: &Value) -> Value {
        let of_length = |length: &Value, more: u64| {
            length.as_u64().map(|length| Value::from("é".repeat(usize::try_from(length + more).unwrap_or_default())))
        };
        match self.rng.u32(..10) {
            0 => of_length(&schema["maxLength"], 1),
            1 => of_length(&schema["maxLength"], 0),
            2 => of_length(&schema["minLength"], 0),
            3 => Some((*self.pick(&ODD)).into()),
            4..7 => {
                let named = FORMATS.iter().find(|format| schema["format"] == format.name);
                let format = match named {
                    Some(format) if self.chance(60) => format,
                    _ => self.pick(&FORMATS),
                };
                Some((*self.pick(format.texts)).into())
            }
            _ => None,
        }
        .unwrap_or_else(|| {
            let near = schema.get("format").is_some() && self.chance(60);
            if near { (*self.pick(&ODD)).into() } else { (*self.pick(&TEXTS)).into() }
        })
    }

    fn other_number(&mut self, schema: &Value) -> Value {
        let near = |number: &Value, more: f64| {
            let number = number.as_f64()? + more;
            let exact = number.fract() == 0.0 && number.abs() < 1e15;
            Some(if exact { Value::from(number as i64) } else { number.into() })
        };
        match self.rng.u32(..12) {
            0 => near(&schema["maximum"], 0.0),
            1 => near(&schema["maximum"], 1.0),
            2 => near(&schema["maximum"], 0.5),
            3 => near(&schema["minimum"], 0.0),
            4 => near(&schema["minimum"], -1.0),
            5 => near(&schema["multipleOf"], 1.0),
            6 => Some((*self.pick(&FLOATS)).into()),
            7 => Some(json!(u64::MAX)),
            _ => None,
        }
        .unwrap_or_else(|| (*self.pick(&INTEGERS)).into())
    }

    fn other_list(&mut self, schema: &Value, mut items: Vec<Value>) -> Value {
        match (self.rng.u32(..8), items.first().cloned()) {
            (0 | 1, Some(first)) => items.push(first),
            (2, Some(mut first)) => {
                self.mutate(&schema["items"], &mut first);
                items.push(first);
            }
            (3, Some(_)) => items.clear(),
            (4, Some(_)) => items.reverse(),
            (5, _) => items.push(Value::Null),
            (6, _) => items.extend((0..5).map(|_| self.fresh(&schema["items"], 1))),
            _ => items.push(self.fresh(&schema["items"], 2)),
        }
        items.into()
    }

    fn other_object(&mut self, schema: &Value, mut fields: Map<String, Value>) -> Value {
        let names: Vec<String> = fields.keys().cloned().collect();
        let known: Vec<String> = schema["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect();
        match self.rng.u32(..6) {
            0 | 1 if !names.is_empty() => {
                let name = self.pick(&names).clone();
                fields.remove(&name);
            }
            2 | 3 if !known.is_empty() => {
                let name = self.pick(&known).clone();
                let value = self.fresh(&schema["properties"][&name], 2);
                fields.insert(name, value);
            }
            4 if schema["additionalProperties"].is_object() => {
                let key = (*self.pick(&KEYS)).to_owned();
                fields.insert(key, self.fresh(&schema["additionalProperties"], 2));
            }
            _ => {
                let name = if self.rng.bool() { "unknown" } else { *self.pick(&NAMES) };
                let value = self.anything();
                fields.insert(name.to_owned(), value);
            }
        }
        fields.into()
    }
}

/// The schema of a field of the value that this schema is about; null if there is none.
fn of_field(schema: &Value, name: &str) -> Value {
    schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]).clone()
}
