//! The rules of the grammar as functions, with the states and decisions of ANTLR's generated parser.
//!
//! Port of `parser/gen/cel_parser.go` of cel-go v0.29.2.

mod entries;

use super::lexer::*;
use super::recover::{Parser, Stop};
use super::tree::{Label, Node, NodeId, rule};

/// The first tokens of an expression, and those of an entry.
const EXPR_FIRST: u64 = 135_762_105_344;
const OPT_EXPR_FIRST: u64 = 135_763_153_920;
const FIELD_FIRST: u64 = 206_159_478_784;

type Body<'a> = fn(&mut Parser<'a>, NodeId) -> Result<(), Stop>;

impl<'a> Parser<'a> {
    /// Parses the whole text. `Err` means that the parser gave up, with the reason among the findings.
    pub(crate) fn start(&mut self) -> Result<NodeId, Stop> {
        self.rule(rule::START, 0, |p, n| {
            p.nodes[n].e = Some(p.expr(34)?);
            p.matches(35, EOF).map(drop)
        })
    }

    /// Sets the label of the chosen alternative.
    fn is(&mut self, n: NodeId, label: Label) {
        self.nodes[n].label = label;
    }

    fn at(&self, kind: Kind) -> bool {
        self.ahead() == kind
    }

    fn among(&self, set: u64) -> bool {
        set & 1 << self.ahead() != 0
    }

    /// Parses a rule; errors in its body are reported and recovered from here.
    fn rule(&mut self, rule: usize, first_state: usize, body: Body<'a>) -> Result<NodeId, Stop> {
        let (parent, invoked) = (self.context, self.state);
        let n = self.nodes.len();
        self.nodes.push(Node::new(rule, parent, invoked, self.token().start));
        self.state = Some(first_state);
        self.context = Some(n);
        if let Some(parent) = parent {
            self.nodes[parent].children.push(n);
        }
        self.enter(rule)?;
        match body(self, n) {
            Err(Stop::Fault(fault)) => self.recover(fault)?,
            other => other?,
        }
        self.leave(rule);
        self.state = invoked;
        self.context = parent;
        Ok(n)
    }

    /// Parses a left-recursive rule, whose body wraps the node with each operator.
    fn recursive(&mut self, rule: usize, first_state: usize, precedence: u32, body: Body<'a>) -> Result<NodeId, Stop> {
        let (parent, invoked) = (self.context, self.state);
        let n = self.nodes.len();
        self.nodes.push(Node::new(rule, parent, invoked, self.token().start));
        self.state = Some(first_state);
        self.precedence.push(precedence);
        self.context = Some(n);
        self.enter(rule)?;
        match body(self, n) {
            Err(Stop::Fault(fault)) => self.recover(fault)?,
            other => other?,
        }
        self.precedence.pop();
        self.leave(rule);
        let found = self.context.unwrap_or(n);
        self.nodes[found].parent = parent;
        self.context = parent;
        if let Some(parent) = parent {
            self.nodes[parent].children.push(found);
        }
        Ok(found)
    }

    /// The node of an operator, whose first operand is the node so far.
    fn wrap(&mut self, first: NodeId, label: Label) -> Result<NodeId, Stop> {
        let previous = self.context.unwrap_or(first);
        let Node { rule, parent, invoked, start, .. } = self.nodes[previous];
        self.leave(rule);
        let n = self.nodes.len();
        let mut node = Node::new(rule, parent, invoked, start);
        node.label = label;
        node.children.push(previous);
        self.nodes.push(node);
        self.nodes[previous].parent = Some(n);
        self.context = Some(n);
        self.enter(rule)?;
        Ok(n)
    }

