//! Building of expressions from parse trees.
//!
//! Port of the visitor in `parser/parser.go` and of `parser/helper.go` of cel-go v0.29.2.

mod literals;

use super::lexer::Token;
use super::macros;
use super::recover::{MAX_DEPTH, Parser};
use super::tree::{Label, Node, NodeId, rule};
use crate::ast::{Call, Entry, Expr, Field, Id, Kind, List, Select, Struct};
use crate::schema::is_reserved;
use crate::source::Findings;
use crate::value::Value;
use std::collections::HashMap;

/// The end of the parse.
struct Halt;

type Built<T = Expr> = Result<T, Halt>;

pub(crate) struct Builder<'a> {
    nodes: &'a [Node],
    findings: &'a mut Findings,
    places: HashMap<Id, usize>,
    next: Id,
    depth: usize,
    /// Whether there is the macro `cel.bind`.
    pub(super) binds: bool,
}

/// Builds the expression of the tree below `root`, with the places of its parts. Without an expression there are findings.
pub(super) fn build(parser: &mut Parser<'_>, root: NodeId, binds: bool) -> (Option<Expr>, HashMap<Id, usize>) {
    let mut builder =
        Builder { nodes: &parser.nodes, findings: parser.findings, places: HashMap::new(), next: 1, depth: 0, binds };
    let expr = builder.visit(builder.nodes[root].e).ok();
    (expr, builder.places)
}

