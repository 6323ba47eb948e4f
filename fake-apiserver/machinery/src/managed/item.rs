//! The identity of list items (`listItemToPathElement` of `typed/helpers.go`), and the equality of values.

use super::element::Element;
use super::types::{Form, Items, List};
use tree::{Text, Value};

/// The element by which an item of a list that is a map or a set is selected.
///
/// # Errors
/// If the item has no key.
pub(super) fn element(list: &List<'_>, item: &Value) -> Result<Element, String> {
    match list.items {
        Items::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        Items::Set => match item {
            Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
            scalar => Ok(Element::Value(scalar.clone())),
        },
        Items::ByKeys(keys) => {
            let fields = match item {
                Value::Object(fields) => fields,
                Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
                _ => return Err("associative list with keys may not have non-map elements".to_owned()),
            };
            let default = |name: &str| match list.element.form(Some(item)) {
                Form::Map(map) => map.default(name),
                _ => None,
            };
            let key = |name: &'_ str| {
                // Null is a value, too.
                Some((Text::from(name), fields.get(name).cloned().or_else(|| default(name))?))
            };
            let mut found: Vec<(Text, Value)> = keys.iter().filter_map(key).collect();
            if found.is_empty() {
                let names: Vec<String> = keys.iter().map(crate::schema::quote).collect();
                return Err(format!(
                    "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                     values for any key fields)",
                    names.join(" ")
                ));
            }
            found.sort_by(|one, other| one.0.cmp(&other.0));
            Ok(Element::Key(found))
        }
    }
}

/// Whether two values are equal: numbers by their value.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| equal(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let same = |(name, one): (&Text, &Value)| others.get(name).is_some_and(|other| equal(one, other));
            ones.len() == others.len() && ones.iter().all(same)
        }
        _ => one == other,
    }
}
