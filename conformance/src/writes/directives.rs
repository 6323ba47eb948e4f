//! Strategic merge patches, with all their directives.

use super::bodies::{Bodies, FIELD};
use super::forms::{Field, Form, List};
use serde_json::{Map, Value, json};

/// Percentages.
const NULL: u32 = 10;
const PATCH: u32 = 4;
const RETAINED: u32 = 6;
const ITEM_DELETED: u32 = 15;
const LIST_REPLACED: u32 = 8;
const ORDERED: u32 = 25;
const DELETED: u32 = 25;

impl<'f> Bodies<'f> {
    /// A strategic merge patch for documents of that form.
    pub(super) fn strategic_patch(&mut self, form: &'f Value) -> Value {
        let Form::Object(fields) = self.forms.form(form) else { return self.document(form) };
        let mut object = Map::new();
        for field in &fields {
            if self.chance(FIELD) {
                self.put_strategic(&mut object, *field);
            }
        }
        if self.chance(PATCH) {
            let directive = *self.pick(&["replace", "delete", "merge", "merge", "other"]);
            object.insert("$patch".to_owned(), directive.into());
        }
        if self.chance(RETAINED) {
            let mut kept: Vec<&str> = object.keys().map(String::as_str).filter(|name| !name.starts_with('$')).collect();
            let more = fields.iter().map(|field| field.name).filter(|name| !name.is_empty() && self.rng.bool());
            kept.extend(more.collect::<Vec<_>>());
            object.insert("$retainKeys".to_owned(), json!(kept));
        }
        object.into()
    }

    fn put_strategic(&mut self, object: &mut Map<String, Value>, field: Field<'f>) {
        if field.name.is_empty() {
            if let Value::Object(fields) = self.document(field.form) {
                object.extend(fields);
            }
            return;
        }
        let name = field.name.to_owned();
        if self.chance(NULL) {
            object.insert(name, Value::Null);
            return;
        }
        let Form::List(list) = self.forms.form(field.form) else {
            object.insert(name, self.strategic_patch(field.form));
            return;
        };
        let mut items = self.strategic_items(list);
        if (list.by.is_some() || list.is_set) && self.chance(ORDERED) {
            object.insert(format!("$setElementOrder/{name}"), self.order(list, &items).into());
        }
        if list.is_set && self.chance(DELETED) {
            // Of an item that is sent, too, upstream decides by the order of a Go map.
            let deleted = self.items(list).into_iter().filter(|item| !items.contains(item));
            let deleted: Vec<&Value> = deleted.collect();
            object.insert(format!("$deleteFromPrimitiveList/{name}"), json!(deleted));
        }
        if list.by.is_some() && self.chance(LIST_REPLACED) {
            items.push(json!({"$patch": "replace"}));
        }
        object.insert(name, items.into());
    }

    fn strategic_items(&mut self, list: List<'f>) -> Vec<Value> {
        let forms = self.items(list);
        let Some(key) = list.by else { return forms.into_iter().map(|form| self.document(form)).collect() };
        let mut items = Vec::new();
        for form in forms {
            let whole = self.document(form);
            let item = if self.chance(ITEM_DELETED) {
                json!({"$patch": "delete", key: whole[key]})
            } else if self.chance(50) {
                whole
            } else {
                let mut patch = self.strategic_patch(form);
                patch[key] = whole[key].clone();
                patch
            };
            items.push(item);
        }
        items
    }

    /// An order of the items sent and of some others.
    fn order(&mut self, list: List<'f>, items: &[Value]) -> Vec<Value> {
        let others = self.items(list);
        let others: Vec<Value> = others.into_iter().map(|form| self.document(form)).collect();
        let mut order: Vec<Value> = Vec::new();
        for item in items.iter().chain(&others) {
            let entry = list.by.map_or_else(|| item.clone(), |key| json!({key: item[key]}));
            if !order.contains(&entry) && !(item["$patch"] == "delete") {
                order.push(entry);
            }
        }
        self.rng.shuffle(&mut order);
        order
    }
}
