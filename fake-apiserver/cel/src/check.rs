//! The type checker: types of all parts of an expression, and references of its names and calls.
//!
//! Port of `checker/checker.go` and `checker/env.go` of cel-go v0.29.2, with the options of Kubernetes: literals of lists
//! and maps have one type, numbers of different types can be compared.

mod assign;
mod calls;
mod formats;
mod literals;

use crate::ast::{Ast, Comprehension, Entry, Expr, Id, Kind, List, Select, Struct};
use crate::env::Names;
use crate::functions::Functions;
use crate::source::Findings;
use crate::types::Type;
use assign::Found;
use std::collections::HashMap;

/// The reference of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A variable or a type.
    Name(String),
    /// The possible overloads of a call.
    Overloads(Vec<&'static str>),
}

/// A type-checked expression.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) ast: Ast,
    pub(crate) types: HashMap<Id, Type>,
    pub(crate) references: HashMap<Id, Reference>,
}

impl Checked {
    pub(crate) fn type_of(&self, id: Id) -> &Type {
        self.types.get(&id).unwrap_or(&Type::Error)
    }
}

struct Checker<'a> {
    functions: &'a Functions,
    names: &'a Names<'a>,
    findings: &'a mut Findings,
    places: HashMap<Id, usize>,
    types: HashMap<Id, Type>,
    references: HashMap<Id, Reference>,
    found: Found,
    /// The variables of comprehensions, the inner ones last.
    scopes: Vec<(String, Type)>,
    stored: bool,
}

/// Checks the types of an expression, and adds errors to the findings. `stored` allows the functions for stored
/// expressions.
pub(crate) fn check(
    ast: Ast,
    functions: &Functions,
    names: &Names<'_>,
    stored: bool,
    findings: &mut Findings,
) -> Checked {
    let Ast { mut root, places } = ast;
    let mut checker = Checker {
        functions,
        names,
        findings,
        places,
        types: HashMap::new(),
        references: HashMap::new(),
        found: Found::default(),
        scopes: Vec::new(),
        stored,
    };
    checker.check(&mut root);
    let Checker { places, mut types, references, found, .. } = checker;
    types.values_mut().for_each(|t| *t = found.substitute(t, true));
    Checked { ast: Ast { root, places }, types, references }
}

/// Validates the literals of a type-checked expression.
pub(crate) fn validate(checked: &Checked, findings: &mut Findings) {
    literals::validate(checked, findings);
    formats::validate(checked, findings);
}

