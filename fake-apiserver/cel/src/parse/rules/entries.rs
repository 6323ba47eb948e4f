//! The rules of bracketed lists, of names and of literals.

use super::super::lexer::*;
use super::super::recover::{Parser, Stop};
use super::super::tree::{Label, NodeId, rule};

impl<'a> Parser<'a> {
    pub(super) fn expr_list(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::EXPR_LIST, 18, |p, n| {
            let e = p.expr(186)?;
            p.nodes[n].list.push(e);
            p.sync(191)?;
            while p.at(COMMA) {
                p.matches(187, COMMA)?;
                let e = p.expr(188)?;
                p.nodes[n].list.push(e);
                p.sync(193)?;
            }
            Ok(())
        })
    }

    pub(super) fn list_init(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::LIST_INIT, 20, |p, n| {
            let e = p.opt_expr(194)?;
            p.nodes[n].list.push(e);
            p.sync(199)?;
            while p.decide(27)? == 1 {
                p.matches(195, COMMA)?;
                let e = p.opt_expr(196)?;
                p.nodes[n].list.push(e);
                p.sync(201)?;
            }
            Ok(())
        })
    }

    pub(super) fn field_list(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::FIELD_LIST, 22, |p, n| {
            p.pair(n, |p| p.opt_field(202), 203, 204)?;
            p.sync(212)?;
            while p.decide(28)? == 1 {
                p.matches(205, COMMA)?;
                p.pair(n, |p| p.opt_field(206), 207, 208)?;
                p.sync(214)?;
            }
            Ok(())
        })
    }

    pub(super) fn map_list(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::MAP_LIST, 26, |p, n| {
            p.pair(n, |p| p.opt_expr(220), 221, 222)?;
            p.sync(230)?;
            while p.decide(30)? == 1 {
                p.matches(223, COMMA)?;
                p.pair(n, |p| p.opt_expr(224), 225, 226)?;
                p.sync(232)?;
            }
            Ok(())
        })
    }

    /// Parses a key, a colon and a value.
    fn pair(
        &mut self,
        n: NodeId,
        key: impl FnOnce(&mut Self) -> Result<NodeId, Stop>,
        colon: usize,
        value: usize,
    ) -> Result<(), Stop> {
        let key = key(self)?;
        self.nodes[n].list.push(key);
        let colon = self.matches(colon, COLON)?;
        self.nodes[n].ops.push(colon);
        let value = self.expr(value)?;
        self.nodes[n].values.push(value);
        Ok(())
    }

    fn opt_field(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::OPT_FIELD, 24, |p, n| {
            p.sync(216)?;
            if p.at(QUESTION) {
                p.nodes[n].opt = p.matches(215, QUESTION)?;
            }
            p.nodes[n].e = Some(p.escape_ident(218)?);
            Ok(())
        })
    }

    fn opt_expr(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::OPT_EXPR, 30, |p, n| {
            p.sync(238)?;
            if p.at(QUESTION) {
                p.nodes[n].opt = p.matches(237, QUESTION)?;
            }
            p.nodes[n].e = Some(p.expr(240)?);
            Ok(())
        })
    }

    pub(super) fn escape_ident(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::ESCAPE_IDENT, 28, |p, n| {
            p.sync(235)?;
            let (label, state, kind) = match p.ahead() {
                IDENTIFIER => (Label::SimpleIdentifier, 233, IDENTIFIER),
                ESC_IDENTIFIER => (Label::EscapedIdentifier, 234, ESC_IDENTIFIER),
                _ => return Err(p.no_alternative()),
            };
            p.is(n, label);
            p.nodes[n].id = p.matches(state, kind)?;
            Ok(())
        })
    }

    pub(super) fn literal(&mut self, state: usize) -> Result<NodeId, Stop> {
        self.state = Some(state);
        self.rule(rule::LITERAL, 32, |p, n| {
            p.sync(256)?;
            let (label, state, kind) = match p.decide(35)? {
                1 => (Label::Int, 245, INT),
                2 => (Label::Uint, 246, UINT),
                3 => (Label::Double, 250, FLOAT),
                4 => (Label::String, 251, STRING),
                5 => (Label::Bytes, 252, BYTES),
                6 => (Label::True, 253, TRUE),
                7 => (Label::False, 254, FALSE),
                _ => (Label::Null, 255, NULL),
            };
            p.is(n, label);
            if let Label::Int | Label::Double = label {
                let (sync, sign) = if label == Label::Int { (243, 242) } else { (248, 247) };
                p.sync(sync)?;
                if p.at(MINUS) {
                    p.nodes[n].op = p.matches(sign, MINUS)?;
                }
            }
            p.nodes[n].id = p.matches(state, kind)?;
            Ok(())
        })
    }
}
