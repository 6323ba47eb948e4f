//! The steps by which an expression is evaluated.
//!
//! Port of `interpreter/planner.go` and `interpreter/decorators.go` of cel-go v0.29.2, as Kubernetes uses them: constant
//! parts are evaluated once.

mod constants;

pub(crate) use constants::push_element;

use crate::ast::{Call, Comprehension, Expr, Id, Kind, Select};
use crate::check::{Checked, Reference};
use crate::env::known_type;
use crate::functions::Functions;
use crate::go_regex;
use crate::library::{self, Implementation};
use crate::types::Type;
use crate::value::{Key, Outcome, Value, fail};
use constants::{constant_list, constant_map, set_of};
use std::collections::HashSet;
use std::sync::Arc;

/// A step, with the id of the expression that it evaluates.
#[derive(Debug)]
pub(crate) enum Step {
    Const {
        id: Id,
        value: Value,
    },
    Attr(Attr),
    /// Tests whether an attribute is set.
    Has {
        id: Id,
        attr: Attr,
    },
    Logic {
        id: Id,
        is_or: bool,
        terms: Vec<Step>,
    },
    Equal {
        id: Id,
        negated: bool,
        args: Vec<Step>,
    },
    Call(CallStep),
    /// `or` and `orValue`.
    Otherwise {
        id: Id,
        gives_value: bool,
        first: Box<Step>,
        second: Box<Step>,
    },
    /// `in` a constant list.
    Member {
        id: Id,
        element: Box<Step>,
        of: HashSet<Key>,
    },
    List {
        id: Id,
        elements: Vec<(Step, bool)>,
    },
    Map {
        id: Id,
        entries: Vec<(Step, Step, bool)>,
    },
    Struct {
        id: Id,
        name: Arc<str>,
        fields: Vec<(Arc<str>, Step, bool)>,
    },
    Fold(Box<Fold>),
}

pub(crate) struct CallStep {
    pub(crate) id: Id,
    pub(crate) function: String,
    pub(crate) overload: Option<&'static str>,
    pub(crate) implementation: Implementation,
    /// Whether an error of an argument ends the evaluation of the arguments.
    pub(crate) stops_early: bool,
    pub(crate) regex: Option<Arc<str>>,
    pub(crate) args: Vec<Step>,
}

impl std::fmt::Debug for CallStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallStep").field("function", &self.function).field("args", &self.args).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) id: Id,
    pub(crate) accu: String,
    pub(crate) var: String,
    pub(crate) var2: Option<String>,
    pub(crate) init: Step,
    pub(crate) range: Step,
    pub(crate) condition: Step,
    pub(crate) step: Step,
    pub(crate) result: Step,
}

/// A value with a path to a part of it.
#[derive(Debug)]
pub(crate) struct Attr {
    pub(crate) base: Base,
    pub(crate) qualifiers: Vec<Qualifier>,
}

#[derive(Debug)]
pub(crate) enum Base {
    /// A variable; `outer` skips those of comprehensions.
    Name {
        id: Id,
        name: String,
        outer: bool,
    },
    Step {
        id: Id,
        step: Box<Step>,
    },
    Condition {
        id: Id,
        condition: Box<Step>,
        yes: Box<Attr>,
        no: Box<Attr>,
    },
}

/// One step of a path.
#[derive(Debug, Clone)]
pub(crate) struct Qualifier {
    pub(crate) id: Id,
    pub(crate) optional: bool,
    pub(crate) kind: Arc<QualifierKind>,
}

#[derive(Debug)]
pub(crate) enum QualifierKind {
    Const(Value),
    /// Only a test of presence.
    Presence(Value),
    Attr(Attr),
}

impl Attr {
    pub(crate) fn id(&self) -> Id {
        if let Base::Condition { id, yes, no, .. } = &self.base {
            return if yes.id() == no.id() { yes.id() } else { *id };
        }
        match (self.qualifiers.last(), &self.base) {
            (Some(last), _) => last.id,
            (None, Base::Name { id, .. } | Base::Step { id, .. } | Base::Condition { id, .. }) => *id,
        }
    }

    fn add(&mut self, qualifier: Qualifier) {
        match &mut self.base {
            Base::Condition { yes, no, .. } => {
                yes.add(qualifier.clone());
                no.add(qualifier);
            }
            _ => self.qualifiers.push(qualifier),
        }
    }
}

