//! Defaults as tables of places and values.

use super::default_to;
use std::sync::OnceLock;
use tree::{Map, Text as Name, Value};

/// A default value.
#[derive(Clone, Copy)]
pub(super) enum Fill {
    Text(&'static str),
    /// A text that may be set and empty (a pointer in Go).
    OptionalText(&'static str),
    Number(i64),
    /// A number for which 0 counts as unset.
    Nonzero(i64),
    Bool(bool),
    Object,
}
use Fill::{Bool, Nonzero, Number, Object, OptionalText, Text};

/// A place below some base (`*` stands for every item or value, `|` for either), and fields there with their values when unset.
pub(super) type Default = (&'static str, &'static [(&'static str, Fill)]);

/// Sets the fields of a table that are unset, where their places are there.
pub(super) fn fill(base: &mut Value, defaults: &[Default]) {
    for (place, fields) in defaults {
        visit(base, place, &mut |at| {
            for (field, value) in *fields {
                match *value {
                    Text(text) => default_to(at, field, text),
                    OptionalText(_) if at.get(field).is_some_and(Value::is_string) => {}
                    OptionalText(text) => default_to(at, field, text),
                    Number(number) => default_to(at, field, number),
                    Bool(flag) => default_to(at, field, flag),
                    Object => default_to(at, field, Map::new()),
                    Nonzero(number) => fill_unless_zero(at, field, number.into()),
                }
            }
        });
    }
}

impl Fill {
    fn value(self) -> Value {
        match self {
            Text(text) | OptionalText(text) => Value::String(Name::new_static(text)),
            Number(number) | Nonzero(number) => number.into(),
            Bool(flag) => flag.into(),
            Object => Map::new().into(),
        }
    }

    /// Whether a value counts as unset.
    fn is_unset(self, value: &Value) -> bool {
        match (self, value) {
            (Nonzero(_), value) => value.as_i64() == Some(0),
            (_, Value::Null) => true,
            (OptionalText(_), _) => false,
            (_, Value::String(text)) => text.is_empty(),
            (..) => false,
        }
    }
}

/// The same as [`fill`] for the tables of large objects: they are gone through once, whatever the number of places, and nothing is looked up.
pub(super) struct Plan {
    table: &'static [Default],
    root: OnceLock<Node>,
}

/// The steps at a place.
#[derive(Default)]
struct Node {
    /// The fields there, in the order of their names; at most 64.
    fields: Vec<Field>,
    /// Of every item or value there.
    each: Option<Box<Node>>,
}

struct Field {
    name: Name,
    /// The value, when it is unset.
    fill: Option<Fill>,
    below: Node,
}

impl Plan {
    /// The plan of a table. Places of fields that it sets come behind those.
    pub(super) const fn of(table: &'static [Default]) -> Plan {
        Plan { table, root: OnceLock::new() }
    }

    /// Sets the fields of the table that are unset, where their places are there.
    pub(super) fn fill(&self, base: &mut Value) {
        let compiled = || {
            let mut root = Node::default();
            self.table.iter().for_each(|(place, fields)| root.add(place, fields));
            root
        };
        self.root.get_or_init(compiled).fill(base);
    }
}

impl Node {
    fn add(&mut self, place: &'static str, fields: &[(&'static str, Fill)]) {
        let (first, rest) = place.split_once('/').unwrap_or((place, ""));
        match first {
            "" => fields.iter().for_each(|(name, fill)| self.field(name).fill = Some(*fill)),
            "*" => self.each.get_or_insert_default().add(rest, fields),
            _ => first.split('|').for_each(|name| self.field(name).below.add(rest, fields)),
        }
    }

    fn field(&mut self, name: &'static str) -> &mut Field {
        let at = self.fields.binary_search_by(|field| field.name.as_str().cmp(name)).unwrap_or_else(|at| {
            self.fields.insert(at, Field { name: Name::new_static(name), fill: None, below: Node::default() });
            assert!(self.fields.len() <= 64, "more fields than bits");
            at
        });
        &mut self.fields[at]
    }

    fn fill(&self, at: &mut Value) {
        if at.is_null() && self.fields.iter().any(|field| field.fill.is_some()) {
            *at = Map::new().into();
        }
        match (at, &self.each) {
            (Value::Array(items), Some(each)) => items.iter_mut().for_each(|item| each.fill(item)),
            (Value::Object(members), each) => {
                if let Some(each) = each {
                    members.values_mut().for_each(|value| each.fill(value));
                }
                self.fill_members(members);
            }
            _ => {}
        }
    }

    /// Both are in the order of the names.
    fn fill_members(&self, members: &mut Map) {
        let (mut next, mut found) = (0, 0_u64);
        for (name, value) in members.iter_mut() {
            while self.fields.get(next).is_some_and(|field| field.name < *name) {
                next += 1;
            }
            let Some(field) = self.fields.get(next) else { break };
            if field.name == *name {
                found |= 1 << next;
                if let Some(fill) = field.fill.filter(|fill| fill.is_unset(value)) {
                    *value = fill.value();
                }
                field.below.fill(value);
            }
        }
        for (number, field) in self.fields.iter().enumerate() {
            if let Some(fill) = field.fill.filter(|_| found & (1 << number) == 0) {
                members.insert(field.name.clone(), fill.value());
            }
        }
    }
}

/// Sets a field to a number where it is unset or 0.
pub(super) fn fill_unless_zero(at: &mut Value, field: &str, number: Value) {
    if at.is_null() {
        *at = Value::Object(Map::new());
    }
    if at.get(field).is_none_or(|value| value.as_i64() == Some(0))
        && let Some(fields) = at.as_object_mut()
    {
        fields.insert(field.into(), number);
    }
}

/// Calls `change` on everything at a place that is there.
pub(super) fn visit(base: &mut Value, place: &str, change: &mut dyn FnMut(&mut Value)) {
    let (first, rest) = place.split_once('/').unwrap_or((place, ""));
    match first {
        "" => change(base),
        "*" => match base {
            Value::Array(items) => items.iter_mut().for_each(|item| visit(item, rest, change)),
            Value::Object(entries) => entries.values_mut().for_each(|value| visit(value, rest, change)),
            _ => {}
        },
        _ => {
            for field in first.split('|') {
                if let Some(value) = base.get_mut(field) {
                    visit(value, rest, change);
                }
            }
        }
    }
}

/// Fields of disabled features: a place below some base, as that of a default, and the fields there.
pub(super) type Disabled = (&'static str, &'static [&'static str]);

/// Drops the fields of disabled features. As none is ever enabled, none has been in use before.
pub(super) fn drop_disabled(base: &mut Value, disabled: &[Disabled]) {
    for (place, fields) in disabled {
        visit(base, place, &mut |at| {
            if let Some(members) = at.as_object_mut() {
                fields.iter().for_each(|field| drop(members.remove(*field)));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    const TABLE: &[Default] = &[
        ("", &[("text", Text("a")), ("optional", OptionalText("b")), ("object", Object)]),
        ("one|other", &[("number", Number(1)), ("nonzero", Nonzero(2))]),
        ("items/*/inner", &[("flag", Bool(true))]),
        ("items/*", &[("name", Text("x"))]),
    ];

    #[test]
    fn a_plan_does_what_its_table_says() {
        static PLAN: Plan = Plan::of(TABLE);
        for object in [
            json!(null),
            json!({}),
            json!([1]),
            json!("text"),
            json!({"text": "", "optional": "", "object": null}),
            json!({"text": null, "optional": null, "object": 1, "zero": 0}),
            json!({"one": {}, "other": null}),
            json!({"one": {"number": 0, "nonzero": 0}, "other": {"number": null, "nonzero": null}}),
            json!({"items": [{}, null, 7, {"inner": null, "name": "y"}, {"inner": {"flag": false}}]}),
            json!({"items": {"a": {"inner": {}}, "b": {}}, "zzz": []}),
        ] {
            let (mut planned, mut filled) = (object.clone(), object);
            PLAN.fill(&mut planned);
            fill(&mut filled, TABLE);
            assert_eq!(planned, filled);
        }
    }
}
