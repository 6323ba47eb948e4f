//! The parts of a variable that expressions read, so that the rest of an object need not be made into a value.

use crate::ast::{Expr, Kind};
use crate::value::Value;
use std::collections::BTreeMap;

/// The parts of a value that expressions read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts {
    /// All of it.
    Whole,
    /// These fields of it, by the names in the expressions; without any, only whether it is there.
    Fields(BTreeMap<String, Parts>),
}

impl Default for Parts {
    fn default() -> Self {
        Self::Fields(BTreeMap::new())
    }
}

impl Parts {
    /// The parts of a variable that an expression reads, or more.
    pub(crate) fn read(expr: &Expr, variable: &str) -> Self {
        let mut parts = Self::default();
        parts.collect(expr, variable);
        parts
    }

    /// The parts of a field, by its name in the expressions; `None` if it is not read.
    #[must_use]
    pub fn of(&self, field: &str) -> Option<&Parts> {
        static WHOLE: Parts = Parts::Whole;
        match self {
            Self::Whole => Some(&WHOLE),
            Self::Fields(fields) => fields.get(field),
        }
    }

    /// Whether nothing is read but that the value is there.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Fields(fields) if fields.is_empty())
    }

    /// Adds the parts that another expression reads.
    pub fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Whole, _) => {}
            (_, Self::Whole) => *self = Self::Whole,
            (Self::Fields(fields), Self::Fields(others)) => {
                others.into_iter().for_each(|(name, parts)| fields.entry(name).or_default().join(parts));
            }
        }
    }

    fn collect(&mut self, expr: &Expr, variable: &str) {
        let mut path = Vec::new();
        if is_part(expr, variable, &mut path) {
            let only_presence = matches!(&expr.kind, Kind::Select(select) if select.test_only);
            let end = if only_presence { Self::default() } else { Self::Whole };
            // The last field comes first.
            let around = |parts, name: &str| Self::Fields(BTreeMap::from([(name.to_owned(), parts)]));
            return self.join(path.into_iter().fold(end, around));
        }
        expr.children().into_iter().for_each(|child| self.collect(child, variable));
    }
}

/// Whether an expression is a variable or a field in it, by its name. Its path is added from the end.
fn is_part<'e>(expr: &'e Expr, variable: &str, path: &mut Vec<&'e str>) -> bool {
    match &expr.kind {
        Kind::Ident(name) => name.trim_start_matches('.') == variable,
        Kind::Select(select) => {
            path.push(&select.field);
            is_part(&select.operand, variable, path)
        }
        Kind::Call(call) if matches!(call.function.as_str(), "_?._" | "_[_]" | "_[?_]") => match call.args.as_slice() {
            [operand, Expr { kind: Kind::Literal(Value::String(name)), .. }] => {
                path.push(name);
                is_part(operand, variable, path)
            }
            _ => false,
        },
        _ => false,
    }
}
