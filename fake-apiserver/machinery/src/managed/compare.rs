//! The comparison of two objects: the added, modified and removed fields (`typed/compare.go` of
//! `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use super::element::Element;
use super::item;
use super::set::Set;
use super::types::{Form, Items, List, Map, NO_FORM, Type};
use crate::deadline::{Deadline, Steps};
use crate::schema::{Field, TypeRef};
use std::cmp::Ordering;
use tree::counting::{Work, count};
use tree::{Map as Object, Text, Value};

/// The changed fields. A field is in at most one of the sets.
#[derive(Debug, Default, PartialEq)]
pub struct Changes {
    pub added: Set,
    pub modified: Set,
    pub removed: Set,
}

/// The form of the trees that are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trees {
    /// Objects of Go types: zero values may be absent, even those that Go writes.
    Canonical,
    /// Every field is present as it is.
    Complete,
}

/// Compares two objects.
///
/// # Errors
/// If an item of a list has no key, or the deadline has passed.
pub fn compare(ty: Type<'_>, old: &Value, new: &Value, trees: Trees, deadline: &Deadline) -> Result<Changes, String> {
    count(Work::Walk, 1);
    Ok(Walk::new(trees, deadline).compare(ty, old, new)?.1)
}

impl Changes {
    /// Whether the objects are equal.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    /// Adds the changes of a child that is in both objects. Most children have none, so that its element is made only for those that have.
    fn push(&mut self, element: impl Fn() -> Element, (modified, below): (bool, Changes)) {
        for (set, is_member, below) in [
            (&mut self.added, false, below.added),
            (&mut self.modified, modified, below.modified),
            (&mut self.removed, false, below.removed),
        ] {
            if is_member || !below.is_empty() {
                set.push(element(), is_member, below);
            }
        }
    }
}

/// Whether a value was modified as a whole, and the changes below it.
pub(super) type Found = Result<(bool, Changes), String>;

/// A walk over two objects.
pub(super) struct Walk {
    trees: Trees,
    steps: Steps,
}

impl Walk {
    pub(super) fn new(trees: Trees, deadline: &Deadline) -> Walk {
        Walk { trees, steps: Steps::until(deadline) }
    }

    /// Compares two present values.
    pub(super) fn compare(&self, ty: Type<'_>, old: &Value, new: &Value) -> Found {
        self.step()?;
        let mut changes = Changes::default();
        let (before, after) = (ty.form(Some(old)), ty.form(Some(new)));
        let mut modified = false;
        if std::mem::discriminant(&before) != std::mem::discriminant(&after) {
            modified = self.inside(ty, before, old, new, &mut changes)?;
        }
        modified |= self.inside(ty, after, old, new, &mut changes)?;
        Ok((modified, changes))
    }

    pub(super) fn step(&self) -> Result<(), String> {
        self.steps.step().map_err(|passed| passed.to_string())
    }

    /// Compares a child that either object has, or both; false if neither has it.
    fn child(
        &self,
        element: impl Fn() -> Element,
        ty: Type<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
        changes: &mut Changes,
    ) -> Result<bool, String> {
        match (old, new) {
            (None, None) => return Ok(false),
            (Some(old), None) => changes.removed.push(element(), true, self.all(ty, old)?),
            (None, Some(new)) => changes.added.push(element(), true, self.all(ty, new)?),
            (Some(old), Some(new)) => changes.push(element, self.compare(ty, old, new)?),
        }
        Ok(true)
    }

    /// Compares the content; true if the values are compared as a whole, and differ.
    fn inside(
        &self,
        ty: Type<'_>,
        form: Form<'_>,
        old: &Value,
        new: &Value,
        changes: &mut Changes,
    ) -> Result<bool, String> {
        let descended = match form {
            // Objects without fields are equal: a field that Go leaves out counts as none.
            Form::Map(map) if !map.atomic => {
                self.fields(&map, object(old), object(new), changes)? || old.is_object() && new.is_object()
            }
            Form::List(list) if !matches!(list.items, Items::Atomic) => {
                self.items(&list, array(old), array(new), changes)?
            }
            Form::Nothing => return Err(NO_FORM.to_owned()),
            Form::Map(_) | Form::List(_) | Form::Scalar(_) => false,
        };
        Ok(!descended && !self.equal(ty, old, new))
    }

