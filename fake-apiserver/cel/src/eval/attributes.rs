//! Variables, and the way from them to their parts.
//!
//! Port of `interpreter/attributes.go` of cel-go v0.29.2.

use super::Run;
use crate::ast::Id;
use crate::cost::actual;
use crate::library::Opaque;
use crate::plan::{Attr, Base, Qualifier, QualifierKind, usable};
use crate::value::{EvalError, List, Outcome, Value, fail, no_such_overload, position};

impl<'a> Run<'a> {
    pub(super) fn eval_attr(&mut self, attr: &'a Attr) -> Outcome {
        let result = self.resolve(attr);
        self.noted(attr, attr.id(), actual::SELECT, result)
    }

    pub(super) fn eval_has(&mut self, id: Id, attr: &'a Attr) -> Outcome {
        let result = self.resolve(attr).map(|value| match value {
            Value::Optional(value) => Value::Bool(value.is_some()),
            value => value,
        });
        self.noted(attr, id, 0, result)
    }

    fn noted(&mut self, attr: &'a Attr, id: Id, cost: u64, result: Outcome) -> Outcome {
        if result.as_ref().is_err_and(EvalError::ends_evaluation) {
            return result;
        }
        let cost = match &attr.base {
            Base::Condition { condition, yes, no, .. } => {
                for part in [no.id(), yes.id(), condition.id()] {
                    self.forget(part);
                }
                0
            }
            _ => {
                let part = attr.id();
                self.forget(part);
                cost
            }
        };
        self.finish(id, cost, result)
    }

    /// The value of an attribute, which does not count as a step.
    fn resolve(&mut self, attr: &'a Attr) -> Outcome {
        let value = match &attr.base {
            Base::Name { name, outer, .. } => self.lookup(name, *outer, attr.qualifiers.is_empty())?,
            Base::Step { step, .. } => self.eval(step)?,
            Base::Condition { condition, yes, no, .. } => {
                return match self.eval(condition)? {
                    Value::Bool(true) => self.resolve(yes),
                    Value::Bool(false) => self.resolve(no),
                    _ => no_such_overload(),
                };
            }
        };
        self.qualify_all(value, &attr.qualifiers)
    }

    fn lookup(&mut self, name: &str, outer: bool, bare: bool) -> Outcome {
        let found = if outer { None } else { self.lookup_local(name) };
        if let Some(found) = found {
            return found?.looked_at();
        }
        match (self.bindings.0.get(name), Self::type_named(name)) {
            (Some(value), _) => value.clone().looked_at(),
            (None, Some(t)) if bare => Ok(Value::Type(t)),
            _ => fail(format!("no such attribute(s): {name}")),
        }
    }

    fn qualify_all(&mut self, value: Value, qualifiers: &'a [Qualifier]) -> Outcome {
        if qualifiers.is_empty() {
            return match value {
                Value::Optional(Some(inner)) => Ok(Value::Optional(Some(inner))),
                value => Ok(value),
            };
        }
        let (mut value, mut optional) = match value {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => ((*inner).clone(), true),
            value => (value, false),
        };
        for qualifier in qualifiers {
            optional |= qualifier.optional;
            match self.qualify(&value, qualifier, optional)? {
                Some(part) => value = part,
                None => return Ok(Value::Optional(None)),
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }

    /// The part of a value. Without it there is an error, or nothing if that is allowed.
    fn qualify(&mut self, value: &Value, qualifier: &'a Qualifier, optional: bool) -> Outcome<Option<Value>> {
        let found = match &*qualifier.kind {
            QualifierKind::Const(key) => part(value, key, optional),
            QualifierKind::Presence(key) if optional => part(value, key, true),
            QualifierKind::Presence(key) => part(value, key, true).map(|part| Some(Value::Bool(part.is_some()))),
            QualifierKind::Attr(index) => match self.resolve_key(index) {
                Ok(key) => part(value, &key, optional),
                Err(error) => Err(error),
            },
        };
        match &found {
            Err(error) if error.ends_evaluation() => return found,
            Ok(None) => {}
            Err(_) if optional => {}
            _ => self.note(qualifier.id, actual::SELECT)?,
        }
        found
    }

    /// Keeps the borrow of the index as long as the plan's.
    fn resolve_key(&mut self, index: &'a Attr) -> Outcome {
        let key = self.resolve(index)?;
        usable(&key)?;
        Ok(key)
    }
}

fn part(value: &Value, key: &Value, may_miss: bool) -> Outcome<Option<Value>> {
    let missing = |what: &str| match may_miss {
        true => Ok(None),
        false => fail(format!("{what}: {key}")),
    };
    match value {
        Value::Map(map) => match map.find(key)? {
            Some(found) => Ok(Some(found)),
            None => missing("no such key"),
        },
        Value::List(list) => match is_within(list, key)? {
            true => list.get(key).map(Some),
            false => missing("index out of bounds"),
        },
        Value::Opaque(Opaque::Patch(patch)) => match patch.field(key) {
            Some(found) => Ok(Some(found)),
            None => missing("no such key"),
        },
        _ => missing("no such key"),
    }
}

fn is_within(list: &List, key: &Value) -> Outcome<bool> {
    let index = position(key)?;
    Ok(usize::try_from(index).is_ok_and(|index| index < list.len()))
}
