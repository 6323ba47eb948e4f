//! Evaluation of expressions, with its cost.
//!
//! Port of `interpreter/interpretable.go` and `interpreter/runtimecost.go` of cel-go v0.29.2.

mod attributes;
mod fold;

use crate::ast::Id;
use crate::cost::actual;
use crate::deep;
use crate::functions::Functions;
use crate::go_regex;
use crate::library::patch::Patch;
use crate::library::{self, Opaque, regex};
use crate::plan::{CallStep, Step, push_element};
use crate::types::Type;
use crate::value::{EvalError, Key, Map, Outcome, Value, fail, no_such_overload};
use fold::Frame;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The cost limit of one evaluation in Kubernetes.
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The number of iterations of comprehensions between two checks of the interrupt.
const CHECK_FREQUENCY: u64 = 100;

/// A program: an expression that can be evaluated, also by several threads at once.
#[derive(Debug)]
pub struct Program {
    step: Step,
    functions: Arc<Functions>,
    goes_deep: bool,
}

/// The values of variables.
#[derive(Debug, Clone, Default)]
pub struct Bindings(HashMap<String, Value>);

impl Bindings {
    /// Bindings without variables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a variable.
    pub fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Removes a variable, which expressions then fail to read.
    pub fn unset(&mut self, name: &str) {
        self.0.remove(name);
    }
}

/// The cost limit of evaluations, and their cost so far.
pub struct Budget<'a> {
    limit: u64,
    cost: u64,
    interrupt: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Budget<'a> {
    /// A budget of `limit` units.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, cost: 0, interrupt: &|| false }
    }

    /// Ends evaluations when `interrupt` returns true. Comprehensions call it from time to time.
    #[must_use]
    pub fn interrupted_by(self, interrupt: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { interrupt, ..self }
    }

    /// The cost so far, in units of cel-go.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }
}

impl std::fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("limit", &self.limit).field("cost", &self.cost).finish_non_exhaustive()
    }
}

impl Program {
    pub(crate) fn new(step: Step, functions: Arc<Functions>, goes_deep: bool) -> Self {
        Self { step, functions, goes_deep }
    }

    /// Evaluates the program. Its cost is added to the budget, also if there is an error.
    ///
    /// # Errors
    /// If the expression has no value for these variables, costs too much, or is interrupted.
    pub fn evaluate(&self, bindings: &Bindings, budget: &mut Budget<'_>) -> Outcome {
        self.evaluate_on(bindings, budget, self.goes_deep)
    }

    /// Evaluates the program within the evaluation of others, which leaves little of the present stack.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn evaluate_within(&self, bindings: &Bindings, budget: &mut Budget<'_>) -> Outcome {
        self.evaluate_on(bindings, budget, true)
    }

    fn evaluate_on(&self, bindings: &Bindings, budget: &mut Budget<'_>, goes_deep: bool) -> Outcome {
        let mut run = Run {
            functions: &self.functions,
            bindings,
            limit: budget.limit,
            interrupt: budget.interrupt,
            cost: 0,
            seen: Vec::new(),
            frames: Vec::new(),
            current: None,
            iterations: 0,
        };
        let result = deep::with_room(goes_deep, || run.eval(&self.step));
        budget.cost += run.cost;
        result.map(|value| match value {
            Value::List(list) => Value::List(list.settled()),
            value => value,
        })
    }
}

/// An evaluation in progress.
struct Run<'a> {
    functions: &'a Functions,
    bindings: &'a Bindings,
    limit: u64,
    interrupt: &'a (dyn Fn() -> bool + Sync),
    cost: u64,
    /// The evaluated steps whose values have not been used; the costs of calls are counted only if all their arguments are
    /// among them.
    seen: Vec<Id>,
    frames: Vec<Frame<'a>>,
    current: Option<usize>,
    iterations: u64,
}

impl<'a> Run<'a> {
    /// Records an evaluated step, and ends the evaluation if it exceeds the limit.
    fn note(&mut self, id: Id, cost: u64) -> Outcome<()> {
        self.cost = self.cost.saturating_add(cost);
        self.seen.push(id);
        if self.cost > self.limit {
            return Err(EvalError::CostLimitExceeded);
        }
        Ok(())
    }

    /// Removes a step and all after it from the record.
    fn forget(&mut self, id: Id) -> bool {
        match self.seen.iter().rposition(|seen| *seen == id) {
            Some(place) => {
                self.seen.truncate(place);
                true
            }
            None => false,
        }
    }

    /// Removes the arguments of a step, the last first. Returns whether all of them were recorded.
    fn forget_all(&mut self, ids: impl DoubleEndedIterator<Item = Id>) -> bool {
        for id in ids.rev() {
            if !self.forget(id) {
                return false;
            }
        }
        true
    }

