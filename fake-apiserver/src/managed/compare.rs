//! What a write changes: which fields it adds, modifies and removes (`typed/compare.go` of
//! `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use super::element::Element;
use super::item;
use super::set::Set;
use super::types::{Form, Items, List, Map, Type};
use crate::schema::{Field, TypeRef};
use std::cmp::Ordering;
use tree::{Map as Object, Text, Value};

/// What was changed. A field is in no more than one of the sets.
#[derive(Debug, Default, PartialEq)]
pub struct Changes {
    pub added: Set,
    pub modified: Set,
    pub removed: Set,
}

/// A change of one field, whatever is below it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Added,
    Modified,
    Removed,
}

/// What the trees hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trees {
    /// Objects of Go types: what is zero may be absent, also where Go shows it.
    Canonical,
    /// All that there is.
    Complete,
}

/// Compares two objects.
///
/// # Errors
/// If an item of a list has no key.
pub fn compare(ty: Type<'_>, old: &Value, new: &Value, trees: Trees) -> Result<Changes, String> {
    let mut changes = Walk { trees }.compare(ty, Some(old), Some(new))?.1;
    for set in [&mut changes.added, &mut changes.modified, &mut changes.removed] {
        set.sort();
    }
    Ok(changes)
}

impl Changes {
    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    /// Adds the changes of a child. Most children have none, so that its element is made only for those that have.
    fn push(&mut self, element: impl Fn() -> Element, (own, below): (Option<Change>, Changes)) {
        let sets = [
            (&mut self.added, Change::Added, below.added),
            (&mut self.modified, Change::Modified, below.modified),
            (&mut self.removed, Change::Removed, below.removed),
        ];
        for (set, change, mut below) in sets {
            if own == Some(change) || !below.is_empty() {
                below.sort();
                set.push(element(), own == Some(change), below);
            }
        }
    }
}

type Found = Result<(Option<Change>, Changes), String>;

struct Walk {
    trees: Trees,
}

impl Walk {
    fn compare(&self, ty: Type<'_>, old: Option<&Value>, new: Option<&Value>) -> Found {
        let mut changes = Changes::default();
        let atom = ty.atom();
        let (before, after) = (atom.form(old), atom.form(new));
        let mut modified = false;
        let same = matches!(
            (&before, &after),
            (Form::Map(_), Form::Map(_)) | (Form::Scalar(_), Form::Scalar(_)) | (Form::List(_), Form::List(_))
        );
        if new.is_none() || (old.is_some() && !same) {
            modified |= self.inside(ty, before, old, new, &mut changes)?;
        }
        if new.is_some() {
            modified |= self.inside(ty, after, old, new, &mut changes)?;
        }
        let own = match (old, new) {
            (None, _) => Some(Change::Added),
            (_, None) => Some(Change::Removed),
            _ => modified.then_some(Change::Modified),
        };
        Ok((own, changes))
    }

    /// Compares what is inside; true if the values are compared as a whole, and differ.
    fn inside(
        &self,
        ty: Type<'_>,
        form: Form<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
        changes: &mut Changes,
    ) -> Result<bool, String> {
        let descended = match form {
            Form::Map(map) if !map.atomic => self.fields(&map, old.and_then(object), new.and_then(object), changes)?,
            Form::List(list) if !matches!(list.items, Items::Atomic) => {
                self.items(&list, old.and_then(array), new.and_then(array), changes)?
            }
            Form::Nothing => return Err("schema error: invalid atom: inlined".to_owned()),
            Form::Map(_) | Form::List(_) | Form::Scalar(_) => false,
        };
        Ok(!descended && old.zip(new).is_some_and(|(old, new)| !self.equal(ty, old, new)))
    }