    /// Compares the fields of objects; false if there are none.
    fn fields(
        &self,
        map: &Map<'_>,
        old: Option<&Object>,
        new: Option<&Object>,
        changes: &mut Changes,
    ) -> Result<bool, String> {
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => (old, new),
            (None, None) => return Ok(false),
            (Some(only), None) | (None, Some(only)) => {
                let all = self.all_fields(map, only)?;
                let descended = !all.is_empty();
                let set = if old.is_some() { &mut changes.removed } else { &mut changes.added };
                *set = std::mem::take(set).union(all);
                return Ok(descended);
            }
        };
        let mut descended = false;
        for (name, before, after) in joined(old, new) {
            let (ty, before, after) = match self.as_struct(map) {
                // Fields that neither has are equal.
                Some(ty) => {
                    let Some(field) = ty.field(name) else { continue };
                    (Type::Go(ty.of(field), Some(field.facets())), ty.shown(field, before), ty.shown(field, after))
                }
                None => (map.get(name).ok_or(NO_FORM)?, before, after),
            };
            descended |= self.child(|| Element::field(name), ty, before, after, changes)?;
        }
        Ok(descended)
    }

    /// The struct whose fields Go shows or leaves out by their values.
    pub(super) fn as_struct<'t>(&self, map: &Map<'t>) -> Option<TypeRef<'t>> {
        map.as_struct().filter(|ty| self.trees == Trees::Canonical && !ty.fields().is_empty())
    }

    /// All fields below a value.
    fn all(&self, ty: Type<'_>, value: &Value) -> Result<Set, String> {
        self.step()?;
        match (ty.form(Some(value)), value) {
            (Form::Map(map), Value::Object(fields)) if !map.atomic => self.all_fields(&map, fields),
            (Form::List(list), Value::Array(items)) if !matches!(list.items, Items::Atomic) => {
                self.all_items(&list, items)
            }
            (Form::Nothing, _) => Err(NO_FORM.to_owned()),
            _ => Ok(Set::default()),
        }
    }

    fn all_fields(&self, map: &Map<'_>, fields: &Object) -> Result<Set, String> {
        let mut set = Set::default();
        let Some(ty) = self.as_struct(map) else {
            for (name, value) in fields {
                let ty = map.get(name).ok_or(NO_FORM)?;
                set.push(Element::Field(name.clone()), true, self.all(ty, value)?);
            }
            return Ok(set);
        };
        let below = |field: &Field, shown| self.all(Type::Go(ty.of(field), Some(field.facets())), shown);
        for (name, value) in fields {
            if let Some(field) = ty.field(name)
                && let Some(shown) = ty.shown(field, Some(value))
            {
                set.push(Element::Field(name.clone()), true, below(field, shown)?);
            }
        }
        for field in ty.fields() {
            if let Some(zero) = ty.shown(field, None)
                && !fields.contains_key(field.name())
            {
                set.push(Element::field(field.name()), true, below(field, zero)?);
            }
        }
        set.sort();
        Ok(set)
    }

    fn all_items(&self, list: &List<'_>, items: &[Value]) -> Result<Set, String> {
        let all = items.iter().map(|item| Ok((item::element(list, item)?, item)));
        let mut all = all.collect::<Result<Vec<_>, String>>()?;
        all.sort_by(|one, other| one.0.cmp(&other.0));
        let mut all = all.into_iter().peekable();
        let mut set = Set::default();
        while let Some((element, item)) = all.next() {
            // Items that occur several times are one value.
            let mut below = self.all(list.element, item)?;
            while all.next_if(|(other, _)| *other == element).is_some() {
                below = Set::default();
            }
            set.push(element, true, below);
        }
        Ok(set)
    }

    /// Compares the items of lists; false if there are none.
    fn items<'v>(
        &self,
        list: &List<'_>,
        old: Option<&'v Vec<Value>>,
        new: Option<&'v Vec<Value>>,
        changes: &mut Changes,
    ) -> Result<bool, String> {
        let mut all = Vec::new();
        for (is_new, items) in [(false, old), (true, new)] {
            for item in items.into_iter().flatten() {
                all.push((item::element(list, item)?, is_new, item));
            }
        }
        all.sort_by(|one, other| one.0.cmp(&other.0));
        for same in all.chunk_by(|one, other| one.0 == other.0) {
            let (befores, afters) = same.split_at(same.partition_point(|(_, is_new, _)| !is_new));
            let first = |items: &[(Element, bool, &'v Value)]| items.first().map(|(.., item)| *item);
            let element = || same[0].0.clone();
            let child = |old, new, changes: &mut Changes| self.child(element, list.element, old, new, changes);
            // Items that occur several times are one value.
            match (befores, afters) {
                ([] | [_], [] | [_]) => drop(child(first(befores), first(afters), changes)?),
                ([_, _, ..], [_, _, ..]) => {
                    let mut pairs = befores.iter().zip(afters);
                    let same = befores.len() == afters.len()
                        && pairs.all(|((.., one), (.., other))| self.equal(list.element, one, other));
                    changes.push(element, (!same, Changes::default()));
                }
                ([_, _, ..], rest) => {
                    child(None, first(rest), changes)?;
                    changes.removed.push(element(), true, Set::default());
                }
                (rest, _) => {
                    child(first(rest), None, changes)?;
                    changes.added.push(element(), true, Set::default());
                }
            }
        }
        Ok(!all.is_empty())
    }

    /// Whether values are equal, whatever their type's relationships.
    pub(super) fn equal(&self, ty: Type<'_>, old: &Value, new: &Value) -> bool {
        match self.trees {
            Trees::Canonical => equal(ty, old, new, Empty::AsShown),
            Trees::Complete => item::equal(old, new),
        }
    }
}

/// The values that an empty list or map equals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Empty {
    /// An empty or an absent one (`equality.Semantic`).
    OrNone,
    /// An absent one, too, where Go leaves it out; within lists only an empty one (`EqualsUsing` of structured-merge-diff).
    AsShown,
    /// Only an empty one (`reflect.DeepEqual`).
    Alone,
}

