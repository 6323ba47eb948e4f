//! Defaults as tables of places and values.

use super::default_to;
use tree::{Map, Value};

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
