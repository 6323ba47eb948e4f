//! Validation of literals: durations, timestamps, regular expressions, types in lists and maps.
//!
//! Port of `cel/validator.go` of cel-go v0.29.2.

use super::Checked;
use crate::ast::{Expr, Kind};
use crate::go_regex;
use crate::source::Findings;
use crate::types::Type;

pub(super) fn validate(checked: &Checked, findings: &mut Findings) {
    visit(checked, &checked.ast.root, false, findings);
}

/// Validates an expression; `exempt` is for the arguments of `format`, whose lists may be of several types.
fn visit(checked: &Checked, expr: &Expr, exempt: bool, findings: &mut Findings) {
    let mut exempt_below = exempt;
    match &expr.kind {
        Kind::Call(call) => {
            exempt_below |= call.function == "format";
            let literal = call.args.first().and_then(|arg| match &arg.kind {
                Kind::Literal(value) => Some((arg.id, value)),
                _ => None,
            });
            if let Some((id, value)) = literal {
                let is_right = match call.function.as_str() {
                    "duration" => value.convert(&Type::Duration).is_ok(),
                    "timestamp" => value.convert(&Type::Timestamp).is_ok(),
                    "matches" => go_regex::check(&value.to_string()).is_ok(),
                    _ => true,
                };
                if !is_right {
                    findings.add(checked.ast.place(id), format!("invalid {} argument", call.function));
                }
            }
        }
        Kind::List(list) if !exempt => {
            let mut first: Option<Type> = None;
            for (i, element) in list.elements.iter().enumerate() {
                let t = of_entry(checked, element, list.optional.contains(&i));
                if !same(checked, element, first.get_or_insert_with(|| t.clone()), &t, findings) {
                    break;
                }
            }
        }
        Kind::Map(entries) if !exempt => {
            let mut first: Option<(Type, Type)> = None;
            for entry in entries {
                let key = of_entry(checked, &entry.key, false);
                let value = of_entry(checked, &entry.value, entry.optional);
                let (keys, values) = first.get_or_insert_with(|| (key.clone(), value.clone()));
                same(checked, &entry.key, keys, &key, findings);
                same(checked, &entry.value, values, &value, findings);
            }
        }
        _ => {}
    }
    for child in expr.children() {
        visit(checked, child, exempt_below, findings);
    }
}

fn of_entry(checked: &Checked, expr: &Expr, optional: bool) -> Type {
    let t = checked.type_of(expr.id);
    match (optional, t.params().first()) {
        (true, Some(of)) => (*of).clone(),
        _ => t.clone(),
    }
}

fn same(checked: &Checked, expr: &Expr, expected: &Type, found: &Type, findings: &mut Findings) -> bool {
    let is_same = expected.is_equivalent(found);
    if !is_same {
        findings.add(checked.ast.place(expr.id), format!("expected type '{expected}' but found '{found}'"));
    }
    is_same
}