/// Whether two canonical trees are equal for Go. An empty list or map of a custom resource equals only another one.
pub fn equal(ty: Type<'_>, one: &Value, other: &Value, empty: Empty) -> bool {
    match ty {
        Type::Go(ty, _) => go_equal(ty, one, other, empty),
        _ => item::equal(one, other),
    }
}

fn go_equal(ty: TypeRef<'_>, one: &Value, other: &Value, empty: Empty) -> bool {
    let ty = ty.target();
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => match ty.element() {
            Some(element) => {
                let empty = if empty == Empty::AsShown { Empty::Alone } else { empty };
                let mut pairs = ones.iter().zip(others);
                ones.len() == others.len() && pairs.all(|(one, other)| go_equal(element, one, other, empty))
            }
            None => item::equal(one, other),
        },
        (Value::Object(ones), Value::Object(others)) if !ty.fields().is_empty() => {
            ty.fields().iter().all(|field| match (given(ty, field, ones, empty), given(ty, field, others, empty)) {
                (None, None) => true,
                (Some(one), Some(other)) => go_equal(ty.of(field), one, other, empty),
                _ => false,
            })
        }
        (Value::Object(ones), Value::Object(others)) => match ty.element() {
            Some(element) => {
                let same = |(name, one): (&Text, &Value)| {
                    others.get(name).is_some_and(|other| go_equal(element, one, other, empty))
                };
                ones.len() == others.len() && ones.iter().all(same)
            }
            None => item::equal(one, other),
        },
        _ => item::equal(one, other),
    }
}

/// The value that Go has in a field, unless it is nil, or empty where that is the same.
fn given<'v>(ty: TypeRef<'_>, field: &Field, object: &'v Object, empty: Empty) -> Option<&'v Value> {
    let value = object.get(field.name());
    let is_empty = |value: &&Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty() && ty.of(field).target().element().is_some(),
        _ => false,
    };
    match value.filter(is_empty) {
        Some(_) if empty == Empty::OrNone => None,
        Some(value) if empty == Empty::Alone => Some(value),
        _ => ty.shown(field, value).filter(|value| !value.is_null()),
    }
}

/// The fields of either object, in the order of their names, with their values in both.
fn joined<'v>(
    old: &'v Object,
    new: &'v Object,
) -> impl Iterator<Item = (&'v str, Option<&'v Value>, Option<&'v Value>)> {
    let (mut olds, mut news) = (old.iter().peekable(), new.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (olds.peek(), news.peek()) {
            (Some((old, _)), Some((new, _))) => old.cmp(new),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let before = if order.is_le() { olds.next() } else { None };
        let after = if order.is_ge() { news.next() } else { None };
        let (name, _) = before.or(after)?;
        Some((name.as_str(), before.map(|(_, value)| value), after.map(|(_, value)| value)))
    })
}

fn object(value: &Value) -> Option<&Object> {
    value.as_object()
}

fn array(value: &Value) -> Option<&Vec<Value>> {
    value.as_array()
}
