//! Estimates of an expression's cost from the sizes of its variables.
//!
//! Port of `checker/cost.go` of cel-go v0.29.2. As in Kubernetes, a test of presence costs nothing.

pub use super::size::Range as CostEstimate;

mod comprehensions;

use super::STRING;
use super::functions;
use super::path::Path;
use super::size::Range;
use crate::ast::{ACCUMULATOR, Call, Expr, Id, Kind};
use crate::check::{Checked, Reference};
use crate::schema::Declared;
use crate::types::Type;
use crate::value::Value;
use std::collections::HashMap;

/// The greatest sizes of variables and their parts.
pub trait Sizes {
    /// The greatest size of the part at a path: the name of a variable, then fields, `@items`, `@values`, `@keys` or
    /// `@indices`. `None` if it is unknown.
    fn max_size(&self, path: &[String]) -> Option<u64>;
}

/// The sizes of a custom resource: every variable has this type.
impl Sizes for Declared {
    fn max_size(&self, path: &[String]) -> Option<u64> {
        self.max_elements(path.get(1..)?)
    }
}

/// Sizes that are all unknown.
#[derive(Debug, Clone, Copy)]
pub struct UnknownSizes;

impl Sizes for UnknownSizes {
    fn max_size(&self, _: &[String]) -> Option<u64> {
        None
    }
}

/// The sizes of the elements of a list, or of the keys and values of a map.
#[derive(Debug, Clone, Copy)]
struct Entries {
    is_list: bool,
    key: Range,
    value: Range,
}

impl Entries {
    fn or(self, other: Self) -> Self {
        Self { key: self.key.or(other.key), value: self.value.or(other.value), ..self }
    }
}

#[derive(Debug, Clone)]
struct Local {
    path: Path,
    size: Option<Range>,
    entries: Option<Entries>,
}

/// A part of an expression, for estimates of calls.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) path: Path,
    pub(super) t: Type,
    pub(super) size: Option<Range>,
    pub(super) literal: Option<Value>,
}

/// The cost of a call, and the size of its result.
pub(super) struct CallEstimate {
    pub(super) cost: Range,
    pub(super) size: Option<Range>,
}

struct Coster<'a> {
    checked: &'a Checked,
    sizes: &'a dyn Sizes,
    paths: HashMap<Id, Path>,
    locals: HashMap<String, Vec<Local>>,
    known: HashMap<Id, Range>,
    entries: HashMap<Id, Entries>,
}

const ONE: Range = Range::fixed(1);

/// Estimates an expression.
pub(crate) fn estimate(checked: &Checked, sizes: &dyn Sizes) -> CostEstimate {
    let mut coster = Coster {
        checked,
        sizes,
        paths: HashMap::new(),
        locals: HashMap::new(),
        known: HashMap::new(),
        entries: HashMap::new(),
    };
    coster.cost(&checked.ast.root)
}

fn sum(costs: &[Range]) -> Range {
    costs.iter().fold(Range::fixed(0), |sum, cost| sum.plus(*cost))
}

