//! Lists that are merged: their items by key, and their order. The items of a patch stand in the order of the patch, others in that of
//! the list before, and each of those stands before the first one of the patch that stood behind it.
//!
//! A port of `normalizeElementOrder` and its like of `pkg/util/strategicpatch/patch.go` (k8s.io/apimachinery v0.37.1), in linear time.

use super::refusal::{Refusal, no_key, not_a_map};
use super::stable_sort::sort_stable;
use std::collections::{HashMap, HashSet};
use tree::Value;

/// The text of a scalar that stands for an item: the item itself, or the value of its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key(String);

/// The first places of keys in a list.
pub(super) type Places = HashMap<Key, usize>;

impl Key {
    /// The key of an item: its field of that name, or itself. `None` if it is not a scalar, and so the key of no other item.
    ///
    /// # Errors
    /// If it is not an object, or lacks the field.
    pub(super) fn of(item: &Value, name: Option<&str>) -> Result<Option<Key>, Refusal> {
        let value = match (name, item) {
            (None, item) => item,
            (Some(name), Value::Object(fields)) => match fields.get(name) {
                Some(value) => value,
                None => return no_key(item, name),
            },
            (Some(_), item) => return not_a_map(item),
        };
        Ok((!value.is_object() && !value.is_array()).then(|| Key(value.to_string())))
    }
}

/// The first place of each key. Items without one have none.
pub(super) fn first_places(items: &[Value], name: Option<&str>) -> Places {
    let mut places = Places::new();
    for (place, item) in items.iter().enumerate() {
        if let Ok(Some(key)) = Key::of(item, name) {
            places.entry(key).or_insert(place);
        }
    }
    places
}

/// The scalars of both lists, each once.
pub(super) fn union(original: Vec<Value>, patch: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    let mut is_new = |item: &Value| Key::of(item, None).is_ok_and(|key| key.is_none_or(|key| seen.insert(key)));
    original.into_iter().chain(patch.iter().cloned()).filter(|item| is_new(item)).collect()
}

/// The scalars of a list without those of another.
pub(super) fn delete_scalars(mut original: Vec<Value>, deleted: &[Value]) -> Vec<Value> {
    let deleted = first_places(deleted, None);
    original.retain(|item| !matches!(Key::of(item, None), Ok(Some(key)) if deleted.contains_key(&key)));
    original
}

/// Brings items into order: those that `order` has as there, others as `before`.
///
/// # Errors
/// If an item has no key.
pub(super) fn arrange(
    items: Vec<Value>,
    order: &Places,
    before: &Places,
    name: Option<&str>,
) -> Result<Vec<Value>, Refusal> {
    let (mut ordered, mut others) = (Vec::new(), Vec::new());
    for item in items {
        let key = Key::of(&item, name)?;
        let place = |places: &Places| key.as_ref().and_then(|key| places.get(key).copied());
        match (place(order), place(before)) {
            (Some(place), was) => ordered.push((place, was, item)),
            (None, was) => others.push((was, item)),
        }
    }
    ordered.sort_by_key(|(place, _, _)| *place);
    match others.iter().all(|(was, _)| was.is_some()) {
        true => others.sort_by_key(|(was, _)| *was),
        // To Go an item that has no place is less than all.
        false => {
            sort_stable(&mut others, |(one, _), (other, _)| one.zip(*other).is_none_or(|(one, other)| one < other))
        }
    }
    let mut arranged = Vec::with_capacity(ordered.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, was, item) in ordered {
        while let Some((other, _)) = others.peek()
            && matches!((other, was), (Some(other), Some(was)) if *other < was)
        {
            arranged.extend(others.next().map(|(_, item)| item));
        }
        arranged.push(item);
    }
    arranged.extend(others.map(|(_, item)| item));
    Ok(arranged)
}