    /// Compares the fields of objects; false if there are none.
    fn fields(
        &self,
        map: &Map<'_>,
        old: Option<&Object>,
        new: Option<&Object>,
        changes: &mut Changes,
    ) -> Result<bool, String> {
        let mut descended = false;
        let Some(ty) = map.as_struct().filter(|ty| self.trees == Trees::Canonical && !ty.fields().is_empty()) else {
            for (name, before, after) in joined(old, new) {
                descended = true;
                let ty = map.get(name).ok_or("schema error: invalid atom: inlined")?;
                changes.push(|| Element::field(name), self.compare(ty, before, after)?);
            }
            return Ok(descended);
        };
        let mut field = |field: &Field, before: Option<&Value>, after: Option<&Value>| -> Result<(), String> {
            let before = old.and_then(|_| ty.shown(field, before));
            let after = new.and_then(|_| ty.shown(field, after));
            if before.is_some() || after.is_some() {
                descended = true;
                let below = self.compare(Type::Go(ty.of(field), Some(field.facets())), before, after)?;
                changes.push(|| Element::field(field.name()), below);
            }
            Ok(())
        };
        for (name, before, after) in joined(old, new) {
            if let Some(known) = ty.field(name) {
                field(known, before, after)?;
            }
        }
        // Fields that neither has are equal.
        if let (Some(only), None) | (None, Some(only)) = (old, new) {
            for zero in ty.fields().iter().filter(|field| ty.shown(field, None).is_some()) {
                if !only.contains_key(zero.name()) {
                    field(zero, None, None)?;
                }
            }
        }
        // If it is not descended into, both are zero, hence equal.
        Ok(descended)
    }

    /// Compares the items of lists; false if there are none.
    fn items(
        &self,
        list: &List<'_>,
        old: Option<&Vec<Value>>,
        new: Option<&Vec<Value>>,
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
            let of = |side| same.iter().filter(move |(_, is_new, _)| *is_new == side).map(|(.., item)| *item);
            let (befores, afters): (Vec<&Value>, Vec<&Value>) = (of(false).collect(), of(true).collect());
            let element = &same[0].0;
            let below = match (befores.as_slice(), afters.as_slice()) {
                ([] | [_], [] | [_]) => {
                    self.compare(list.element, befores.first().copied(), afters.first().copied())?
                }
                // Items that occur several times are one value.
                ([_, _, ..], [_, _, ..]) => {
                    let same = befores.len() == afters.len()
                        && befores.iter().zip(&afters).all(|(one, other)| self.equal(list.element, one, other));
                    ((!same).then_some(Change::Modified), Changes::default())
                }
                ([_, _, ..], rest) => {
                    if let Some(item) = rest.first() {
                        changes.push(|| element.clone(), self.compare(list.element, None, Some(item))?);
                    }
                    (Some(Change::Removed), Changes::default())
                }
                (rest, _) => {
                    if let Some(item) = rest.first() {
                        changes.push(|| element.clone(), self.compare(list.element, Some(item), None)?);
                    }
                    (Some(Change::Added), Changes::default())
                }
            };
            changes.push(|| element.clone(), below);
        }
        Ok(!all.is_empty())
    }

    /// Whether values are equal, whatever their type's relationships.
    fn equal(&self, ty: Type<'_>, old: &Value, new: &Value) -> bool {
        match self.trees {
            Trees::Canonical => equal(ty, old, new),
            Trees::Complete => item::equal(old, new),
        }
    }
}

/// Whether Go shows the same of two canonical trees.
pub fn equal(ty: Type<'_>, one: &Value, other: &Value) -> bool {
    match ty {
        Type::Go(ty, _) => shown_equal(ty, one, other),
        _ => item::equal(one, other),
    }
}

fn shown_equal(ty: TypeRef<'_>, one: &Value, other: &Value) -> bool {
    let ty = ty.target();
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => match ty.element() {
            Some(element) => {
                ones.len() == others.len()
                    && ones.iter().zip(others).all(|(one, other)| shown_equal(element, one, other))
            }
            None => item::equal(one, other),
        },
        (Value::Object(ones), Value::Object(others)) if !ty.fields().is_empty() => {
            ty.fields().iter().all(|field| {
                match (ty.shown(field, ones.get(field.name())), ty.shown(field, others.get(field.name()))) {
                    (None, None) => true,
                    (Some(one), Some(other)) => shown_equal(ty.of(field), one, other),
                    _ => false,
                }
            })
        }
        (Value::Object(ones), Value::Object(others)) => match ty.element() {
            Some(element) => {
                let same = |(name, one): (&Text, &Value)| {
                    others.get(name).is_some_and(|other| shown_equal(element, one, other))
                };
                ones.len() == others.len() && ones.iter().all(same)
            }
            None => item::equal(one, other),
        },
        _ => item::equal(one, other),
    }
}

/// The fields of either object, in the order of their names, with their values in both.
fn joined<'v>(
    old: Option<&'v Object>,
    new: Option<&'v Object>,
) -> impl Iterator<Item = (&'v str, Option<&'v Value>, Option<&'v Value>)> {
    let mut olds = old.into_iter().flatten().peekable();
    let mut news = new.into_iter().flatten().peekable();
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
