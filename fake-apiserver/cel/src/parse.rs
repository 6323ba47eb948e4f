//! The parser: tokens, the rules of the grammar, macros.

mod build;
mod grammar;
mod lexer;
mod literal;
mod macros;
mod predict;
mod recover;
mod rules;
mod tree;

use crate::ast::Ast;
use crate::source::{Findings, Source};
use std::sync::{Mutex, PoisonError};

/// The longest expression, in code points.
const MAX_LENGTH: usize = 100_000;

/// The grammar, with the cache of predictions.
pub(crate) struct Syntax {
    grammar: grammar::Grammar,
    memory: Mutex<predict::Memory>,
}

impl Syntax {
    pub(crate) fn new() -> Self {
        Self { grammar: grammar::Grammar::new(), memory: Mutex::default() }
    }

    /// Parses an expression, and adds errors to the findings; with errors the tree is not valid.
    pub(crate) fn parse(&self, source: &Source, binds: bool, findings: &mut Findings) -> Option<Ast> {
        let length = source.chars.len();
        if length > MAX_LENGTH {
            findings.add(None, format!("expression code point size exceeds limit: size: {length}, limit {MAX_LENGTH}"));
            return None;
        }
        let tokens = lexer::tokens(source, findings);
        // The cache is extended in atomic steps, so a panic leaves it valid.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parser = recover::Parser::new(&self.grammar, &mut memory, findings, tokens);
        let root = parser.start().ok()?;
        let (root, places) = build::build(&mut parser, root, binds);
        Some(Ast { root: root?, places })
    }
}
