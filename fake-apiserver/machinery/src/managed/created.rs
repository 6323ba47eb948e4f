//! The fields that a new object's only manager owns, printed while the object is walked: what a comparison with an object without fields
//! (`compare.rs`) has added and modified, less what no manager owns, as `text.rs` prints it. No set is made of them.

use super::compare::Walk;
use super::element::Element;
use super::item;
use super::set::{Node, Set};
use super::text;
use super::types::{Form, Items, List, Map, NO_FORM, Type};
use crate::schema::{Field, push_escaped};
use tree::counting::{Work, count};
use tree::{Map as Object, Text, Value};

/// The text of the fields of an object that nobody owned before, without those of `never`, and without those of `reset` and below them;
/// `None` if there are none.
///
/// # Errors
/// If an item of a list has no key, or the deadline has passed.
pub(super) fn print(
    walk: Walk,
    ty: Type<'_>,
    object: &Value,
    never: &Set,
    reset: Option<&Set>,
) -> Result<Option<Text>, String> {
    count(Work::Walk, 1);
    let mut printer = Printer { walk, text: Vec::with_capacity(512) };
    printer.text.push(b'{');
    let nothing = Value::Object(Object::new());
    printer.compared(ty, &nothing, object, Less { never: Some(never), reset })?;
    printer.text.push(b'}');
    let text = std::str::from_utf8(&printer.text).expect("texts and JSON are UTF-8");
    Ok((text != "{}").then(|| text.into()))
}

struct Printer {
    walk: Walk,
    text: Vec<u8>,
}

/// The fields below a place that are left out.
#[derive(Clone, Copy)]
struct Less<'s> {
    /// Those that no manager owns. What is below them may be owned.
    never: Option<&'s Set>,
    /// Those that the write resets, with all below them.
    reset: Option<&'s Set>,
}

/// A child of an object or a list.
#[derive(Clone, Copy)]
enum Child<'c> {
    Field(&'c str),
    Item(&'c Element),
}

impl Child<'_> {
    fn node(self, set: Option<&Set>) -> Option<&Node> {
        let set = set?;
        match self {
            Child::Field(name) => set.field(name),
            Child::Item(element) => set.node(element),
        }
    }
}

