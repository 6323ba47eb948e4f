//! Bodies: documents of a form, merge patches, JSON patches, and mistakes.

use super::forms::{Field, Form, Forms, List};
use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Percentages.
pub(super) const FIELD: u32 = 45;
const ITEM: u32 = 60;
const SHUFFLED: u32 = 30;
const NULL: u32 = 12;
/// The greatest number of operations of a JSON patch.
const OPERATIONS: usize = 3;

/// Makes bodies of forms.
pub(super) struct Bodies<'f> {
    pub(super) forms: &'f Forms,
    pub(super) rng: Rng,
}

impl<'f> Bodies<'f> {
    /// Whether something happens that happens so often.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(..100) < percent
    }

    /// One of these, of which there must be some.
    pub(super) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.rng.usize(..all.len())]
    }

    /// One of the forms of a choice; a list stands for itself.
    fn chosen(&mut self, choice: &'f [Value]) -> Value {
        match self.pick(choice) {
            list @ Value::Array(_) => list.clone(),
            form => self.document(form),
        }
    }

    /// A document of that form.
    pub(super) fn document(&mut self, form: &'f Value) -> Value {
        match self.forms.form(form) {
            Form::Choice(choice) => self.chosen(choice),
            Form::List(list) => {
                let items = self.items(list);
                items.into_iter().map(|item| self.document(item)).collect()
            }
            Form::Object(fields) => {
                let mut object = Map::new();
                for field in fields {
                    if field.required || self.chance(FIELD) {
                        self.put(&mut object, field);
                    }
                }
                object.into()
            }
            Form::Plain(value) => value.clone(),
        }
    }

    fn put(&mut self, object: &mut Map<String, Value>, field: Field<'f>) {
        match self.document(field.form) {
            Value::Object(fields) if field.name.is_empty() => object.extend(fields),
            value => drop(object.insert(field.name.to_owned(), value)),
        }
    }

    /// Some items of a list.
    pub(super) fn items(&mut self, list: List<'f>) -> Vec<&'f Value> {
        let mut items: Vec<&Value> =
            list.items.iter().filter(|item| item.get("$always").is_some() || self.rng.u32(..100) < ITEM).collect();
        if items.len() < list.least {
            items.push(self.pick(list.items));
        }
        if self.chance(SHUFFLED) {
            self.rng.shuffle(&mut items);
        }
        items
    }

    /// A merge patch for documents of that form.
    pub(super) fn merge_patch(&mut self, form: &'f Value) -> Value {
        let Form::Object(fields) = self.forms.form(form) else { return self.document(form) };
        let mut object = Map::new();
        for field in fields {
            if field.name.is_empty() {
                self.put(&mut object, field);
            } else if self.chance(FIELD) {
                let value = if self.chance(NULL) { Value::Null } else { self.merge_patch(field.form) };
                object.insert(field.name.to_owned(), value);
            }
        }
        object.into()
    }

    /// A JSON patch of documents like this one.
    pub(super) fn json_patch(&mut self, like: &Value) -> Value {
        let mut places = Vec::new();
        collect(like, String::new(), &mut places);
        places.retain(|(pointer, _)| !pointer.is_empty());
        if places.is_empty() {
            return json!([]);
        }
        let count = 1 + self.rng.usize(..OPERATIONS);
        (0..count).map(|_| self.json_operation(&places)).collect()
    }

    fn json_operation(&mut self, places: &[(String, Value)]) -> Value {
        let (pointer, value) = self.pick(places).clone();
        // Upstream decodes an object that is moved in the order in which it was sent.
        let plain: Vec<&(String, Value)> = places.iter().filter(|(_, value)| !value.is_object()).collect();
        let from = plain.get(self.rng.usize(..plain.len().max(1))).map_or(pointer.clone(), |(from, _)| from.clone());
        let at_end = match pointer.rsplit_once('/') {
            Some((list, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) && self.chance(40) => {
                format!("{list}/-")
            }
            _ => pointer.clone(),
        };
        match self.rng.u32(..100) {
            0..50 => json!({"op": "add", "path": at_end, "value": value}),
            50..70 => json!({"op": "replace", "path": pointer, "value": value}),
            70..88 => json!({"op": "remove", "path": pointer}),
            88..92 => json!({"op": "test", "path": pointer, "value": value}),
            92..96 => json!({"op": "copy", "from": from, "path": at_end}),
            _ => json!({"op": "move", "from": from, "path": at_end}),
        }
    }

    /// Makes a mistake somewhere in a document.
    pub(super) fn damage(&mut self, document: &mut Value) {
        let mut places = Vec::new();
        collect(document, String::new(), &mut places);
        let (pointer, _) = self.pick(&places).clone();
        let wrong = self.rng.u32(..8);
        let Some(value) = document.pointer_mut(&pointer) else { return };
        match (wrong, value) {
            (0 | 1, Value::Array(items)) if !items.is_empty() => items.push(items[0].clone()),
            (0, Value::Object(fields)) => drop(fields.insert("unknown".to_owned(), "x".into())),
            // A step whose whole body is null has none.
            (1, value) if !pointer.is_empty() => *value = Value::Null,
            (2, value) => *value = json!([]),
            (3, value) => *value = json!({}),
            (4, value) => *value = "wrong".into(),
            (5, value) => *value = 7.into(),
            (6, value) => *value = json!([value.clone(), value.clone()]),
            (_, value) => *value = true.into(),
        }
    }
}

/// All values in a value, with their JSON pointers.
fn collect(value: &Value, pointer: String, all: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect(value, format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, format!("{pointer}/{index}"), all);
            }
        }
        _ => {}
    }
    all.push((pointer, value.clone()));
}
