//! The values of literals.

use super::super::literal::unescape;
use super::super::tree::{Label, Node, NodeId};
use super::{Builder, Built};
use crate::ast::{Expr, Kind};
use crate::value::Value;

impl Builder<'_> {
    pub(super) fn literal(&mut self, node: NodeId, n: &Node) -> Built {
        let Some(token) = &n.id else { return Ok(self.unknown()) };
        let sign = if n.op.is_some() { "-" } else { "" };
        let radix = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => (format!("{sign}{digits}"), 16),
            None => (format!("{sign}{text}"), 10),
        };
        let value = match n.label {
            Label::Int => {
                let (digits, radix) = radix(&token.text);
                i64::from_str_radix(&digits, radix).map(Value::Int).map_err(|_| "invalid int literal".to_owned())
            }
            Label::Uint => {
                let (digits, radix) = radix(token.text.trim_end_matches(['u', 'U']));
                u64::from_str_radix(&digits, radix).map(Value::Uint).map_err(|_| "invalid uint literal".to_owned())
            }
            Label::Double => match format!("{sign}{}", token.text).parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Value::Double(value)),
                _ => Err("invalid double literal".to_owned()),
            },
            Label::String => unescape(&token.text, false).map(|bytes| Value::from(String::from_utf8_lossy(&bytes))),
            Label::Bytes => unescape(&token.text[1..], true).map(Value::from_bytes),
            Label::True => Ok(Value::Bool(true)),
            Label::False => Ok(Value::Bool(false)),
            Label::Null => Ok(Value::Null),
            _ => return Ok(self.unknown()),
        };
        Ok(match value {
            Ok(value) => Expr { id: self.id_at(node), kind: Kind::Literal(value) },
            Err(message) => self.report(Some(n.start), message),
        })
    }
}
