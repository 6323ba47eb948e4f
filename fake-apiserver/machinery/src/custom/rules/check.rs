//! The evaluation of rules: `validate` and what it calls in `pkg/apiserver/schema/cel/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::compile::{Code, Compiled, OLD_SELF, SELF};
use super::message::{self, NoMessage};
use super::tree::{Node, Reads, Rule};
use crate::custom::schema::{self, Old};
use crate::deadline::Deadline;
use crate::error::{FieldError, Path};
use kubernetes_cel::{Bindings, Budget, EvalError, Outcome, PER_CALL_LIMIT};
use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use tree::Value;

/// `RuntimeCELCostBudget`.
const BUDGET: u64 = 10_000_000;
/// The most bytes of findings that are reported: more than fits into an answer.
const MAX_REPORTED_BYTES: usize = 4 << 20;

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// Is told how rules decide.
pub trait Observer: std::fmt::Debug {
    /// The rule about the value at `at` is true or false there, or `None` if it cannot be evaluated.
    fn decided(&self, at: Path<'_>, rule: &str, value: Option<bool>);
}

/// The evaluation of the rules about one object, with the rest of its budget.
#[derive(Debug)]
pub struct Check<'c> {
    deadline: &'c Deadline,
    observer: Option<&'c dyn Observer>,
    budget: u64,
    room: usize,
    /// The errors, in order.
    pub errors: Vec<FieldError>,
    /// Broken rules that are forgiven because the value has not changed.
    pub warnings: Vec<String>,
}

/// The old value in the place of a new one.
#[derive(Debug, Clone, Copy)]
pub struct Before<'v> {
    old: Option<Old<'v>>,
    /// The value, or the nearest around it, that broken rules are forgiven for if it has not changed (`ratchetingOptions`).
    forgiving: Option<(Old<'v>, &'v schema::Node, &'v Value)>,
}

impl<'v> Before<'v> {
    /// Nothing.
    pub const NOTHING: Before<'static> = Before { old: None, forgiving: None };

    /// Another value. Unchanged parts must obey the rules all the same.
    pub fn strict(old: Old<'v>) -> Self {
        Before { old: Some(old), forgiving: None }
    }

    /// Another value, which `new` replaces. Broken rules about unchanged parts are forgiven.
    pub fn forgiving(old: Old<'v>, node: &'v schema::Node, new: &'v Value) -> Self {
        Before { old: Some(old), forgiving: Some((old, node, new)) }
    }

    /// The old value in the place of a part of the value.
    fn part(self, old: Option<Old<'v>>, node: &'v schema::Node, new: &'v Value) -> Self {
        let old = old.filter(|old| !old.is_null());
        let forgiving = self.forgiving.map(|around| old.map_or(around, |old| (old, node, new)));
        Before { old, forgiving }
    }

    fn forgives(self) -> bool {
        self.forgiving.is_some_and(|(old, node, new)| old.equals(node, new))
    }
}

/// A value that rules are about.
#[derive(Clone, Copy)]
struct Subject<'v> {
    rules: &'v Node,
    at: Path<'v>,
    value: &'v Value,
    before: Before<'v>,
}

impl<'c> Check<'c> {
    /// A check that ends when the time is up.
    pub fn new(deadline: &'c Deadline) -> Self {
        let (errors, warnings) = (Vec::new(), Vec::new());
        Check { deadline, observer: None, budget: BUDGET, room: MAX_REPORTED_BYTES, errors, warnings }
    }

    /// The same, but it tells how rules decide.
    #[must_use]
    pub fn observed(self, observer: Option<&'c dyn Observer>) -> Self {
        Check { observer, ..self }
    }