    fn eval(&mut self, step: &'a Step) -> Outcome {
        match step {
            Step::Const { id, value } => {
                self.note(*id, 0)?;
                Ok(value.clone())
            }
            Step::Attr(attr) => self.eval_attr(attr),
            Step::Has { id, attr } => self.eval_has(*id, attr),
            Step::Logic { id, is_or, terms } => self.eval_logic(*id, *is_or, terms),
            Step::Equal { id, negated, args } => self.eval_equal(*id, *negated, args),
            Step::Call(call) => self.eval_call(call),
            Step::Otherwise { id, gives_value, first, second } => {
                let result = self.eval_otherwise(*gives_value, first, second);
                self.finish(*id, 0, result)
            }
            Step::Member { id, element, of } => {
                let result = self.eval(element).map(|value| Value::Bool(of.contains(&Key::of(&value))));
                self.finish(*id, 0, result)
            }
            Step::List { id, elements } => {
                let result = self.eval_list(elements);
                self.forget_all(elements.iter().map(|(step, _)| step.id()));
                self.finish(*id, actual::LIST, result)
            }
            Step::Map { id, entries } => {
                let result = self.eval_map(entries);
                self.forget_all(entries.iter().flat_map(|(key, value, _)| [key.id(), value.id()]));
                self.finish(*id, actual::MAP, result)
            }
            Step::Struct { id, name, fields } => {
                let result = self.eval_struct(name, fields);
                self.forget_all(fields.iter().map(|(_, step, _)| step.id()));
                self.finish(*id, actual::STRUCT, result)
            }
            Step::Fold(fold) => {
                let result = self.eval_fold(fold);
                let id = fold.range.id();
                self.forget(id);
                self.finish(fold.id, 0, result)
            }
        }
    }

    /// Records a step with its result, unless the evaluation has ended.
    fn finish(&mut self, id: Id, cost: u64, result: Outcome) -> Outcome {
        match result {
            Err(error) if error.ends_evaluation() => Err(error),
            result => {
                self.note(id, cost)?;
                result
            }
        }
    }

    fn eval_logic(&mut self, id: Id, is_or: bool, terms: &'a [Step]) -> Outcome {
        let mut result = Ok(Value::Bool(!is_or));
        for term in terms {
            match self.eval(term) {
                Ok(Value::Bool(value)) if value == is_or => {
                    result = Ok(Value::Bool(is_or));
                    break;
                }
                Ok(Value::Bool(_)) => {}
                Err(error) if error.ends_evaluation() => return Err(error),
                Ok(_) if result.is_ok() => result = no_such_overload(),
                Err(error) if result.is_ok() => result = Err(error),
                _ => {}
            }
        }
        for term in terms {
            let id = term.id();
            self.forget(id);
        }
        self.finish(id, 0, result)
    }

    fn eval_equal(&mut self, id: Id, negated: bool, args: &'a [Step]) -> Outcome {
        let mut values = Vec::with_capacity(2);
        for arg in args {
            match self.eval(arg) {
                Err(error) if error.ends_evaluation() => return Err(error),
                value => values.push(value),
            }
        }
        let result = match values.as_slice() {
            [Err(error), _] | [_, Err(error)] => Err(error.clone()),
            [Ok(a), Ok(b)] if negated => Ok(Value::Bool(!matches!(a.is_equal(b), Ok(true)))),
            [Ok(a), Ok(b)] => a.is_equal(b).map(Value::Bool),
            _ => no_such_overload(),
        };
        let (function, overload) = if negated { ("_!=_", "not_equals") } else { ("_==_", "equals") };
        let known = self.forget_all(args.iter().map(Step::id));
        let cost = if known { actual::call(function, overload, &values, &result) } else { 0 };
        self.finish(id, cost, result)
    }