impl Step {
    pub(crate) fn id(&self) -> Id {
        match self {
            Self::Const { id, .. }
            | Self::Has { id, .. }
            | Self::Logic { id, .. }
            | Self::Equal { id, .. }
            | Self::Otherwise { id, .. }
            | Self::Member { id, .. }
            | Self::List { id, .. }
            | Self::Map { id, .. }
            | Self::Struct { id, .. } => *id,
            Self::Call(call) => call.id,
            Self::Fold(fold) => fold.id,
            Self::Attr(attr) => attr.id(),
        }
    }

    fn constant(&self) -> Option<&Value> {
        match self {
            Self::Const { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The step's attribute, or one of its value.
    fn into_attr(self) -> Attr {
        match self {
            Self::Attr(attr) | Self::Has { attr, .. } => attr,
            step => Attr { base: Base::Step { id: step.id(), step: Box::new(step) }, qualifiers: Vec::new() },
        }
    }
}

/// Plans an expression.
///
/// # Errors
/// If a constant part has no value.
pub(crate) fn plan(checked: &Checked, functions: &Functions) -> Outcome<Step> {
    Planner { checked, functions }.plan(&checked.ast.root)
}

struct Planner<'a> {
    checked: &'a Checked,
    functions: &'a Functions,
}

impl Planner<'_> {
    fn plan(&self, expr: &Expr) -> Outcome<Step> {
        let id = expr.id;
        match &expr.kind {
            Kind::Unspecified => fail("unsupported expr"),
            Kind::Literal(value) => Ok(Step::Const { id, value: value.clone() }),
            Kind::Ident(name) => self.plan_ident(id, name),
            Kind::Select(select) => self.plan_select(id, select),
            Kind::Call(call) => self.plan_call(id, call),
            Kind::List(list) => {
                let mut elements = Vec::with_capacity(list.elements.len());
                for (i, element) in list.elements.iter().enumerate() {
                    elements.push((self.plan(element)?, list.optional.contains(&i)));
                }
                constant_list(id, elements)
            }
            Kind::Map(entries) => {
                let mut steps = Vec::with_capacity(entries.len());
                for entry in entries {
                    steps.push((self.plan(&entry.key)?, self.plan(&entry.value)?, entry.optional));
                }
                constant_map(id, steps)
            }
            Kind::Struct(object) => {
                let mut fields = Vec::with_capacity(object.fields.len());
                for field in &object.fields {
                    fields.push((field.name.as_str().into(), self.plan(&field.value)?, field.optional));
                }
                Ok(Step::Struct { id, name: object.name.trim_start_matches('.').into(), fields })
            }
            Kind::Comprehension(comprehension) => self.plan_fold(id, comprehension),
        }
    }

    fn plan_ident(&self, id: Id, name: &str) -> Outcome<Step> {
        let name = match self.checked.references.get(&id) {
            Some(Reference::Name(name)) => name.as_str(),
            _ => name,
        };
        if let Type::Type(Some(_)) = self.checked.type_of(id)
            && self.is_type_name(name)
        {
            return match known_type(name.trim_start_matches('.')) {
                Some(t) => Ok(Step::Const { id, value: Value::Type(t) }),
                None => fail(format!("reference to undefined type: {name}")),
            };
        }
        let (outer, name) = name.strip_prefix('.').map_or((false, name), |name| (true, name));
        let base = Base::Name { id, name: name.to_owned(), outer };
        Ok(Step::Attr(Attr { base, qualifiers: Vec::new() }))
    }

    /// Whether a name whose type is `type` is that of a type, not of a variable.
    fn is_type_name(&self, name: &str) -> bool {
        let name = name.trim_start_matches('.');
        known_type(name).is_some() || name.contains('.') || matches!(name, "duration" | "timestamp")
    }

    fn plan_select(&self, id: Id, select: &Select) -> Outcome<Step> {
        let operand = self.plan(&select.operand)?;
        let value = Value::from(select.field.as_str());
        let mut attr = operand.into_attr();
        let kind = if select.test_only { QualifierKind::Presence(value) } else { QualifierKind::Const(value) };
        attr.add(Qualifier { id, optional: false, kind: Arc::new(kind) });
        Ok(if select.test_only { Step::Has { id, attr } } else { Step::Attr(attr) })
    }

    fn plan_call(&self, id: Id, call: &Call) -> Outcome<Step> {
        let mut args = Vec::with_capacity(call.args.len() + 1);
        for arg in call.target.iter().map(|target| &**target).chain(&call.args) {
            args.push(self.plan(arg)?);
        }
        let overload = match self.checked.references.get(&id) {
            Some(Reference::Overloads(overloads)) if overloads.len() == 1 => Some(overloads[0]),
            _ => None,
        };
        match call.function.as_str() {
            "_&&_" => return Ok(Step::Logic { id, is_or: false, terms: args }),
            "_||_" => return Ok(Step::Logic { id, is_or: true, terms: args }),
            "_==_" => return Ok(Step::Equal { id, negated: false, args }),
            "_!=_" => return Ok(Step::Equal { id, negated: true, args }),
            _ => {}
        }
        let mut rest = args.into_iter();
        match (call.function.as_str(), rest.next(), rest.next(), rest.next()) {
            ("_?_:_", Some(condition), Some(yes), Some(no)) => {
                let base = Base::Condition {
                    id,
                    condition: Box::new(condition),
                    yes: Box::new(yes.into_attr()),
                    no: Box::new(no.into_attr()),
                };
                Ok(Step::Attr(Attr { base, qualifiers: Vec::new() }))
            }
            ("_[_]", Some(operand), Some(index), _) => plan_index(id, operand, index, false),
            ("_[?_]" | "_?._", Some(operand), Some(index), _) => plan_index(id, operand, index, true),
            ("or", Some(first), Some(second), None) => {
                Ok(Step::Otherwise { id, gives_value: false, first: Box::new(first), second: Box::new(second) })
            }
            ("orValue", Some(first), Some(second), None) => {
                Ok(Step::Otherwise { id, gives_value: true, first: Box::new(first), second: Box::new(second) })
            }
            (_, first, second, third) => {
                let args = [first, second, third].into_iter().flatten().chain(rest).collect();
                self.plan_function(id, &call.function, overload, args)
            }
        }
    }

    fn plan_function(&self, id: Id, function: &str, overload: Option<&'static str>, args: Vec<Step>) -> Outcome<Step> {
        let Some(implementation) = library::implementation(function, overload, self.functions) else {
            return fail(format!("no such overload: {function}"));
        };
        if overload == Some("in_list")
            && let Some(Value::List(list)) = args[1].constant()
        {
            if list.len() == 0 {
                return Ok(Step::Const { id, value: Value::Bool(false) });
            }
            if let Some(of) = set_of(list) {
                let element = Box::new(args.into_iter().next().unwrap_or(Step::Const { id, value: Value::Null }));
                return Ok(Step::Member { id, element, of });
            }
        }
        let is_conversion = matches!(
            function,
            "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint"
        );
        if let (true, [Step::Const { value, .. }]) = (is_conversion, args.as_slice()) {
            let value = library::call(implementation, function, std::slice::from_ref(value), self.functions)?;
            return Ok(Step::Const { id, value });
        }
        let mut regex = None;
        if let ("matches" | "find" | "findAll", Some(Value::String(pattern))) =
            (function, args.get(1).and_then(Step::constant))
        {
            match go_regex::check(pattern) {
                Ok(()) => regex = Some(pattern.to_string().into()),
                Err(error) => return fail(error),
            }
        }
        let stops_early = args.len() > 2
            || regex.is_some()
            || matches!(implementation, Implementation::Dispatch(_))
            || function == "format";
        let function = function.to_owned();
        Ok(Step::Call(CallStep { id, function, overload, implementation, stops_early, regex, args }))
    }

    fn plan_fold(&self, id: Id, c: &Comprehension) -> Outcome<Step> {
        Ok(Step::Fold(Box::new(Fold {
            id,
            accu: c.accu.clone(),
            var: c.var.clone(),
            var2: c.var2.clone(),
            init: self.plan(&c.init)?,
            range: self.plan(&c.range)?,
            condition: self.plan(&c.condition)?,
            step: self.plan(&c.step)?,
            result: self.plan(&c.result)?,
        })))
    }
}

fn plan_index(id: Id, operand: Step, index: Step, optional: bool) -> Outcome<Step> {
    let mut attr = operand.into_attr();
    let kind = match index {
        Step::Const { value, .. } => {
            usable(&value)?;
            QualifierKind::Const(value)
        }
        Step::Attr(index) | Step::Has { attr: index, .. } => QualifierKind::Attr(index),
        step => {
            let base = Base::Step { id, step: Box::new(step) };
            QualifierKind::Attr(Attr { base, qualifiers: Vec::new() })
        }
    };
    attr.add(Qualifier { id, optional, kind: Arc::new(kind) });
    Ok(Step::Attr(attr))
}

/// Whether a value can be a key or an index.
pub(crate) fn usable(value: &Value) -> Outcome<()> {
    match value {
        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_) => Ok(()),
        other => fail(format!("invalid qualifier type: {}", other.go_type())),
    }
}