    /// The time at which it ends.
    pub(super) fn deadline(&self) -> &'c Deadline {
        self.deadline
    }

    /// Checks a value, unless the check has ended already.
    pub(super) fn all(&mut self, rules: &Node, node: &schema::Node, at: Path<'_>, value: &Value, before: Before<'_>) {
        if self.room > 0 && self.value(node, Subject { rules, at, value, before }).is_break() {
            self.room = 0;
        }
    }

    /// Does one check and, if it finds nothing, another. Only the cost of the more expensive one counts.
    pub(super) fn cheaper_of(&mut self, one: impl FnOnce(&mut Self), other: impl FnOnce(&mut Self)) {
        let (budget, errors) = (self.budget, self.errors.len());
        one(self);
        if self.errors.len() == errors {
            let left = std::mem::replace(&mut self.budget, budget);
            other(self);
            self.budget = self.budget.min(left);
        }
    }

    /// The rest of the budget.
    #[cfg(test)]
    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    /// Whether the check has ended before all rules were evaluated.
    pub fn has_ended(&self) -> bool {
        self.room == 0
    }

    fn value(&mut self, node: &schema::Node, subject: Subject<'_>) -> ControlFlow<()> {
        let Subject { rules, at, value, before } = subject;
        if self.deadline.check().is_err() {
            return ControlFlow::Break(());
        }
        if value.is_null() {
            return ControlFlow::Continue(());
        }
        self.own(subject)?;
        match value {
            Value::Array(items) => {
                let (Some(rules), Some(below)) = (&rules.items, &node.items) else { return ControlFlow::Continue(()) };
                let old = before.old.map(|old| old.list(node));
                for (index, value) in items.iter().enumerate() {
                    let old = old.as_ref().and_then(|old| old.of(value));
                    let before = before.part(old, below, value);
                    self.value(below, Subject { rules, at: at.index(index), value, before })?;
                }
            }
            Value::Object(object) => {
                for (name, value) in object {
                    let (Some(rules), Some(below)) = (&rules.others, node.field(name)) else { continue };
                    let before = before.field(at, name, below, value);
                    self.value(below, Subject { rules, at: at.key(name), value, before })?;
                }
                for (name, rules) in &rules.properties {
                    let (Some(value), Some(below)) = (object.get(name), node.field(name)) else { continue };
                    let before = before.field(at, name, below, value);
                    self.value(below, Subject { rules, at: at.child(name), value, before })?;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Evaluates the rules about the value itself (`validateExpressions`).
    fn own(&mut self, subject: Subject<'_>) -> ControlFlow<()> {
        let Subject { rules: node, before, .. } = subject;
        if let Some(fault) = node.fault {
            return self.failure(subject, format!("rule compiler initialization error: {fault}"));
        }
        if node.rules.is_empty() {
            return ControlFlow::Continue(());
        }
        if self.budget == 0 {
            self.failure(subject, OUT_OF_BUDGET)?;
            return ControlFlow::Break(());
        }
        let (plain, optional) = (OnceCell::new(), OnceCell::new());
        for rule in &node.rules {
            let Some(compiled) = &rule.compiled else { continue };
            let code = match &compiled.code {
                Ok(code) => code,
                Err(error) => {
                    self.failure(subject, format!("rule compile error: {error}"))?;
                    continue;
                }
            };
            if compiled.uses_old_self && before.old.is_none() && !rule.optional_old_self {
                continue;
            }
            let bindings = if rule.optional_old_self { &optional } else { &plain };
            let bindings = bindings.get_or_init(|| subject.bindings(&node.reads, rule.optional_old_self));
            let (result, cost) = self.evaluate(code, bindings);
            let Some(left) = self.budget.checked_sub(cost) else {
                self.failure(subject, OUT_OF_BUDGET)?;
                return ControlFlow::Break(());
            };
            self.budget = left;
            if let Some(observer) = self.observer {
                let value = match &result {
                    Ok(value) => Some(matches!(value, kubernetes_cel::Value::Bool(true))),
                    Err(_) => None,
                };
                observer.decided(subject.at, &rule.text, value);
            }
            match result {
                Ok(kubernetes_cel::Value::Bool(true)) => {}
                Ok(_) => self.broken(subject, rule, compiled)?,
                Err(EvalError::Interrupted) => return ControlFlow::Break(()),
                Err(error) => {
                    let message = match &error {
                        EvalError::CostLimitExceeded => format!(
                            "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                            rule.text
                        ),
                        error if error.to_string().starts_with("no such overload") => format!(
                            "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {}",
                            rule.text
                        ),
                        error => format!("{error} evaluating rule: {}", rule.text),
                    };
                    self.failure(subject, message)?;
                    if error == EvalError::CostLimitExceeded {
                        return ControlFlow::Break(());
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Evaluates an expression. Returns its cost, too.
    fn evaluate(&self, code: &Code, bindings: &Bindings) -> (Outcome, u64) {
        let interrupt = || self.deadline.check().is_err();
        if interrupt() {
            return (Err(EvalError::Interrupted), 0);
        }
        let mut budget = Budget::new(PER_CALL_LIMIT).interrupted_by(&interrupt);
        let result = code.program.evaluate(bindings, &mut budget);
        (result, budget.cost())
    }

    /// Reports a broken rule.
    fn broken(&mut self, subject: Subject<'_>, rule: &Rule, compiled: &Compiled) -> ControlFlow<()> {
        let at = subject.place(&rule.field_path);
        let forgiven = !compiled.uses_old_self && subject.before.forgives();
        let detail = match &compiled.message {
            Some(Ok(code)) => {
                // Whatever the rule may do, its message has no optional values.
                let bindings = subject.bindings(&Reads::of(code), false);
                let (result, cost) = self.evaluate(code, &bindings);
                let left = self.budget.checked_sub(cost);
                self.budget = left.unwrap_or(self.budget);
                match message::of(result, left.is_none(), &rule.message_expression) {
                    Ok(message) => message,
                    Err(NoMessage::Harmless) => rule.message.clone(),
                    Err(NoMessage::Ends(why)) => {
                        let finding = FieldError::invalid(at, &subject.rules.type_.as_str().into(), why);
                        self.tell(finding, forgiven)?;
                        return ControlFlow::Break(());
                    }
                }
            }
            _ => rule.message.clone(),
        };
        self.tell(subject.finding(at, &rule.reason, detail), forgiven)
    }

    /// Reports a rule that cannot be evaluated.
    fn failure(&mut self, subject: Subject<'_>, detail: impl Into<Arc<str>>) -> ControlFlow<()> {
        let type_ = subject.rules.type_.as_str().into();
        self.tell(FieldError::invalid(subject.place(""), &type_, detail), false)
    }

    fn tell(&mut self, finding: FieldError, forgiven: bool) -> ControlFlow<()> {
        self.room = self.room.saturating_sub(finding.bytes());
        match forgiven {
            true => self.warnings.push(finding.to_string()),
            false => self.errors.push(finding),
        }
        if self.room == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl<'v> Before<'v> {
    /// The old value of a field of the object at `at`.
    fn field(self, at: Path<'_>, name: &str, node: &'v schema::Node, new: &'v Value) -> Self {
        let part = self.part(self.old.and_then(|old| old.field(name)), node, new);
        // The apiVersion of an old object is not the one that it was written with.
        let hidden = at.is_root() && matches!(name, "apiVersion" | "kind");
        Before { forgiving: part.forgiving.filter(|_| !hidden), ..part }
    }
}

impl Subject<'_> {
    /// The variables, with as much of the values as is read.
    fn bindings(&self, reads: &Reads, optional: bool) -> Bindings {
        let mut bindings = Bindings::new();
        let schema = &self.rules.schema;
        bindings.set(SELF, schema.part(self.value, &reads.self_));
        if !self.rules.uses_old_self {
            return bindings;
        }
        let old = self.before.old.map(|old| schema.part(old.value(), &reads.old_self));
        match (old, optional) {
            (old, true) => bindings.set(OLD_SELF, kubernetes_cel::Value::Optional(old.map(Arc::new))),
            (Some(old), false) => bindings.set(OLD_SELF, old),
            (None, false) => {}
        }
        bindings
    }

    /// The place of a field of the value.
    fn place(&self, field: &str) -> String {
        match field {
            "" if self.at.is_root() => "<nil>".to_owned(),
            "" => self.at.to_string(),
            field => self.at.child(field).to_string(),
        }
    }

    /// The error for a broken rule (`fieldErrorForReason`).
    fn finding(&self, at: String, reason: &str, detail: String) -> FieldError {
        let finding = match reason {
            "FieldValueForbidden" => return FieldError::forbidden(at, detail),
            "FieldValueRequired" => return FieldError::required(at, detail),
            "FieldValueDuplicate" => FieldError::duplicate(at, self.value),
            _ => FieldError::invalid(at, self.value, detail),
        };
        match self.rules.type_.as_str() {
            "object" | "array" => finding.without_value(),
            _ => finding,
        }
    }
}
