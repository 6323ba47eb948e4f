//! Estimates of the costs of comprehensions.

use super::super::size::Range;
use super::{Coster, Local};
use crate::ast::{Comprehension, Expr, Kind};
use crate::types::Type;
use crate::value::Value;

impl Coster<'_> {
    /// Adds the variable of a comprehension: with `key` for keys or indices, otherwise for values or elements.
    fn iterate(&mut self, name: &str, range: &Expr, key: bool, single: bool) {
        let entries = self.entries(range);
        let is_list = match entries {
            Some(entries) => entries.is_list,
            None => matches!(self.checked.type_of(range.id), Type::List(_)),
        };
        let by_key = if single { !is_list } else { key };
        let size = entries.map(|entries| if by_key { entries.key } else { entries.value });
        let step = match (is_list, by_key) {
            (true, true) => "@indices",
            (true, false) => "@items",
            (false, true) => "@keys",
            (false, false) => "@values",
        };
        let path = self.path(range).then(step);
        self.push(name, Local { path, size, entries: None });
    }

    fn push_value(&mut self, name: &str, expr: &Expr) {
        let (path, entries) = (self.path(expr), self.entries(expr));
        let size = self.size(expr);
        self.push(name, Local { path, size, entries });
    }

    pub(super) fn cost_comprehension(&mut self, expr: &Expr, c: &Comprehension) -> Range {
        let mut cost = self.cost(&c.range).plus(self.cost(&c.init));
        self.push_value(&c.accu, &c.init);
        match &c.var2 {
            Some(var2) => {
                self.iterate(&c.var, &c.range, true, false);
                self.iterate(var2, &c.range, false, false);
            }
            None => self.iterate(&c.var, &c.range, false, true),
        }
        let round = self.cost(&c.condition).plus(self.cost(&c.step));
        self.pop(&c.var);
        if let Some(var2) = &c.var2 {
            self.pop(var2);
        }
        cost = cost.plus(self.cost(&c.result));
        self.pop(&c.accu);
        let rounds = self.size_or_unknown(&c.range);
        match &c.init.kind {
            Kind::Literal(_) => {
                if let Some(size) = self.size(&c.init) {
                    self.known.insert(expr.id, size);
                }
            }
            Kind::List(_) | Kind::Map(_) => {
                self.known.insert(expr.id, rounds);
                if let Some(entries) = self.entries(&c.step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        cost.plus(rounds.times(round))
    }

    pub(super) fn cost_bind(&mut self, expr: &Expr, c: &Comprehension) -> Range {
        let mut cost = self.cost(&c.range).plus(self.cost(&c.init));
        self.push_value(&c.accu, &c.init);
        cost = cost.plus(self.cost(&c.result));
        self.pop(&c.accu);
        if let Some(size) = self.size(&c.result) {
            self.known.insert(expr.id, size);
        }
        if let Some(entries) = self.entries(&c.result) {
            self.entries.insert(expr.id, entries);
        }
        cost
    }
}

/// Whether a comprehension only gives a name to a value.
pub(super) fn is_bind(c: &Comprehension) -> bool {
    matches!(&c.range.kind, Kind::List(list) if list.elements.is_empty())
        && matches!(c.condition.kind, Kind::Literal(Value::Bool(false)))
        && c.accu != "__result__"
}
