//! Merging an applied configuration into an object, and removing fields from one (`typed/merge.go` and `remove.go` of
//! `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2). Trees are complete.

use super::element::Element;
use super::item;
use super::set::Set;
use super::types::{Form, Items, List, Map, NO_FORM, Type};
use super::validate::mismatch;
use crate::deadline::{Deadline, Steps};
use std::collections::{BTreeMap, BTreeSet};
use tree::{Map as Object, Text, Value};

/// Merges `applied` into `live`: fields that `applied` has get its values, all others stay.
///
/// # Errors
/// If an item of a list has no key, or occurs twice in `applied`, or the deadline has passed.
pub fn merge(ty: Type<'_>, live: &Value, applied: &Value, deadline: &Deadline) -> Result<Value, String> {
    Ok(merged(ty, Some(live), Some(applied), &Steps::until(deadline))?.unwrap_or(Value::Null))
}

fn merged(ty: Type<'_>, live: Option<&Value>, applied: Option<&Value>, steps: &Steps) -> Result<Option<Value>, String> {
    steps.step().map_err(|passed| passed.to_string())?;
    // If the two values have different forms, the form of the applied one decides.
    let form = match (live, applied) {
        (_, Some(_)) => ty.form(applied),
        _ => ty.form(live),
    };
    let leaf = || Ok(applied.or(live).cloned());
    match form {
        Form::Map(map) if !map.atomic => {
            let (old, new) = (live.and_then(Value::as_object), applied.and_then(Value::as_object));
            match old.is_none_or(Object::is_empty) && new.is_none_or(Object::is_empty) {
                true => leaf(),
                false => fields(&map, old, new, steps),
            }
        }
        Form::List(list) if !matches!(list.items, Items::Atomic) => {
            let (old, new) = (live.and_then(Value::as_array), applied.and_then(Value::as_array));
            match old.is_none_or(Vec::is_empty) && new.is_none_or(Vec::is_empty) {
                true => leaf(),
                false => items(&list, old, new, steps),
            }
        }
        Form::Scalar(scalar) => {
            let wrong = |side, value: Option<&Value>| {
                value.and_then(|value| mismatch(scalar, value)).map(|why| format!("{side}: {why}"))
            };
            match (wrong("lhs", live), wrong("rhs", applied)) {
                (Some(one), Some(other)) => Err(format!("errors:\n  {one}\n  {other}")),
                _ => leaf(),
            }
        }
        Form::Map(_) | Form::List(_) => leaf(),
        Form::Nothing => Err(NO_FORM.to_owned()),
    }
}

type Fields = Object;

fn fields(
    map: &Map<'_>,
    live: Option<&Fields>,
    applied: Option<&Fields>,
    steps: &Steps,
) -> Result<Option<Value>, String> {
    let mut result = Object::new();
    let names: BTreeSet<&Text> = [live, applied].into_iter().flatten().flat_map(|fields| fields.keys()).collect();
    for name in names {
        let ty = map.get(name).ok_or(NO_FORM)?;
        let [live, applied] = [live, applied].map(|fields| fields?.get(name));
        if let Some(value) = merged(ty, live, applied, steps)? {
            result.insert(name.as_str().into(), value);
        }
    }
    Ok((!result.is_empty()).then_some(Value::Object(result)))
}

/// Items are in the order of the applied list; the others stay between their former neighbours.
fn items(
    list: &List<'_>,
    live: Option<&Vec<Value>>,
    applied: Option<&Vec<Value>>,
    steps: &Steps,
) -> Result<Option<Value>, String> {
    let index = |items: Option<&'_ Vec<Value>>| -> Result<Vec<Element>, String> {
        let elements = items.into_iter().flatten().enumerate();
        elements
            .map(|(index, item)| item::element(list, item).map_err(|why| format!("element {index}: {why}")))
            .collect()
    };
    let (olds, news) = (index(live)?, index(applied)?);
    let mut applied_items: BTreeMap<&Element, &Value> = BTreeMap::new();
    for (element, item) in news.iter().zip(applied.into_iter().flatten()) {
        if applied_items.insert(element, item).is_some() {
            return Err(format!("duplicate entries for key {element}"));
        }
    }
    // Items that occur twice are not merged.
    let mut live_items: BTreeMap<&Element, &Value> = BTreeMap::new();
    for (element, item) in olds.iter().zip(live.into_iter().flatten()) {
        live_items.entry(element).and_modify(|item| *item = &Value::Null).or_insert(item);
    }
    let mut shared = news.iter().filter(|element| live_items.contains_key(*element));
    let mut next = shared.next();
    let mut done: BTreeSet<&Element> = BTreeSet::new();
    let mut result = Vec::with_capacity(olds.len().max(news.len()));
    let (mut at, mut to) = (0, 0);
    let mut put = |old: Option<&Value>, new: Option<&Value>| -> Result<(), String> {
        result.extend(merged(list.element, old, new, steps)?);
        Ok(())
    };
    while at < olds.len() || to < news.len() {
        if let (Some(old), Some(new)) = (olds.get(at), news.get(to)) {
            if old == new {
                done.insert(old);
                put(live_items.get(old).copied(), applied_items.get(old).copied())?;
                (at, to) = (at + 1, to + 1);
                next = shared.next();
                continue;
            }
            if applied_items.contains_key(old) && next.is_some_and(|next| next != old) {
                // It comes later.
                at += 1;
                continue;
            }
        }
        if let Some(old) = olds.get(at) {
            if !applied_items.contains_key(old) {
                put(live.and_then(|items| items.get(at)), None)?;
                at += 1;
                continue;
            } else if done.contains(old) {
                at += 1;
            }
        }
        if let Some(new) = news.get(to) {
            done.insert(new);
            put(live_items.get(new).copied(), applied_items.get(new).copied())?;
            to += 1;
            if next == Some(new) {
                next = shared.next();
            }
        }
    }
    Ok((!result.is_empty()).then_some(Value::Array(result)))
}

/// A value without the fields of a set. Nothing is removed from atomic values.
pub(super) fn without(ty: Type<'_>, value: &Value, fields: &Set) -> Value {
    let rest = |ty: Type<'_>, value: &Value, element: &Element| match fields.below(element) {
        Some(below) => without(ty, value, below),
        None => value.clone(),
    };
    match (ty.form(Some(value)), value) {
        (Form::Scalar(_), value) => value.clone(),
        (Form::Map(map), Value::Object(entries)) if !map.atomic => {
            let kept = entries.iter().filter_map(|(name, value)| {
                let element = Element::field(name);
                let ty = map.get(name).unwrap_or(Type::Deduced);
                (!fields.has_member(&element)).then(|| (name.clone(), rest(ty, value, &element)))
            });
            let kept: Fields = kept.collect();
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        (Form::List(list), Value::Array(entries)) if !matches!(list.items, Items::Atomic) => {
            let kept = entries.iter().filter_map(|item| match item::element(&list, item) {
                Ok(element) => (!fields.has_member(&element)).then(|| rest(list.element, item, &element)),
                Err(_) => Some(item.clone()),
            });
            let kept: Vec<Value> = kept.collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        _ => Value::Null,
    }
}
