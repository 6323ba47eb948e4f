//! Resolution of overloads.

use super::{Checker, Reference, qualified};
use crate::ast::{Call, Expr, Id, Kind};
use crate::functions::{Overload, PATCH_OVERLOAD};
use crate::types::Type;
use crate::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

impl Checker<'_> {
    pub(super) fn check_call(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let Kind::Call(call) = &mut expr.kind else { return };
        if call.function == "_?._" {
            return self.check_optional_field(id, call);
        }
        for arg in &mut call.args {
            self.check(arg);
        }
        let functions = self.functions;
        let Some(target) = &mut call.target else {
            let name = call.function.trim_start_matches('.').to_owned();
            let Some((name, overloads)) = functions.get(&name).filter(|(_, all)| self.is_declared(all)) else {
                let name = call.function.clone();
                self.undeclared(id, &name);
                return self.set(id, Type::Error);
            };
            name.clone_into(&mut call.function);
            return self.resolve_overload(id, name, overloads, None, &call.args);
        };
        if let Some(prefix) = qualified(target) {
            let name = format!("{prefix}.{}", call.function);
            let function = functions.get(name.trim_start_matches('.'));
            if let Some((name, overloads)) = function.filter(|(_, all)| self.may_patch(all)) {
                name.clone_into(&mut call.function);
                call.target = None;
                return self.resolve_overload(id, name, overloads, None, &call.args);
            }
        }
        self.check(target);
        let Some((name, overloads)) = functions.get(&call.function).filter(|(_, all)| self.is_declared(all)) else {
            self.set(id, Type::Error);
            let name = call.function.clone();
            return self.undeclared(id, &name);
        };
        self.resolve_overload(id, name, overloads, call.target.as_deref(), &call.args);
    }

    fn is_declared(&self, overloads: &[Overload]) -> bool {
        self.may_patch(overloads) && (self.stored || overloads.iter().any(|overload| !overload.stored_only))
    }

    /// Whether the function is none of those that only expressions of patches may call, or this is one.
    fn may_patch(&self, overloads: &[Overload]) -> bool {
        self.names.has_patches() || overloads.iter().all(|overload| overload.id != PATCH_OVERLOAD)
    }

    fn check_optional_field(&mut self, id: Id, call: &mut Call) {
        let [operand, field] = call.args.as_mut_slice() else { return self.set(id, Type::Error) };
        let Kind::Literal(Value::String(name)) = &field.kind else { return self.set(id, Type::Error) };
        let name = name.to_string();
        let t = self.check_field(id, operand, &name, true);
        let t = self.found.substitute(&t, false);
        self.set(id, t);
        self.references.insert(id, Reference::Overloads(vec!["select_optional_field"]));
    }

    fn resolve_overload(&mut self, id: Id, name: &str, overloads: &[Overload], target: Option<&Expr>, args: &[Expr]) {
        let types: Vec<Type> = target.into_iter().chain(args).map(|arg| self.type_of(arg)).collect();
        let mut found: Vec<&'static str> = Vec::new();
        let mut result: Option<Type> = None;
        for overload in overloads.iter().filter(|overload| overload.member == target.is_some()) {
            if overload.stored_only && !self.stored {
                continue;
            }
            if name == "_&&_" || name == "_||_" {
                return self.check_logic(id, overload, args, &types);
            }
            let (wanted, gives) = self.instance(overload);
            if self.found.assign_all(&types, &wanted) {
                found.push(overload.id);
                let gives = self.found.substitute(&gives, false);
                result = Some(match result {
                    None => gives,
                    Some(before) if before.is_dyn() || gives == before => before,
                    Some(_) => Type::Dyn,
                });
            }
        }
        let Some(result) = result else {
            let shown: Vec<Type> = types.iter().map(|t| self.found.substitute(t, true)).collect();
            let signature = signature(&shown, target.is_some());
            self.set(id, Type::Error);
            return self.error(id, format!("found no matching overload for '{name}' applied to '{signature}'"));
        };
        self.set(id, result);
        self.references.insert(id, Reference::Overloads(found));
    }

    fn check_logic(&mut self, id: Id, overload: &Overload, args: &[Expr], types: &[Type]) {
        let mut is_right = true;
        for (arg, t) in args.iter().zip(types) {
            if !self.found.assign(t, &Type::Bool) {
                self.mismatch(arg.id, &Type::Bool, t);
                is_right = false;
            }
        }
        if is_right {
            self.set(id, Type::Bool);
            self.references.insert(id, Reference::Overloads(vec![overload.id]));
        } else {
            self.set(id, Type::Error);
        }
    }

    /// The types of an overload, with fresh type parameters.
    fn instance(&mut self, overload: &Overload) -> (Vec<Type>, Type) {
        let mut fresh: HashMap<Arc<str>, Type> = HashMap::new();
        let mut args = Vec::with_capacity(overload.args.len());
        for arg in &overload.args {
            args.push(self.instantiate(arg, &mut fresh));
        }
        let result = self.instantiate(&overload.result, &mut fresh);
        (args, result)
    }

    fn instantiate(&mut self, t: &Type, fresh: &mut HashMap<Arc<str>, Type>) -> Type {
        match t {
            Type::Param(name) => fresh.entry(name.clone()).or_insert_with(|| self.found.fresh()).clone(),
            _ => t.with_params(|param| self.instantiate(param, fresh)),
        }
    }
}

fn signature(types: &[Type], member: bool) -> String {
    let (target, args) = if member { types.split_at(1) } else { types.split_at(0) };
    let args: Vec<String> = args.iter().map(Type::to_string).collect();
    match target.first() {
        Some(target) => format!("{target}.({})", args.join(", ")),
        None => format!("({})", args.join(", ")),
    }
}