impl Printer {
    /// Prints a child that is `added`, or is modified if `below` says so, which prints what is below it. One that is neither, and has nothing
    /// below it, is left out.
    fn child(
        &mut self,
        child: Child<'_>,
        added: bool,
        less: Less<'_>,
        below: impl FnOnce(&mut Self, Less<'_>) -> Result<bool, String>,
    ) -> Result<(), String> {
        let (never, reset) = (child.node(less.never), child.node(less.reset));
        let start = self.text.len();
        if reset.is_some_and(|reset| reset.member) {
            // Items there have to have keys all the same.
            below(self, Less { never: None, reset: None })?;
            self.text.truncate(start);
            return Ok(());
        }
        let is_owned = never.is_none_or(|never| !never.member);
        let less = Less { never: never.map(|never| &never.below), reset: reset.map(|reset| &reset.below) };
        self.text.extend_from_slice(if self.text.last() == Some(&b'{') { b"\"" } else { b",\"" });
        match child {
            Child::Field(name) => {
                self.text.extend_from_slice(b"f:");
                push_escaped(&mut self.text, name);
            }
            Child::Item(element) => element.push(&mut self.text),
        }
        self.text.extend_from_slice(b"\":{");
        let inside = self.text.len();
        self.text.extend_from_slice(if added && is_owned { b"\".\":{}" } else { b"" });
        let empty = self.text.len();
        let modified = below(self, less)?;
        match (self.text.len() == empty, is_owned && (added || modified)) {
            (true, false) => self.text.truncate(start),
            (true, true) => {
                self.text.truncate(inside);
                self.text.push(b'}');
            }
            (false, _) => self.text.push(b'}'),
        }
        Ok(())
    }

    /// Prints what has changed below a value that was zero before; true if it was modified as a whole.
    fn compared(&mut self, ty: Type<'_>, zero: &Value, new: &Value, less: Less<'_>) -> Result<bool, String> {
        self.walk.step()?;
        let (before, after) = (ty.form(Some(zero)), ty.form(Some(new)));
        let is_same_form = std::mem::discriminant(&before) == std::mem::discriminant(&after);
        match (after, zero, new) {
            (Form::Map(map), Value::Object(old), Value::Object(new))
                if is_same_form && !map.atomic && old.is_empty() =>
            {
                self.fields(&map, new, less)?;
                Ok(false)
            }
            (Form::List(list), Value::Null, Value::Array(items))
                if is_same_form && !matches!(list.items, Items::Atomic) && !items.is_empty() =>
            {
                self.items(&list, items, less)?;
                Ok(false)
            }
            (Form::Scalar(_), ..) if is_same_form => Ok(!self.walk.equal(ty, zero, new)),
            _ => self.compared_by_sets(ty, zero, new, less),
        }
    }

    /// The same of any values.
    fn compared_by_sets(&mut self, ty: Type<'_>, zero: &Value, new: &Value, less: Less<'_>) -> Result<bool, String> {
        let (modified, changes) = self.walk.compare(ty, zero, new)?;
        let mut set = changes.modified.union(changes.added);
        if let Some(reset) = less.reset {
            set = set.recursive_difference(reset);
        }
        if let Some(never) = less.never {
            set = set.difference(never);
        }
        text::push_nodes(&mut self.text, &set);
        Ok(modified)
    }

    /// Prints the fields of an object that had none.
    fn fields(&mut self, map: &Map<'_>, new: &Object, less: Less<'_>) -> Result<(), String> {
        let Some(ty) = self.walk.as_struct(map) else { return self.all_fields(map, new, less) };
        for (name, value) in new {
            let Some(field) = ty.field(name) else { continue };
            let below = Type::Go(ty.of(field), Some(field.facets()));
            match (ty.shown(field, None), ty.shown(field, Some(value))) {
                (_, None) => {}
                (None, Some(shown)) => self.added(Child::Field(name), below, shown, less)?,
                (Some(zero), Some(shown)) => {
                    self.child(Child::Field(name), false, less, |own, less| own.compared(below, zero, shown, less))?;
                }
            }
        }
        Ok(())
    }

    /// Prints a value that was not there.
    fn added(&mut self, child: Child<'_>, ty: Type<'_>, value: &Value, less: Less<'_>) -> Result<(), String> {
        self.child(child, true, less, |own, less| own.all(ty, value, less).map(|()| false))
    }

    /// Prints all fields below a value.
    fn all(&mut self, ty: Type<'_>, value: &Value, less: Less<'_>) -> Result<(), String> {
        self.walk.step()?;
        match (ty.form(Some(value)), value) {
            (Form::Map(map), Value::Object(fields)) if !map.atomic => self.all_fields(&map, fields, less),
            (Form::List(list), Value::Array(items)) if !matches!(list.items, Items::Atomic) => {
                self.items(&list, items, less)
            }
            (Form::Nothing, _) => Err(NO_FORM.to_owned()),
            _ => Ok(()),
        }
    }

    fn all_fields(&mut self, map: &Map<'_>, fields: &Object, less: Less<'_>) -> Result<(), String> {
        let Some(ty) = self.walk.as_struct(map) else {
            for (name, value) in fields {
                let ty = map.get(name).ok_or(NO_FORM)?;
                self.added(Child::Field(name), ty, value, less)?;
            }
            return Ok(());
        };
        // Those that Go always shows.
        let absent = |field: &&Field| ty.shown(field, None).is_some() && !fields.contains_key(field.name());
        let mut absent: Vec<&Field> = ty.fields().iter().filter(absent).collect();
        absent.sort_by(|one, other| one.name().cmp(other.name()));
        let mut absent = absent.into_iter().peekable();
        let print = |own: &mut Self, field: &Field, value: Option<&Value>| match ty.shown(field, value) {
            Some(shown) => {
                let below = Type::Go(ty.of(field), Some(field.facets()));
                own.added(Child::Field(field.name()), below, shown, less)
            }
            None => Ok(()),
        };
        for (name, value) in fields {
            while let Some(field) = absent.next_if(|field| field.name() < name.as_str()) {
                print(self, field, None)?;
            }
            if let Some(field) = ty.field(name) {
                print(self, field, Some(value))?;
            }
        }
        absent.try_for_each(|field| print(self, field, None))
    }

    /// Prints the items of a list that had none.
    fn items(&mut self, list: &List<'_>, items: &[Value], less: Less<'_>) -> Result<(), String> {
        let all = items.iter().map(|item| Ok((item::element(list, item)?, item)));
        let mut all = all.collect::<Result<Vec<_>, String>>()?;
        all.sort_by(|one, other| one.0.cmp(&other.0));
        for same in all.chunk_by(|one, other| one.0 == other.0) {
            let (element, item) = &same[0];
            match same {
                [_] => self.added(Child::Item(element), list.element, item, less)?,
                // Items that occur several times are one value.
                _ => self.child(Child::Item(element), true, less, |_, _| Ok(false))?,
            }
        }
        Ok(())
    }
}
