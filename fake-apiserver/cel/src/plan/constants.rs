//! Lists and maps that are constant.

use super::Step;
use crate::ast::Id;
use crate::value::{Key, List, Map, Outcome, Value, fail, number};
use std::collections::HashSet;

/// The values that are in a list, if they can be told apart quickly; numbers in all their types.
pub(super) fn set_of(list: &List) -> Option<HashSet<Key>> {
    let mut set = HashSet::new();
    for item in list.items() {
        match item {
            Value::Bool(_) | Value::String(_) => {}
            Value::Int(i) => {
                set.insert(Key::of(&Value::Double(*i as f64)));
                set.extend(u64::try_from(*i).ok().map(Key::Uint));
            }
            Value::Uint(u) => {
                set.insert(Key::of(&Value::Double(*u as f64)));
                set.extend(i64::try_from(*u).ok().map(Key::Int));
            }
            Value::Double(d) => {
                set.extend(number::whole(*d).map(Key::Int));
                set.extend(number::whole_unsigned(*d).map(Key::Uint));
            }
            _ => return None,
        }
        set.insert(Key::of(item));
    }
    Some(set)
}

pub(super) fn constant_list(id: Id, elements: Vec<(Step, bool)>) -> Outcome<Step> {
    if !elements.iter().all(|(step, _)| step.constant().is_some()) {
        return Ok(Step::List { id, elements });
    }
    let mut values = Vec::with_capacity(elements.len());
    for (step, optional) in &elements {
        if let Some(value) = step.constant() {
            push_element(&mut values, value.clone(), *optional)?;
        }
    }
    Ok(Step::Const { id, value: Value::from(values) })
}

pub(super) fn constant_map(id: Id, entries: Vec<(Step, Step, bool)>) -> Outcome<Step> {
    if !entries.iter().all(|(key, value, _)| key.constant().is_some() && value.constant().is_some()) {
        return Ok(Step::Map { id, entries });
    }
    let pairs = entries.iter().filter_map(|(key, value, _)| Some((key.constant()?.clone(), value.constant()?.clone())));
    Ok(Step::Const { id, value: Value::Map(Map::new(pairs)) })
}

/// Adds an element to a list; one that is optional only if it has a value.
pub(crate) fn push_element(values: &mut Vec<Value>, value: Value, optional: bool) -> Outcome<()> {
    match value {
        Value::Optional(Some(value)) if optional => values.push((*value).clone()),
        Value::Optional(None) if optional => {}
        other if optional => {
            return fail(format!("cannot initialize optional list element from non-optional value {other}"));
        }
        value => values.push(value),
    }
    Ok(())
}
