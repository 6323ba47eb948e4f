//! Assignability of types, with inference of type parameters.
//!
//! Port of `checker/types.go` and `checker/mapping.go` of cel-go v0.29.2.

use crate::types::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// The type parameters inferred so far. A failed attempt is undone.
#[derive(Debug, Default)]
pub(super) struct Found {
    types: HashMap<Arc<str>, Type>,
    /// The previous values, in the order of changes.
    undo: Vec<(Arc<str>, Option<Type>)>,
    fresh: usize,
}

impl Found {
    /// A fresh type parameter.
    pub(super) fn fresh(&mut self) -> Type {
        self.fresh += 1;
        Type::Param(Arc::from(format!("_var{}", self.fresh - 1)))
    }

    /// Whether values of `from` can be assigned to `to`.
    pub(super) fn assign(&mut self, to: &Type, from: &Type) -> bool {
        self.attempt(|found| found.assignable(to, from))
    }

    pub(super) fn assign_all(&mut self, to: &[Type], from: &[Type]) -> bool {
        self.attempt(|found| found.all_assignable(&to.iter().collect::<Vec<_>>(), &from.iter().collect::<Vec<_>>()))
    }

    fn attempt(&mut self, assign: impl FnOnce(&mut Self) -> bool) -> bool {
        self.undo.clear();
        if assign(self) {
            return true;
        }
        while let Some((name, before)) = self.undo.pop() {
            match before {
                Some(before) => self.types.insert(name, before),
                None => self.types.remove(&name),
            };
        }
        false
    }

    fn add(&mut self, name: &Arc<str>, to: Type) {
        let before = self.types.insert(name.clone(), to);
        self.undo.push((name.clone(), before));
    }

    fn assignable(&mut self, a: &Type, b: &Type) -> bool {
        if let Type::Param(name) = b {
            match self.valid(a, b, name) {
                (true, _) => return true,
                (false, true) => return false,
                _ => {}
            }
        }
        if let Type::Param(name) = a {
            return self.valid(b, a, name).0;
        }
        if a.is_dyn_or_error() || b.is_dyn_or_error() {
            return true;
        }
        match (a, b) {
            (Type::Null, other) | (other, Type::Null) => {
                matches!(other, Type::Null | Type::Opaque(..) | Type::Struct(_) | Type::Duration | Type::Timestamp)
            }
            (Type::Type(_), _) => matches!(b, Type::Type(_)),
            (Type::Opaque(..) | Type::List(_) | Type::Map(..), _) => {
                a.same_kind(b) && a.name() == b.name() && self.all_assignable(&a.params(), &b.params())
            }
            _ => b.is_assignable_from(a),
        }
    }

    /// Whether a type can be that of a type parameter, and whether the parameter is known.
    fn valid(&mut self, a: &Type, param: &Type, name: &Arc<str>) -> (bool, bool) {
        if a == param {
            return (true, true);
        }
        if let Some(known) = self.types.get(name).cloned() {
            if *a == known {
                return (true, true);
            }
            if self.assignable(a, &known) {
                let general = most_general(a, &known);
                if self.is_free(param, &general) {
                    self.add(name, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.is_free(param, a) {
            self.add(name, a.clone());
            return (true, false);
        }
        (false, false)
    }

    fn all_assignable(&mut self, a: &[&Type], b: &[&Type]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.assignable(a, b))
    }

    /// Whether a type does not contain a type parameter.
    fn is_free(&self, param: &Type, within: &Type) -> bool {
        if param == within {
            return false;
        }
        match within {
            Type::Param(name) => self.types.get(name).is_none_or(|known| self.is_free(param, known)),
            _ => within.params().iter().all(|part| self.is_free(param, part)),
        }
    }

    /// A type with inferred type parameters; with `dyn_for_rest`, the others become `dyn`.
    pub(super) fn substitute(&self, t: &Type, dyn_for_rest: bool) -> Type {
        match t {
            Type::Param(name) => match self.types.get(name) {
                Some(known) => self.substitute(known, dyn_for_rest),
                None if dyn_for_rest => Type::Dyn,
                None => t.clone(),
            },
            _ => t.with_params(|param| self.substitute(param, dyn_for_rest)),
        }
    }
}

pub(super) fn most_general(a: &Type, b: &Type) -> Type {
    if is_no_more_specific(a, b) { a.clone() } else { b.clone() }
}

fn is_no_more_specific(a: &Type, b: &Type) -> bool {
    if a.is_dyn() || matches!(a, Type::Param(_)) {
        return true;
    }
    if b.is_dyn() || matches!(b, Type::Param(_)) || !a.same_kind(b) {
        return false;
    }
    match a {
        Type::Opaque(..) | Type::List(_) | Type::Map(..) => {
            let (mine, theirs) = (a.params(), b.params());
            a.name() == b.name()
                && mine.len() == theirs.len()
                && mine.iter().zip(theirs).all(|(a, b)| is_no_more_specific(a, b))
        }
        Type::Type(_) => true,
        _ => a == b,
    }
}
