//! Compiled expressions, and the engines that match them.

use super::program::Program;
use super::threads;
use regex::RegexBuilder;
use std::ops::Range;

/// The most bytes of an automaton, which matches faster than a program. It has a copy of each class for each time that the class is
/// repeated, so that some would be a thousand times as large.
const AUTOMATON_BYTES: usize = 32 << 10;
/// The weight from which an automaton would be too large anyway.
const MAX_WEIGHT: usize = 1000;
/// The most bytes of the states of an automaton that are kept for each thread that matches.
const STATE_BYTES: usize = 128 << 10;

/// A compiled expression.
#[derive(Debug)]
pub struct Expression(Engine);

#[derive(Debug)]
enum Engine {
    Automaton(regex::Regex),
    Program(Program),
}

impl Expression {
    /// Compiles an expression in the crate's syntax.
    ///
    /// # Errors
    /// If the crate refuses it.
    pub(super) fn new(translated: &str) -> Result<Self, String> {
        let program = Program::compile(translated)?;
        if program.weight() > MAX_WEIGHT {
            return Ok(Expression(Engine::Program(program)));
        }
        let mut automaton = RegexBuilder::new(translated);
        let automaton = automaton.size_limit(AUTOMATON_BYTES).dfa_size_limit(STATE_BYTES).build();
        Ok(Expression(automaton.map_or(Engine::Program(program), Engine::Automaton)))
    }

    /// A program, however small an automaton would be.
    #[cfg(test)]
    pub(super) fn program(translated: &str) -> Result<Self, String> {
        Ok(Expression(Engine::Program(Program::compile(translated)?)))
    }

    /// About how many bytes it takes up.
    pub(super) fn bytes(&self) -> usize {
        match &self.0 {
            Engine::Automaton(_) => 2 * AUTOMATON_BYTES,
            Engine::Program(program) => program.bytes(),
        }
    }

    /// Whether it matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.is_match_while(text, &|| true)
    }

    /// The same, as long as the search goes on; then false.
    pub fn is_match_while(&self, text: &str, goes_on: &dyn Fn() -> bool) -> bool {
        match &self.0 {
            Engine::Automaton(automaton) => automaton.is_match(text),
            Engine::Program(program) => threads::find(program, text, 0, true, goes_on).is_some(),
        }
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.find_at(text, 0).map(|found| &text[found])
    }

    fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        match &self.0 {
            Engine::Automaton(automaton) => automaton.find_at(text, from).map(|found| found.range()),
            Engine::Program(program) => threads::find(program, text, from, false, &|| true),
        }
    }

    /// All matches that do not overlap. An empty one does not follow another directly.
    pub fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let (mut from, mut last) = (0, None);
        std::iter::from_fn(move || {
            while from <= text.len() {
                let found = self.find_at(text, from)?;
                let is_left_out = found.is_empty() && last == Some(found.end);
                from = found.end;
                if found.is_empty() {
                    // One character further; behind the end there is nothing.
                    from += text[from..].chars().next().map_or(1, char::len_utf8);
                }
                last = Some(found.end);
                if !is_left_out {
                    return Some(&text[found]);
                }
            }
            None
        })
    }
}
