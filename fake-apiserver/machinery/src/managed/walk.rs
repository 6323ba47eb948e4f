//! Walks over a set of fields by its type: the named fields above its members, and lists and objects that have become atomic
//! (`EnsureNamedFieldsAreMembers` of `fieldpath/set.go`, `typed/reconcile_schema.go` of `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use super::element::Element;
use super::set::Set;
use super::types::{Form, Items, Type};

/// The set, with all declared fields above its members.
pub(super) fn with_named(ty: Option<Type<'_>>, set: &Set) -> Set {
    let mut result = Set::default();
    let atom = ty.map(Type::atom).unwrap_or_default();
    for node in set.nodes() {
        let (named, below) = match &node.element {
            Element::Field(name) => match &atom.map {
                Some(map) => (map.field(name).is_some(), map.get(name)),
                None => (false, None),
            },
            Element::Key(_) => (false, atom.list.map(|list| list.element)),
            Element::Value(_) | Element::Index(_) => (false, None),
        };
        let has_children = !node.below.is_empty();
        result.push(node.element.clone(), node.member || (named && has_children), with_named(below, &node.below));
    }
    result
}

/// The set after lists and objects of the type have become atomic: the manager of a part owns all of it. The whole object has no manager, so
/// that nothing changes if it is atomic itself.
pub(super) fn reconciled(ty: Type<'_>, set: Set) -> Set {
    match !is_atomic(ty) && granular_leaf(ty, &set) {
        true => reconciled_below(ty, &set),
        false => set,
    }
}

/// Whether something below has to be reconciled. That is rare, so it is found out without a copy.
fn granular_leaf(ty: Type<'_>, set: &Set) -> bool {
    let of = |element: &Element| below(ty, element);
    set.nodes().iter().any(|node| match of(&node.element) {
        Some(ty) => (is_atomic(ty) && !node.below.is_empty()) || granular_leaf(ty, &node.below),
        None => false,
    })
}

fn reconciled_below(ty: Type<'_>, set: &Set) -> Set {
    let mut result = Set::default();
    for node in set.nodes() {
        let (member, inner) = match below(ty, &node.element) {
            Some(ty) if is_atomic(ty) && !node.below.is_empty() => (true, Set::default()),
            Some(ty) => (node.member, reconciled_below(ty, &node.below)),
            None => (node.member, node.below.clone()),
        };
        result.push(node.element.clone(), member, inner);
    }
    result
}

/// The type below an element, unless it is only deduced from values.
fn below<'t>(ty: Type<'t>, element: &Element) -> Option<Type<'t>> {
    match (ty.form(None), element) {
        (Form::Map(map), Element::Field(name)) if !map.is_deduced() => map.get(name),
        (Form::List(list), _) => Some(list.element),
        _ => None,
    }
}

fn is_atomic(ty: Type<'_>) -> bool {
    match ty.form(None) {
        Form::Map(map) => map.atomic && !map.is_deduced(),
        Form::List(list) => matches!(list.items, Items::Atomic),
        Form::Scalar(_) | Form::Nothing => false,
    }
}