impl Coster<'_> {
    fn cost(&mut self, expr: &Expr) -> Range {
        match &expr.kind {
            Kind::Unspecified | Kind::Literal(_) => Range::fixed(0),
            Kind::Ident(name) => {
                let path = self.local(name).map_or_else(|| Path::of(name), |local| local.path.clone());
                self.paths.insert(expr.id, path);
                ONE
            }
            Kind::Select(select) => {
                let mut cost = self.cost(&select.operand);
                if select.test_only {
                    return cost;
                }
                if let Type::Map(..) | Type::Struct(_) | Type::Param(_) = self.checked.type_of(select.operand.id) {
                    cost = cost.plus(ONE);
                }
                let path = self.path(&select.operand).then(&select.field);
                self.paths.insert(expr.id, path);
                cost
            }
            Kind::Call(call) => self.cost_call(expr, call),
            Kind::List(list) => {
                let least = if list.elements.is_empty() { 0 } else { u64::MAX };
                let (mut cost, mut size) = (Range::fixed(0), Range { min: least, max: 0 });
                for element in &list.elements {
                    cost = cost.plus(self.cost(element));
                    size = size.or(self.size_or_unknown(element));
                }
                self.entries.insert(expr.id, Entries { is_list: true, key: ONE, value: size });
                cost.plus(Range::fixed(10))
            }
            Kind::Map(entries) => {
                let least = if entries.is_empty() { 0 } else { u64::MAX };
                let empty = Range { min: least, max: 0 };
                let (mut cost, mut keys, mut values) = (Range::fixed(0), empty, empty);
                for entry in entries {
                    cost = cost.plus(self.cost(&entry.key)).plus(self.cost(&entry.value));
                    keys = keys.or(self.size_or_unknown(&entry.key));
                    values = values.or(self.size_or_unknown(&entry.value));
                }
                self.entries.insert(expr.id, Entries { is_list: false, key: keys, value: values });
                cost.plus(Range::fixed(30))
            }
            Kind::Struct(object) => {
                let fields = object.fields.iter().map(|field| &field.value);
                fields.fold(Range::fixed(0), |cost, field| cost.plus(self.cost(field))).plus(Range::fixed(40))
            }
            Kind::Comprehension(c) if comprehensions::is_bind(c) => self.cost_bind(expr, c),
            Kind::Comprehension(c) => self.cost_comprehension(expr, c),
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.get(name).and_then(|stack| stack.last())
    }

    fn push(&mut self, name: &str, local: Local) {
        self.locals.entry(name.to_owned()).or_default().push(local);
    }

    fn pop(&mut self, name: &str) {
        if let Some(stack) = self.locals.get_mut(name) {
            stack.pop();
        }
    }

    fn path(&self, expr: &Expr) -> Path {
        if let Kind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    /// The size of an expression; `None` if it is unknown.
    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.known.get(&expr.id) {
            return Some(*size);
        }
        let written = match &expr.kind {
            Kind::Literal(value) => Some(value.size().unwrap_or(1)),
            Kind::List(list) => Some(list.elements.len() as u64),
            Kind::Map(entries) => Some(entries.len() as u64),
            _ => None,
        };
        if let Some(size) = written {
            return Some(Range::fixed(size));
        }
        if let Some(max) = self.sizes.max_size(&self.path(expr).parts()) {
            let size = Range { min: 0, max };
            self.known.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.checked.type_of(expr.id)) {
            return Some(ONE);
        }
        match &expr.kind {
            Kind::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn entries(&self, expr: &Expr) -> Option<Entries> {
        let of_local = || match &expr.kind {
            Kind::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        };
        self.entries.get(&expr.id).copied().or_else(of_local)
    }

    fn node(&mut self, expr: &Expr) -> Node {
        let mut path = self.path(expr);
        if path.parts().first().is_some_and(|first| first == ACCUMULATOR || first == "__result__") {
            path = Path::default();
        }
        let literal = match &expr.kind {
            Kind::Literal(value) => Some(value.clone()),
            _ => None,
        };
        Node { path, t: self.checked.type_of(expr.id).clone(), size: self.size(expr), literal }
    }

    fn cost_call(&mut self, expr: &Expr, call: &Call) -> Range {
        if call.function == "dyn"
            && let [arg] = call.args.as_slice()
        {
            let cost = self.cost(arg);
            if let Some(size) = self.size(arg) {
                self.known.insert(expr.id, size);
            }
            if let Some(entries) = self.entries(arg) {
                self.entries.insert(expr.id, entries);
            }
            return cost.plus(ONE);
        }
        let mut costs = Vec::with_capacity(call.args.len());
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            costs.push(self.cost(arg));
            args.push(self.node(arg));
        }
        let overloads = match self.checked.references.get(&expr.id) {
            Some(Reference::Overloads(overloads)) => overloads.clone(),
            _ => return Range::fixed(0),
        };
        let mut before = Range::fixed(0);
        let mut target = None;
        if let Some(expr) = &call.target {
            before = self.cost(expr);
            target = Some(self.node(expr));
        }
        let mut cost = Range { min: u64::MAX, max: 0 };
        let mut size: Option<Range> = None;
        for overload in overloads {
            let estimate = self.cost_overload(expr, call, overload, target.as_ref(), &args, &costs);
            cost = cost.or(estimate.cost);
            if let Some(found) = estimate.size {
                size = Some(size.map_or(found, |size| size.or(found)));
            }
            if let ("index_list" | "index_map", Some(operand)) = (overload, call.args.first()) {
                size = self.entries(operand).map(|entries| entries.value);
                let path = self.path(operand).then(if overload == "index_list" { "@items" } else { "@values" });
                self.paths.insert(expr.id, path);
            }
            size = size.or_else(|| self.size(expr));
        }
        if let Some(size) = size {
            self.known.insert(expr.id, size);
        }
        before.plus(cost)
    }

    fn cost_overload(
        &mut self,
        expr: &Expr,
        call: &Call,
        overload: &str,
        target: Option<&Node>,
        args: &[Node],
        costs: &[Range],
    ) -> CallEstimate {
        if let Some(estimate) = functions::estimate(&call.function, overload, target, args, self.sizes) {
            return CallEstimate { cost: estimate.cost.plus(sum(costs)), ..estimate };
        }
        let of = |node: Option<&Node>| node.and_then(|node| node.size).unwrap_or(Range::UNKNOWN);
        let arg = |i: usize| of(args.get(i));
        let plain = |cost: Range| CallEstimate { cost: cost.plus(sum(costs)), size: None };
        let sized = |cost: Range, size: Range| CallEstimate { cost: cost.plus(sum(costs)), size: Some(size) };
        match overload {
            "string_format" if target.is_some() => plain(of(target).scaled(STRING)),
            "string_to_bytes" => {
                let size = arg(0);
                sized(size.scaled(STRING), Range { min: size.min, max: size.max.wrapping_mul(4) })
            }
            "bytes_to_string" => {
                let size = arg(0);
                sized(size.scaled(STRING), Range { min: size.min / 4, max: size.max })
            }
            "strings_quote" => {
                let size = arg(0);
                let quoted = Range { min: size.min.wrapping_add(2), max: size.max.wrapping_mul(2).wrapping_add(2) };
                sized(size.scaled(STRING), quoted)
            }
            "starts_with_string" | "ends_with_string" => plain(arg(0).scaled(STRING)),
            "in_list" => plain(arg(1).scaled(1.0)),
            "matches" | "matches_string" => {
                let (subject, regex) = if overload == "matches" { (arg(0), arg(1)) } else { (of(target), arg(0)) };
                plain(subject.plus(ONE).scaled(STRING).times(regex.scaled(super::REGEX)))
            }
            "contains_string" => plain(of(target).scaled(STRING).times(arg(0).scaled(STRING))),
            "logical_or" | "logical_and" => {
                let cost = Range { min: costs[0].min, max: costs[0].plus(costs[1]).max };
                CallEstimate { cost, size: None }
            }
            "conditional" => {
                let (yes, no) = (self.entries(&call.args[1]), self.entries(&call.args[2]));
                if let (Some(yes), Some(no)) = (yes, no) {
                    self.entries.insert(expr.id, yes.or(no));
                }
                let cost = costs[0].plus(costs[1].or(costs[2]));
                CallEstimate { cost, size: Some(arg(1).or(arg(2))) }
            }
            "add_string" | "add_bytes" | "add_list" => {
                let size = arg(0).plus(arg(1));
                if let (Some(a), Some(b)) = (self.entries(&call.args[0]), self.entries(&call.args[1])) {
                    self.entries.insert(expr.id, a.or(b));
                }
                sized(if overload == "add_list" { ONE } else { size.scaled(STRING) }, size)
            }
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals" => {
                let max = arg(0).max.min(arg(1).max);
                plain(Range { min: u64::from(max > 0), max }.scaled(STRING))
            }
            _ => plain(ONE),
        }
    }
}

fn is_scalar(t: &Type) -> bool {
    match t {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        other => other.optional_of().is_some_and(is_scalar),
    }
}