    fn expr(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::EXPR, 2, |p, n| {
            p.nodes[n].e = Some(p.or(37)?);
            p.sync(43)?;
            if p.at(QUESTION) {
                p.nodes[n].op = p.matches(38, QUESTION)?;
                p.nodes[n].e1 = Some(p.or(39)?);
                p.matches(40, COLON)?;
                p.nodes[n].e2 = Some(p.expr(41)?);
            }
            Ok(())
        })
    }

    fn or(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::OR, 4, |p, n| {
            p.nodes[n].e = Some(p.and(45)?);
            p.sync(50)?;
            while p.at(OR) {
                let op = p.matches(46, OR)?;
                p.nodes[n].ops.push(op);
                let next = p.and(47)?;
                p.nodes[n].list.push(next);
                p.sync(52)?;
            }
            Ok(())
        })
    }

    fn and(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::AND, 6, |p, n| {
            p.nodes[n].e = Some(p.relation(53, 0)?);
            p.sync(58)?;
            while p.at(AND) {
                let op = p.matches(54, AND)?;
                p.nodes[n].ops.push(op);
                let next = p.relation(55, 0)?;
                p.nodes[n].list.push(next);
                p.sync(60)?;
            }
            Ok(())
        })
    }

    fn relation(&mut self, state: usize, precedence: u32) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.recursive(rule::RELATION, 8, precedence, |p, first| {
            p.calc(62, 0)?;
            p.sync(69)?;
            while p.decide(3)? == 1 {
                let n = p.wrap(first, Label::Plain)?;
                p.nodes[n].op = p.matches_any(65, 254)?;
                p.relation(66, 2)?;
                p.sync(71)?;
            }
            Ok(())
        })
    }

    fn calc(&mut self, state: usize, precedence: u32) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.recursive(rule::CALC, 10, precedence, |p, first| {
            p.unary(73)?;
            p.sync(83)?;
            while p.decide(5)? == 1 {
                p.sync(81)?;
                let alt = p.decide(4)?;
                let n = p.wrap(first, Label::Plain)?;
                if alt == 1 {
                    p.nodes[n].op = p.matches_any(76, 58_720_256)?;
                    p.calc(77, 3)?;
                } else {
                    p.nodes[n].op = p.matches_any(79, 1 << MINUS | 1 << PLUS)?;
                    p.calc(80, 2)?;
                }
                p.sync(85)?;
            }
            Ok(())
        })
    }

    fn unary(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::UNARY, 12, |p, n| {
            p.sync(99)?;
            match p.decide(8)? {
                1 => {
                    p.is(n, Label::MemberExpr);
                    p.nodes[n].e = Some(p.member(86)?);
                }
                2 => {
                    p.is(n, Label::LogicalNot);
                    p.sync(88)?;
                    loop {
                        let op = p.matches(87, EXCLAM)?;
                        p.nodes[n].ops.push(op);
                        p.sync(90)?;
                        if !p.at(EXCLAM) {
                            break;
                        }
                    }
                    p.nodes[n].e = Some(p.member(92)?);
                }
                _ => {
                    p.is(n, Label::Negate);
                    p.sync(94)?;
                    loop {
                        let op = p.matches(93, MINUS)?;
                        p.nodes[n].ops.push(op);
                        p.sync(96)?;
                        if p.decide(7)? != 1 {
                            break;
                        }
                    }
                    p.nodes[n].e = Some(p.member(98)?);
                }
            }
            Ok(())
        })
    }

    fn member(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.recursive(rule::MEMBER, 14, 0, |p, first| {
            p.is(first, Label::PrimaryExpr);
            p.nodes[first].e = Some(p.primary(102)?);
            p.sync(128)?;
            while p.decide(13)? == 1 {
                p.sync(126)?;
                match p.decide(12)? {
                    1 => {
                        let n = p.wrap(first, Label::Select)?;
                        p.nodes[n].op = p.matches(105, DOT)?;
                        p.sync(107)?;
                        if p.at(QUESTION) {
                            p.nodes[n].opt = p.matches(106, QUESTION)?;
                        }
                        p.nodes[n].e = Some(p.escape_ident(109)?);
                    }
                    2 => {
                        let n = p.wrap(first, Label::MemberCall)?;
                        p.matches(111, DOT)?;
                        p.nodes[n].id = p.matches(112, IDENTIFIER)?;
                        p.nodes[n].op = p.matches(113, LPAREN)?;
                        p.sync(115)?;
                        if p.among(EXPR_FIRST) {
                            p.nodes[n].e = Some(p.expr_list(114)?);
                        }
                        p.matches(117, RPAREN)?;
                    }
                    _ => {
                        let n = p.wrap(first, Label::Index)?;
                        p.nodes[n].op = p.matches(119, LBRACKET)?;
                        p.sync(121)?;
                        if p.at(QUESTION) {
                            p.nodes[n].opt = p.matches(120, QUESTION)?;
                        }
                        p.nodes[n].e = Some(p.expr(123)?);
                        p.matches(124, RBRACKET)?;
                    }
                }
                p.sync(130)?;
            }
            Ok(())
        })
    }

    fn primary(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::PRIMARY, 16, |p, n| {
            p.sync(184)?;
            match p.decide(25)? {
                1 => {
                    p.is(n, Label::Ident);
                    p.leading_dot(n, 132, 131)?;
                    p.nodes[n].id = p.matches(134, IDENTIFIER)?;
                }
                2 => {
                    p.is(n, Label::GlobalCall);
                    p.leading_dot(n, 136, 135)?;
                    p.nodes[n].id = p.matches(138, IDENTIFIER)?;
                    p.nodes[n].op = p.matches(139, LPAREN)?;
                    p.sync(141)?;
                    if p.among(EXPR_FIRST) {
                        p.nodes[n].e = Some(p.expr_list(140)?);
                    }
                    p.matches(143, RPAREN)?;
                }
                3 => {
                    p.is(n, Label::Nested);
                    p.matches(144, LPAREN)?;
                    p.nodes[n].e = Some(p.expr(145)?);
                    p.matches(146, RPAREN)?;
                }
                4 => {
                    p.is(n, Label::CreateList);
                    p.nodes[n].op = p.matches(148, LBRACKET)?;
                    p.sync(150)?;
                    if p.among(OPT_EXPR_FIRST) {
                        p.nodes[n].e = Some(p.list_init(149)?);
                    }
                    p.trailing_comma(153, 152)?;
                    p.matches(155, RBRACKET)?;
                }
                5 => {
                    p.is(n, Label::CreateStruct);
                    p.nodes[n].op = p.matches(156, LBRACE)?;
                    p.sync(158)?;
                    if p.among(OPT_EXPR_FIRST) {
                        p.nodes[n].e = Some(p.map_list(157)?);
                    }
                    p.trailing_comma(161, 160)?;
                    p.matches(163, RBRACE)?;
                }
                6 => p.message(n)?,
                _ => {
                    p.is(n, Label::ConstantLiteral);
                    p.nodes[n].e = Some(p.literal(183)?);
                }
            }
            Ok(())
        })
    }

    fn message(&mut self, n: NodeId) -> Result<(), Stop> {
        self.is(n, Label::CreateMessage);
        self.leading_dot(n, 165, 164)?;
        let id = self.matches(167, IDENTIFIER)?;
        self.nodes[n].ids.push(id);
        self.sync(172)?;
        while self.at(DOT) {
            self.matches(168, DOT)?;
            let id = self.matches(169, IDENTIFIER)?;
            self.nodes[n].ids.push(id);
            self.sync(174)?;
        }
        self.nodes[n].op = self.matches(175, LBRACE)?;
        self.sync(177)?;
        if self.among(FIELD_FIRST) {
            self.nodes[n].e = Some(self.field_list(176)?);
        }
        self.trailing_comma(180, 179)?;
        self.matches(182, RBRACE).map(drop)
    }

    fn leading_dot(&mut self, n: NodeId, sync: usize, state: usize) -> Result<(), Stop> {
        self.sync(sync)?;
        if self.at(DOT) {
            self.nodes[n].dot = self.matches(state, DOT)?;
        }
        Ok(())
    }

    fn trailing_comma(&mut self, sync: usize, state: usize) -> Result<(), Stop> {
        self.sync(sync)?;
        if self.at(COMMA) {
            self.matches(state, COMMA)?;
        }
        Ok(())
    }
}