    fn eval_call(&mut self, call: &'a CallStep) -> Outcome {
        let mut values = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            let value = self.eval(arg);
            match &value {
                Err(error) if error.ends_evaluation() => return value,
                Err(_) if call.stops_early => {
                    let known = self.forget_all(call.args.iter().map(Step::id));
                    let result = value.clone();
                    values.push(value);
                    values.resize(call.args.len(), no_such_overload());
                    let overload = call.overload.unwrap_or_default();
                    let cost = if known { actual::call(&call.function, overload, &values, &result) } else { 0 };
                    return self.finish(call.id, cost, result);
                }
                _ => values.push(value),
            }
        }
        let overload = call.overload.unwrap_or_default();
        // A growing list or map is not copied, so there must be no other reference to it.
        if let "_+_" | "cel.@mapInsert" = call.function.as_str() {
            let known = self.forget_all(call.args.iter().map(Step::id));
            let cost = if known { actual::call(&call.function, overload, &values, &no_such_overload()) } else { 0 };
            let result = self.grow(call, values);
            return self.finish(call.id, cost, result);
        }
        let result = self.apply(call, &values);
        let known = self.forget_all(call.args.iter().map(Step::id));
        let cost = if known { actual::call(&call.function, overload, &values, &result) } else { 0 };
        self.finish(call.id, cost, result)
    }

    fn apply(&self, call: &CallStep, values: &[Outcome]) -> Outcome {
        if call.function == "@not_strictly_false" {
            return Ok(match &values[0] {
                Ok(Value::Bool(value)) => Value::Bool(*value),
                _ => Value::Bool(true),
            });
        }
        let args: Vec<Value> = values.iter().cloned().collect::<Outcome<_>>()?;
        if let (Some(pattern), Some(Value::String(subject))) = (&call.regex, args.first()) {
            let compiled = &*go_regex::compile(pattern).or_else(fail)?;
            return match (call.function.as_str(), args.get(2)) {
                ("find", _) => regex::find(subject, compiled),
                ("findAll", None) => regex::find_all(subject, compiled, -1),
                ("findAll", Some(Value::Int(count))) => regex::find_all(subject, compiled, *count),
                ("matches", _) => Ok(Value::Bool(compiled.is_match(subject))),
                _ => no_such_overload(),
            };
        }
        if call.regex.is_some() {
            return no_such_overload();
        }
        library::call(call.implementation, &call.function, &args, self.functions)
    }

    fn grow(&self, call: &CallStep, values: Vec<Outcome>) -> Outcome {
        let args: Vec<Value> = values.into_iter().collect::<Outcome<_>>()?;
        if call.function == "_+_" && matches!(args.as_slice(), [Value::List(_), Value::List(_)]) {
            let mut args = args.into_iter();
            if let (Some(Value::List(list)), Some(Value::List(more))) = (args.next(), args.next()) {
                return list.join(&more).map(Value::List);
            }
            return no_such_overload();
        }
        if matches!(args.as_slice(), [Value::Map(_), _, _]) {
            let mut args = args.into_iter();
            if let (Some(Value::Map(map)), Some(key), Some(value)) = (args.next(), args.next(), args.next()) {
                return map.with(key, value).map(Value::Map);
            }
            return no_such_overload();
        }
        library::call(call.implementation, &call.function, &args, self.functions)
    }

    fn eval_otherwise(&mut self, gives_value: bool, first: &'a Step, second: &'a Step) -> Outcome {
        match self.eval(first)? {
            Value::Optional(Some(value)) if gives_value => (*value).clone().looked_at(),
            found @ Value::Optional(Some(_)) => Ok(found),
            Value::Optional(None) => self.eval(second),
            _ => no_such_overload(),
        }
    }

    fn eval_list(&mut self, elements: &'a [(Step, bool)]) -> Outcome {
        let mut values = Vec::with_capacity(elements.len());
        for (step, optional) in elements {
            let value = self.eval(step)?;
            push_element(&mut values, value, *optional)?;
        }
        Ok(Value::from(values))
    }

    fn eval_map(&mut self, entries: &'a [(Step, Step, bool)]) -> Outcome {
        let mut values = crate::value::Entries::default();
        for (key, value, optional) in entries {
            let key = self.eval(key)?;
            match (self.eval(value)?, optional) {
                (Value::Optional(Some(value)), true) => values.insert(key, (*value).clone()),
                (Value::Optional(None), true) => values.remove(&key),
                (other, true) => {
                    return fail(format!("cannot initialize optional entry '{key}' from non-optional value {other}"));
                }
                (value, false) => values.insert(key, value),
            }
        }
        Ok(Value::Map(Map::Plain(Arc::new(values))))
    }

    fn eval_struct(&mut self, name: &Arc<str>, fields: &'a [(Arc<str>, Step, bool)]) -> Outcome {
        let mut values = BTreeMap::new();
        for (field, step, optional) in fields {
            let value = match (self.eval(step)?, optional) {
                (Value::Optional(value), true) => value.as_deref().cloned(),
                (other, true) => {
                    return fail(format!("cannot initialize optional entry '{field}' from non-optional value {other}"));
                }
                (value, false) => Some(value),
            };
            match value {
                Some(value) => drop(values.insert(field.clone(), value)),
                None => drop(values.remove(field)),
            }
        }
        Patch::new(name, values).map(|patch| Value::Opaque(Opaque::Patch(Arc::new(patch))))
    }

    fn type_named(name: &str) -> Option<Type> {
        crate::env::known_type(name)
    }
}
