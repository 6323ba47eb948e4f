//! Validation of calls of `format` with a literal text: the number and types of arguments.
//!
//! Port of the validator in `ext/formatting.go` of cel-go v0.29.2.

use super::Checked;
use crate::ast::{Expr, Id, Kind};
use crate::library::format::{Clause, Clauses, FormatError, interpolate};
use crate::source::Findings;
use crate::types::Type;
use crate::value::Value;

pub(super) fn validate(checked: &Checked, findings: &mut Findings) {
    visit(checked, &checked.ast.root, findings);
}

fn visit(checked: &Checked, expr: &Expr, findings: &mut Findings) {
    if let Kind::Call(call) = &expr.kind
        && call.function == "format"
        && let (Some(target), [args]) = (&call.target, call.args.as_slice())
        && let (Kind::Literal(Value::String(text)), Kind::List(list)) = (&target.kind, &args.kind)
    {
        let mut types = Types { checked, args: &list.elements, seen: 0 };
        match interpolate(text, &mut types) {
            Err(error) => findings.add(checked.ast.place(error.at.unwrap_or(expr.id)), error.message),
            Ok(_) if list.elements.len() > types.seen => {
                let (seen, given) = (types.seen, list.elements.len());
                let what = "too many arguments supplied to string.format";
                findings.add(checked.ast.place(expr.id), format!("{what} (expected {seen}, got {given})"));
            }
            Ok(_) => {}
        }
    }
    for child in expr.children() {
        visit(checked, child, findings);
    }
}

/// The arguments, of which only the types are known.
struct Types<'a> {
    checked: &'a Checked,
    args: &'a [Expr],
    seen: usize,
}

impl Clauses for Types<'_> {
    fn count(&self) -> usize {
        self.args.len()
    }

    fn take(&mut self, _index: usize) -> Result<(), FormatError> {
        self.seen += 1;
        Ok(())
    }

    fn write(&mut self, index: usize, clause: &Clause) -> Result<String, FormatError> {
        let arg = &self.args[index];
        let wrong = match clause {
            Clause::String => self.unprintable(arg),
            _ => (!self.fits(arg, clause)).then_some(arg.id),
        };
        match wrong {
            Some(id) => Err(FormatError { at: Some(id), ..clause.refuses(self.checked.type_of(id).name()) }),
            None => Ok(String::new()),
        }
    }
}

impl Types<'_> {
    fn fits(&self, arg: &Expr, clause: &Clause) -> bool {
        let t = self.checked.type_of(arg.id);
        match (clause, t) {
            (_, Type::Dyn) => true,
            (Clause::Decimal | Clause::Octal, Type::Int | Type::Uint)
            | (Clause::Fixed(_) | Clause::Scientific(_), Type::Double | Type::String)
            | (Clause::Binary, Type::Int | Type::Uint | Type::Bool)
            | (Clause::Hex { .. }, Type::Int | Type::Uint | Type::String | Type::Bytes) => true,
            (Clause::String, t) => matches!(
                t,
                Type::List(_)
                    | Type::Map(..)
                    | Type::Int
                    | Type::Uint
                    | Type::Double
                    | Type::Bool
                    | Type::String
                    | Type::Timestamp
                    | Type::Bytes
                    | Type::Duration
                    | Type::Type(_)
                    | Type::Null
            ),
            _ => false,
        }
    }

    /// The first part of an argument that has no text.
    fn unprintable(&self, arg: &Expr) -> Option<Id> {
        if !self.fits(arg, &Clause::String) {
            return Some(arg.id);
        }
        match &arg.kind {
            Kind::List(list) => list.elements.iter().find_map(|element| self.unprintable(element)),
            Kind::Map(entries) => {
                entries.iter().find_map(|entry| self.unprintable(&entry.key).or_else(|| self.unprintable(&entry.value)))
            }
            _ => None,
        }
    }
}