impl Checker<'_> {
    fn error(&mut self, id: Id, message: String) {
        let at = self.places.get(&id).copied();
        self.findings.add(at, message);
    }

    fn set(&mut self, id: Id, t: Type) {
        self.types.insert(id, t);
    }

    fn type_of(&self, expr: &Expr) -> Type {
        self.types.get(&expr.id).cloned().unwrap_or(Type::Error)
    }

    /// The type, with the parameters inferred so far.
    fn known_type(&self, expr: &Expr) -> Type {
        self.found.substitute(&self.type_of(expr), false)
    }

    fn mismatch(&mut self, id: Id, expected: &Type, found: &Type) {
        self.error(id, format!("expected type '{expected}' but found '{found}'"));
    }

    fn undeclared(&mut self, id: Id, name: &str) {
        self.error(id, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn check(&mut self, expr: &mut Expr) {
        let id = expr.id;
        match &mut expr.kind {
            Kind::Literal(value) => {
                let t = value.type_of();
                self.set(id, t);
            }
            Kind::Ident(_) => self.check_ident(expr),
            Kind::Select(_) => self.check_select(expr),
            Kind::Call(_) => self.check_call(expr),
            Kind::List(list) => self.check_list(id, list),
            Kind::Map(entries) => self.check_map(id, entries),
            Kind::Struct(object) => self.check_struct(id, object),
            Kind::Comprehension(comprehension) => self.check_comprehension(id, comprehension),
            Kind::Unspecified => self.error(id, "unexpected unspecified type: expr".to_owned()),
        }
    }

    fn local(&self, name: &str) -> Option<&Type> {
        self.scopes.iter().rev().find(|(local, _)| local == name).map(|(_, t)| t)
    }

    /// The type of a name, and the name of its value.
    fn resolve(&self, name: &str) -> Option<(String, Type)> {
        let global = name.strip_prefix('.');
        let local = self.local(global.unwrap_or(name));
        if let (Some(t), None) = (local, global) {
            return Some((name.to_owned(), t.clone()));
        }
        let name = global.unwrap_or(name);
        let t = self.names.find(name)?;
        let hidden = if local.is_some() { "." } else { "" };
        Some((format!("{hidden}{name}"), t))
    }

    fn check_ident(&mut self, expr: &mut Expr) {
        let Kind::Ident(name) = &mut expr.kind else { return };
        match self.resolve(name) {
            Some((found, t)) => {
                name.clone_from(&found);
                self.set(expr.id, t);
                self.references.insert(expr.id, Reference::Name(found));
            }
            None => {
                let name = name.clone();
                self.set(expr.id, Type::Error);
                self.undeclared(expr.id, &name);
            }
        }
    }

    fn check_select(&mut self, expr: &mut Expr) {
        let id = expr.id;
        if let Some(qualified) = qualified(expr) {
            let first = qualified.trim_start_matches('.').split('.').next().unwrap_or_default();
            let hidden = !qualified.starts_with('.') && self.local(first).is_some();
            let found = if hidden { None } else { self.names.find(qualified.trim_start_matches('.')) };
            if let Some(t) = found {
                let local = if self.local(first).is_some() { "." } else { "" };
                let name = format!("{local}{}", qualified.trim_start_matches('.'));
                self.set(id, t);
                self.references.insert(id, Reference::Name(name.clone()));
                expr.kind = Kind::Ident(name);
                return;
            }
        }
        let Kind::Select(Select { operand, field, test_only }) = &mut expr.kind else { return };
        let mut t = self.check_field(id, operand, field, false);
        if *test_only {
            t = Type::Bool;
        }
        let t = self.found.substitute(&t, false);
        self.set(id, t);
    }

    fn check_field(&mut self, id: Id, operand: &mut Expr, field: &str, optional: bool) -> Type {
        self.check(operand);
        let operand = self.known_type(operand);
        let (target, is_optional) = match operand.optional_of() {
            Some(of) => (of.clone(), true),
            None => (operand, false),
        };
        let result = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Struct(name) => self.field_type(id, name, field).unwrap_or(Type::Error),
            Type::Param(_) => {
                self.found.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.error(id, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if is_optional || optional { Type::optional(result) } else { result }
    }

    fn field_type(&mut self, id: Id, name: &str, field: &str) -> Option<Type> {
        if !self.names.has_struct(name) {
            self.error(id, format!("unexpected failed resolution of '{name}'"));
            return None;
        }
        let found = self.names.field(name, field);
        if found.is_none() {
            self.error(id, format!("undefined field '{field}'"));
        }
        found
    }

    fn check_list(&mut self, id: Id, list: &mut List) {
        let mut joined: Option<Type> = None;
        for (i, element) in list.elements.iter_mut().enumerate() {
            self.check(element);
            let mut t = self.type_of(element);
            if list.optional.contains(&i) {
                t = self.unwrap_optional(element.id, t);
            }
            joined = Some(self.join(joined, t));
        }
        let element = joined.unwrap_or_else(|| self.found.fresh());
        self.set(id, Type::list(element));
    }

    /// The type within the optional type of an entry with a question mark.
    fn unwrap_optional(&mut self, id: Id, t: Type) -> Type {
        if let Some(of) = t.optional_of() {
            return of.clone();
        }
        if !t.is_dyn() {
            self.mismatch(id, &Type::optional(t.clone()), &t);
        }
        t
    }

    fn check_map(&mut self, id: Id, entries: &mut [Entry]) {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(&mut entry.key);
            let key = self.type_of(&entry.key);
            keys = Some(self.join(keys, key));
            self.check(&mut entry.value);
            let mut value = self.type_of(&entry.value);
            if entry.optional {
                value = self.unwrap_optional(entry.value.id, value);
            }
            values = Some(self.join(values, value));
        }
        let key = keys.unwrap_or_else(|| self.found.fresh());
        let value = values.unwrap_or_else(|| self.found.fresh());
        self.set(id, Type::map(key, value));
    }

    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else { return current };
        if self.found.assign(&previous, &current) {
            return assign::most_general(&previous, &current);
        }
        Type::Dyn
    }

    fn check_struct(&mut self, id: Id, object: &mut Struct) {
        let name = object.name.trim_start_matches('.').to_owned();
        let Some(t) = self.names.find_type(&name) else {
            let name = object.name.clone();
            self.undeclared(id, &name);
            self.set(id, Type::Error);
            return;
        };
        self.references.insert(id, Reference::Name(name.clone()));
        let is_struct = matches!(t, Type::Struct(_));
        if !is_struct {
            self.error(id, format!("'{}' is not a message type", t.name()));
        }
        object.name.clone_from(&name);
        self.set(id, if is_struct { t } else { Type::Error });
        for field in &mut object.fields {
            self.check(&mut field.value);
            let declared = self.field_type(field.id, &name, &field.name).unwrap_or(Type::Error);
            let mut value = self.type_of(&field.value);
            if field.optional {
                value = self.unwrap_optional(field.value.id, value);
            }
            if !self.found.assign(&declared, &value) {
                let name = &field.name;
                let message = format!("expected type of field '{name}' is '{declared}' but provided type is '{value}'");
                self.error(field.id, message);
            }
        }
    }

    fn check_comprehension(&mut self, id: Id, c: &mut Comprehension) {
        self.check(&mut c.range);
        self.check(&mut c.init);
        let range = self.known_type(&c.range);
        let accu = self.type_of(&c.init);
        let depth = self.scopes.len();
        self.scopes.push((c.accu.clone(), accu.clone()));
        let two = c.var2.is_some();
        let (var, var2) = match &range {
            Type::List(element) if two => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Error),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.found.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let what = "cannot be range of a comprehension (must be list, map, or dynamic)";
                self.error(c.range.id, format!("expression of type '{other}' {what}"));
                (Type::Error, Type::Error)
            }
        };
        self.scopes.push((c.var.clone(), var));
        if let Some(name) = &c.var2 {
            self.scopes.push((name.clone(), var2));
        }
        self.check(&mut c.condition);
        self.assert(&c.condition, &Type::Bool);
        self.check(&mut c.step);
        self.assert(&c.step, &accu);
        self.scopes.truncate(depth + 1);
        self.check(&mut c.result);
        self.scopes.truncate(depth);
        let t = self.known_type(&c.result);
        self.set(id, t);
    }

    fn assert(&mut self, expr: &Expr, t: &Type) {
        let found = self.type_of(expr);
        if !self.found.assign(t, &found) {
            self.mismatch(expr.id, t, &found);
        }
    }
}

/// The qualified name of a chain of selections, if it begins with a name.
fn qualified(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Ident(name) => Some(name.clone()),
        Kind::Select(Select { operand, field, test_only: false }) => Some(format!("{}.{field}", qualified(operand)?)),
        _ => None,
    }
}
