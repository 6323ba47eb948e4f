//! The tree of an expression after parsing, with macros expanded and names unresolved.

use crate::value::Value;
use std::collections::HashMap;

/// The id of an expression, unique in its tree, by which facts about it are kept.
pub(crate) type Id = i64;

#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) id: Id,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// The place of a syntax error.
    Unspecified,
    Literal(Value),
    Ident(String),
    Select(Select),
    Call(Call),
    List(List),
    Map(Vec<Entry>),
    Struct(Struct),
    Comprehension(Box<Comprehension>),
}

#[derive(Debug, Clone)]
pub(crate) struct Select {
    pub(crate) operand: Box<Expr>,
    pub(crate) field: String,
    /// Whether it only tests that the field is set: `has(operand.field)`.
    pub(crate) test_only: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) target: Option<Box<Expr>>,
    pub(crate) function: String,
    pub(crate) args: Vec<Expr>,
}

#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) elements: Vec<Expr>,
    /// The indices of elements with a question mark.
    pub(crate) optional: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Comprehension {
    pub(crate) range: Expr,
    pub(crate) var: String,
    pub(crate) var2: Option<String>,
    pub(crate) accu: String,
    pub(crate) init: Expr,
    pub(crate) condition: Expr,
    pub(crate) step: Expr,
    pub(crate) result: Expr,
}

/// The accumulator of macros, which expressions cannot name.
pub(crate) const ACCUMULATOR: &str = "@result";

/// A tree, with the places of its expressions in the text.
#[derive(Debug)]
pub(crate) struct Ast {
    pub(crate) root: Expr,
    pub(crate) places: HashMap<Id, usize>,
}

impl Ast {
    pub(crate) fn place(&self, id: Id) -> Option<usize> {
        self.places.get(&id).copied()
    }
}

impl Expr {
    /// The number of levels.
    pub(crate) fn depth(&self) -> usize {
        1 + self.children().into_iter().map(Expr::depth).max().unwrap_or(0)
    }

    /// The expressions directly below this one.
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Unspecified | Kind::Literal(_) | Kind::Ident(_) => Vec::new(),
            Kind::Select(select) => vec![&select.operand],
            Kind::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
            Kind::List(list) => list.elements.iter().collect(),
            Kind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
            Kind::Struct(object) => object.fields.iter().map(|field| &field.value).collect(),
            Kind::Comprehension(c) => vec![&c.range, &c.init, &c.condition, &c.step, &c.result],
        }
    }
}