impl Builder<'_> {
    pub(super) fn id(&mut self, at: Option<usize>) -> Id {
        let id = self.next;
        self.next += 1;
        if let Some(at) = at {
            self.places.insert(id, at);
        }
        id
    }

    pub(super) fn place(&self, id: Id) -> Option<usize> {
        self.places.get(&id).copied()
    }

    fn id_of(&mut self, token: Option<&Token>) -> Id {
        match token {
            Some(token) => self.id(Some(token.start)),
            None => -1,
        }
    }

    fn id_at(&mut self, node: NodeId) -> Id {
        self.id(Some(self.nodes[node].start))
    }

    fn forget(&mut self, id: Id) {
        self.places.remove(&id);
        if id == self.next - 1 {
            self.next -= 1;
        }
    }

    fn report(&mut self, at: Option<usize>, message: String) -> Expr {
        let id = self.id(at);
        self.findings.add(at, message);
        Expr { id, kind: Kind::Unspecified }
    }

    /// The first node below rules that add nothing.
    fn unnest(&self, mut node: NodeId) -> Option<NodeId> {
        loop {
            let n = &self.nodes[node];
            let below = match (n.rule, n.label) {
                (rule::EXPR, _) if n.op.is_none() => n.e,
                (rule::OR | rule::AND, _) if n.ops.is_empty() => n.e,
                (rule::RELATION, _) if n.op.is_none() => self.child(n, rule::CALC, 0),
                (rule::CALC, _) if n.op.is_none() => self.child(n, rule::UNARY, 0),
                (_, Label::MemberExpr | Label::PrimaryExpr | Label::Nested | Label::ConstantLiteral) => n.e,
                _ => return Some(node),
            };
            node = below?;
        }
    }

    fn child(&self, node: &Node, rule: usize, number: usize) -> Option<NodeId> {
        node.children.iter().copied().filter(|child| self.nodes[*child].rule == rule).nth(number)
    }

    fn visit(&mut self, node: Option<NodeId>) -> Built {
        let Some(node) = node.and_then(|node| self.unnest(node)) else { return Ok(self.unknown()) };
        let nodes = self.nodes;
        let n = &nodes[node];
        let nests = matches!(n.rule, rule::EXPR | rule::RELATION | rule::CALC)
            || matches!(n.label, Label::Select | Label::MemberCall | Label::Index);
        if nests {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                self.findings.add(None, "max recursion depth exceeded");
                return Err(Halt);
            }
        }
        let built = self.visit_unnested(node, n);
        if nests {
            self.depth -= 1;
        }
        built
    }

    fn unknown(&mut self) -> Expr {
        if self.findings.is_empty() {
            return self.report(None, "unknown parse element encountered: <<nil>>".to_owned());
        }
        Expr { id: self.id(None), kind: Kind::Unspecified }
    }

    fn visit_unnested(&mut self, node: NodeId, n: &Node) -> Built {
        match (n.rule, n.label) {
            (rule::EXPR, _) => {
                let condition = self.visit(n.e)?;
                let id = self.id_of(n.op.as_ref());
                let (yes, no) = (self.visit(n.e1)?, self.visit(n.e2)?);
                Ok(self.call_or_macro(id, "_?_:_", None, vec![condition, yes, no]))
            }
            (rule::OR, _) => self.balanced(n, "_||_"),
            (rule::AND, _) => self.balanced(n, "_&&_"),
            (rule::RELATION | rule::CALC, _) => self.binary(n),
            (_, Label::LogicalNot) => self.unary(n, "!_"),
            (_, Label::Negate) => self.unary(n, "-_"),
            (rule::UNARY, _) => Ok(Expr { id: self.id_at(node), kind: Kind::Literal(Value::from("<<error>>")) }),
            (_, Label::Select) => self.select(node, n),
            (_, Label::MemberCall) => {
                let operand = self.visit(self.child(n, rule::MEMBER, 0))?;
                let Some(name) = &n.id else { return Ok(self.unspecified(node)) };
                let id = self.id_of(n.op.as_ref());
                let args = self.args(n.e)?;
                Ok(self.call_or_macro(id, &name.text, Some(operand), args))
            }
            (_, Label::Index) => {
                let target = self.visit(self.child(n, rule::MEMBER, 0))?;
                if n.op.is_none() {
                    return Ok(self.unspecified(node));
                }
                let id = self.id_of(n.op.as_ref());
                let index = self.visit(n.e)?;
                let function = if n.opt.is_some() { "_[?_]" } else { "_[_]" };
                Ok(self.call_or_macro(id, function, None, vec![target, index]))
            }
            (_, Label::Ident) => {
                let Some(name) = &n.id else { return Ok(self.unspecified(node)) };
                if is_reserved(&name.text) {
                    return Ok(self.report(Some(n.start), format!("reserved identifier: {}", name.text)));
                }
                let dot = if n.dot.is_some() { "." } else { "" };
                let id = self.id_of(Some(name));
                Ok(Expr { id, kind: Kind::Ident(format!("{dot}{}", name.text)) })
            }
            (_, Label::GlobalCall) => {
                let Some(name) = &n.id else { return Ok(self.unspecified(node)) };
                if is_reserved(&name.text) {
                    return Ok(self.report(Some(n.start), format!("reserved identifier: {}", name.text)));
                }
                let dot = if n.dot.is_some() { "." } else { "" };
                let id = self.id_of(n.op.as_ref());
                let args = self.args(n.e)?;
                Ok(self.call_or_macro(id, &format!("{dot}{}", name.text), None, args))
            }
            (_, Label::CreateList) => {
                let id = self.id_of(n.op.as_ref());
                let list = self.list(n.e)?;
                Ok(Expr { id, kind: Kind::List(list) })
            }
            (_, Label::CreateStruct) => {
                let id = self.id_of(n.op.as_ref());
                let entries = self.entries(n.e)?;
                Ok(Expr { id, kind: Kind::Map(entries) })
            }
            (_, Label::CreateMessage) => {
                let dot = if n.dot.is_some() { "." } else { "" };
                let names: Vec<&str> = n.ids.iter().flatten().map(|id| id.text.as_str()).collect();
                let id = self.id_of(n.op.as_ref());
                let fields = self.fields(n.e)?;
                Ok(Expr { id, kind: Kind::Struct(Struct { name: format!("{dot}{}", names.join(".")), fields }) })
            }
            (rule::LITERAL, _) => self.literal(node, n),
            _ => Ok(self.unknown()),
        }
    }

    fn unspecified(&mut self, node: NodeId) -> Expr {
        Expr { id: self.id_at(node), kind: Kind::Unspecified }
    }

    fn binary(&mut self, n: &Node) -> Built {
        let function = match n.op.as_ref().map(|op| op.text.as_str()) {
            Some("<") => "_<_",
            Some("<=") => "_<=_",
            Some(">=") => "_>=_",
            Some(">") => "_>_",
            Some("==") => "_==_",
            Some("!=") => "_!=_",
            Some("in") => "@in",
            Some("*") => "_*_",
            Some("/") => "_/_",
            Some("%") => "_%_",
            Some("+") => "_+_",
            Some("-") => "_-_",
            _ => return Ok(self.report(Some(n.start), "operator not found".to_owned())),
        };
        let left = self.visit(self.child(n, n.rule, 0))?;
        let id = self.id_of(n.op.as_ref());
        let right = self.visit(self.child(n, n.rule, 1))?;
        Ok(self.call_or_macro(id, function, None, vec![left, right]))
    }

    fn unary(&mut self, n: &Node, function: &str) -> Built {
        if n.ops.len().is_multiple_of(2) {
            return self.visit(n.e);
        }
        let id = self.id_of(n.ops[0].as_ref());
        let target = self.visit(n.e)?;
        Ok(self.call_or_macro(id, function, None, vec![target]))
    }

    /// A balanced tree of `&&` or `||`.
    fn balanced(&mut self, n: &Node, function: &str) -> Built {
        let mut terms = vec![Some(self.visit(n.e)?)];
        let mut ops = Vec::new();
        for (i, op) in n.ops.iter().enumerate() {
            let Some(next) = n.list.get(i) else {
                let word = function.trim_matches('_');
                return Ok(self.report(Some(n.start), format!("unexpected character, wanted '{word}'")));
            };
            terms.push(Some(self.visit(Some(*next))?));
            ops.push(self.id_of(op.as_ref()));
        }
        Ok(balance(function, &mut terms, &ops, 0, ops.len() - 1))
    }

    fn select(&mut self, node: NodeId, n: &Node) -> Built {
        let operand = self.visit(self.child(n, rule::MEMBER, 0))?;
        let (Some(name), Some(op)) = (n.e, &n.op) else { return Ok(self.unspecified(node)) };
        let Some(field) = self.identifier(Some(name)) else {
            return Ok(self.report(Some(n.start), "unsupported ident kind".to_owned()));
        };
        if n.opt.is_some() {
            let id = self.id_of(Some(op));
            let field = Expr { id: self.id_at(name), kind: Kind::Literal(Value::from(field)) };
            let call = Call { target: None, function: "_?._".to_owned(), args: vec![operand, field] };
            return Ok(Expr { id, kind: Kind::Call(call) });
        }
        let id = self.id_of(Some(op));
        Ok(Expr { id, kind: Kind::Select(Select { operand: Box::new(operand), field, test_only: false }) })
    }

    /// The name of a field, without the quotes of an escaped one.
    fn identifier(&self, node: Option<NodeId>) -> Option<String> {
        let Node { label, id: Some(id), .. } = &self.nodes[node?] else { return None };
        match label {
            Label::SimpleIdentifier => Some(id.text.clone()),
            Label::EscapedIdentifier => Some(id.text.trim_matches('`').to_owned()),
            _ => None,
        }
    }

    fn args(&mut self, node: Option<NodeId>) -> Built<Vec<Expr>> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let nodes = self.nodes;
        nodes[node].list.iter().map(|arg| self.visit(Some(*arg))).collect()
    }

    fn list(&mut self, node: Option<NodeId>) -> Built<List> {
        let mut list = List { elements: Vec::new(), optional: Vec::new() };
        let Some(node) = node else { return Ok(list) };
        let nodes = self.nodes;
        for (i, element) in nodes[node].list.iter().enumerate() {
            list.elements.push(self.visit(nodes[*element].e)?);
            if nodes[*element].opt.is_some() {
                list.optional.push(i);
            }
        }
        Ok(list)
    }

    fn entries(&mut self, node: Option<NodeId>) -> Built<Vec<Entry>> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let nodes = self.nodes;
        let n = &nodes[node];
        let mut entries = Vec::new();
        for (i, colon) in n.ops.iter().enumerate() {
            let _id = self.id_of(colon.as_ref());
            let (Some(key), Some(value)) = (n.list.get(i), n.values.get(i)) else { return Ok(Vec::new()) };
            let optional = nodes[*key].opt.is_some();
            let key = self.visit(nodes[*key].e)?;
            let value = self.visit(Some(*value))?;
            entries.push(Entry { key, value, optional });
        }
        Ok(entries)
    }

    fn fields(&mut self, node: Option<NodeId>) -> Built<Vec<Field>> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let nodes = self.nodes;
        let n = &nodes[node];
        let mut fields = Vec::new();
        for (i, field) in n.list.iter().enumerate() {
            let (Some(colon), Some(value)) = (n.ops.get(i), n.values.get(i)) else { return Ok(Vec::new()) };
            let id = self.id_of(colon.as_ref());
            let optional = nodes[*field].opt.is_some();
            let Some(name) = self.identifier(nodes[*field].e) else {
                self.report(Some(n.start), "unsupported ident kind".to_owned());
                continue;
            };
            let value = self.visit(Some(*value))?;
            fields.push(Field { id, name, value, optional });
        }
        Ok(fields)
    }

    fn call_or_macro(&mut self, id: Id, function: &str, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        match macros::expand(self, id, function, target.as_ref(), &args) {
            Some(Ok(expr)) => {
                self.forget(id);
                expr
            }
            Some(Err((at, message))) => {
                let place = self.place(at);
                self.forget(id);
                self.report(place, message)
            }
            None => {
                let call = Call { target: target.map(Box::new), function: function.to_owned(), args };
                Expr { id, kind: Kind::Call(call) }
            }
        }
    }

    /// A copy of an expression, with new ids.
    pub(super) fn copy(&mut self, expr: &Expr) -> Expr {
        let id = self.id(self.place(expr.id));
        let mut kind = expr.kind.clone();
        match &mut kind {
            Kind::Unspecified | Kind::Literal(_) | Kind::Ident(_) => {}
            Kind::Select(select) => *select.operand = self.copy(&select.operand),
            Kind::Call(call) => {
                call.args.iter_mut().for_each(|arg| *arg = self.copy(arg));
                if let Some(target) = &mut call.target {
                    **target = self.copy(target);
                }
            }
            Kind::List(list) => list.elements.iter_mut().for_each(|element| *element = self.copy(element)),
            Kind::Map(entries) => {
                for entry in entries {
                    entry.key = self.copy(&entry.key);
                    entry.value = self.copy(&entry.value);
                }
            }
            Kind::Struct(object) => {
                for field in &mut object.fields {
                    field.id = self.id(self.place(expr.id));
                    field.value = self.copy(&field.value);
                }
            }
            Kind::Comprehension(c) => {
                for part in [&mut c.range, &mut c.init, &mut c.condition, &mut c.step, &mut c.result] {
                    *part = self.copy(part);
                }
            }
        }
        Expr { id, kind }
    }
}

fn balance(function: &str, terms: &mut [Option<Expr>], ops: &[Id], low: usize, high: usize) -> Expr {
    let middle = (low + high).div_ceil(2);
    let left = if middle == low { terms[middle].take() } else { Some(balance(function, terms, ops, low, middle - 1)) };
    let right =
        if middle == high { terms[middle + 1].take() } else { Some(balance(function, terms, ops, middle + 1, high)) };
    let args = left.into_iter().chain(right).collect();
    Expr { id: ops[middle], kind: Kind::Call(Call { target: None, function: function.to_owned(), args }) }
}
