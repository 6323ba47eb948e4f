//! The state of a parser with error recovery, as in ANTLR's generated parsers.
//!
//! Port of `parser.go` and `error_strategy.go` of antlr4-go v4.13, with the limits of `parser/parser.go` of cel-go v0.29.2.

use super::grammar::{EPSILON, Grammar, TokenSet};
use super::lexer::{EOF, Kind, NAMES, Token, Tokens};
use super::predict::{Decision, Memory};
use super::tree::{Node, NodeId};
use crate::source::Findings;
use std::collections::BTreeSet;

/// The limits of nesting, recoveries, skipped tokens and reports.
pub(crate) const MAX_DEPTH: usize = 250;
const MAX_RECOVERIES: usize = 30;
const MAX_SKIPPED: usize = 256;
const MAX_REPORTS: usize = 100;

/// The reason why a rule ended early.
pub(crate) enum Stop {
    /// A syntax error, to be reported by the rule that it ends.
    Fault(Fault),
    /// The end of the parse.
    Halt,
}

pub(crate) enum Fault {
    Mismatch {
        token: Token,
        expected: TokenSet,
    },
    /// No alternative matches the tokens in a range of indices.
    NoAlternative {
        from: usize,
        to: usize,
    },
}

pub(crate) struct Parser<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) memory: &'a mut Memory,
    pub(crate) findings: &'a mut Findings,
    pub(crate) tokens: Tokens,
    kinds: Vec<Kind>,
    /// The index of the next token among those for the parser.
    pub(crate) at: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) context: Option<NodeId>,
    pub(crate) state: Option<usize>,
    pub(crate) precedence: Vec<u32>,
    depths: [usize; 17],
    recovering: bool,
    last_error: Option<usize>,
    error_states: BTreeSet<usize>,
    recoveries: usize,
    reports: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(
        grammar: &'a Grammar,
        memory: &'a mut Memory,
        findings: &'a mut Findings,
        tokens: Tokens,
    ) -> Self {
        let kinds = tokens.seen.iter().map(|i| tokens.all[*i].kind).collect();
        Self {
            grammar,
            memory,
            findings,
            tokens,
            kinds,
            at: 0,
            nodes: Vec::new(),
            context: None,
            state: None,
            precedence: Vec::new(),
            depths: [0; 17],
            recovering: false,
            last_error: None,
            error_states: BTreeSet::new(),
            recoveries: 0,
            reports: 0,
        }
    }

    pub(crate) fn ahead(&self) -> Kind {
        self.kinds[self.at]
    }

    pub(crate) fn token(&self) -> &Token {
        &self.tokens.all[self.tokens.seen[self.at]]
    }

    pub(crate) fn enter(&mut self, rule: usize) -> Result<(), Stop> {
        self.depths[rule] += 1;
        if self.depths[rule] > MAX_DEPTH {
            return Err(self.halt(format!("expression recursion limit exceeded: {MAX_DEPTH}")));
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self, rule: usize) {
        self.depths[rule] = self.depths[rule].saturating_sub(1);
    }

    fn halt(&mut self, message: String) -> Stop {
        self.findings.add(None, message);
        Stop::Halt
    }

    /// Consumes a token of this kind, or recovers from another one.
    pub(crate) fn matches(&mut self, state: usize, kind: Kind) -> Result<Option<Token>, Stop> {
        self.matches_any(state, 1 << kind)
    }

    pub(crate) fn matches_any(&mut self, state: usize, kinds: TokenSet) -> Result<Option<Token>, Stop> {
        self.state = Some(state);
        if kinds & 1 << self.ahead() != 0 {
            let token = self.token().clone();
            self.matched();
            self.consume();
            return Ok(Some(token));
        }
        self.recover_inline().map(Some)
    }

    /// The alternative that a decision chooses.
    pub(crate) fn decide(&mut self, number: usize) -> Result<usize, Stop> {
        let calls = || {
            let mut calls = Vec::new();
            let mut node = self.context;
            while let Some(id) = node {
                calls.extend(self.nodes[id].invoked.and_then(|state| self.grammar.follow(state)));
                node = self.nodes[id].parent;
            }
            calls
        };
        let decision = Decision {
            grammar: self.grammar,
            number,
            precedence: self.precedence.last().copied().unwrap_or(0),
            ahead: &self.kinds[self.at..],
            calls: &calls,
        };
        decision.predict(self.memory).map_err(|ahead| {
            let to = (self.at + ahead).min(self.kinds.len() - 1);
            Stop::Fault(Fault::NoAlternative { from: self.tokens.seen[self.at], to: self.tokens.seen[to] })
        })
    }

    /// The error that no alternative begins with the next token.
    pub(crate) fn no_alternative(&self) -> Stop {
        let token = self.tokens.seen[self.at];
        Stop::Fault(Fault::NoAlternative { from: token, to: token })
    }

    /// Skips unexpected tokens before a decision.
    pub(crate) fn sync(&mut self, state: usize) -> Result<(), Stop> {
        self.state = Some(state);
        if self.recovering {
            return Ok(());
        }
        let next = self.grammar.next(state);
        if next & (EPSILON | 1 << self.ahead()) != 0 {
            return Ok(());
        }
        match self.grammar.states[state].kind {
            3 | 4 | 5 | 10 => match self.delete_token()? {
                true => Ok(()),
                false => Err(self.mismatch()),
            },
            9 | 11 => {
                self.report_unwanted()?;
                let until = self.expected() | self.recovery_set();
                while self.ahead() != EOF && until & 1 << self.ahead() == 0 {
                    self.consume();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reports an error that ended a rule, and skips to a token with which an outer rule can go on.
    pub(crate) fn recover(&mut self, fault: Fault) -> Result<(), Stop> {
        if !self.recovering {
            self.recovering = true;
            match fault {
                Fault::Mismatch { token, expected } => {
                    let message = format!("mismatched input {} expecting {}", quoted(&token.text), names(expected));
                    self.report(token.start, message)?;
                }
                Fault::NoAlternative { from, to } => {
                    let all = &self.tokens.all;
                    let text: String = match all[from].kind {
                        EOF => "<EOF>".to_owned(),
                        _ => all[from..=to].iter().filter(|t| t.kind != EOF).map(|t| t.text.as_str()).collect(),
                    };
                    let message = match text.strip_prefix(|c| c != '\n') {
                        Some(word @ ("true" | "false" | "null")) => {
                            format!("mismatched input '{word}' expecting IDENTIFIER")
                        }
                        _ => format!("no viable alternative at input {}", quoted(&text)),
                    };
                    self.report(all[to].start, message)?;
                }
            }
        }
        self.check_attempts()?;
        let mut skipped = 0;
        let state = self.state.unwrap_or(0);
        if self.last_error == Some(self.at) && self.error_states.contains(&state) {
            self.skip(&mut skipped)?;
        }
        self.last_error = Some(self.at);
        self.error_states.insert(state);
        let until = self.recovery_set();
        while self.ahead() != EOF && until & 1 << self.ahead() == 0 {
            self.skip(&mut skipped)?;
        }
        Ok(())
    }

    fn recover_inline(&mut self) -> Result<Token, Stop> {
        self.check_attempts()?;
        if self.delete_token()? {
            let token = self.token().clone();
            self.consume();
            return Ok(token);
        }
        let state = self.state.unwrap_or(0);
        let next = self.grammar.states[state].transitions[0].target;
        if self.expected_at(next) & 1 << self.ahead() != 0 {
            let expected = self.expected();
            if !self.recovering {
                self.recovering = true;
                let token = self.token().clone();
                let message = format!("missing {} at {}", names(expected), quoted(&token.text));
                self.report(token.start, message)?;
            }
            return Ok(self.missing(expected));
        }
        Err(self.mismatch())
    }

    /// A token in place of a missing one.
    fn missing(&self, expected: TokenSet) -> Token {
        let kind = expected.trailing_zeros() as Kind;
        let text = match kind {
            EOF => "<missing EOF>".to_owned(),
            1..=28 => format!("<missing {}>", NAMES[kind as usize]),
            _ => "<missing undefined>".to_owned(),
        };
        let near = if self.ahead() == EOF && self.at > 0 { self.at - 1 } else { self.at };
        Token { kind, start: self.tokens.all[self.tokens.seen[near]].start, text }
    }

    fn delete_token(&mut self) -> Result<bool, Stop> {
        let after = self.kinds.get(self.at + 1).copied().unwrap_or(EOF);
        if self.expected() & 1 << after == 0 {
            return Ok(false);
        }
        self.report_unwanted()?;
        self.consume();
        self.matched();
        Ok(true)
    }

    fn report_unwanted(&mut self) -> Result<(), Stop> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        let token = self.token().clone();
        let message = format!("extraneous input {} expecting {}", quoted(&token.text), names(self.expected()));
        self.report(token.start, message)
    }

    fn mismatch(&self) -> Stop {
        Stop::Fault(Fault::Mismatch { token: self.token().clone(), expected: self.expected() })
    }

    fn matched(&mut self) {
        self.recovering = false;
        self.error_states.clear();
        self.last_error = None;
    }

    fn consume(&mut self) {
        if self.ahead() != EOF {
            self.at += 1;
        }
    }

    fn skip(&mut self, skipped: &mut usize) -> Result<(), Stop> {
        if *skipped >= MAX_SKIPPED {
            return Err(self.halt(format!("error recovery token lookahead limit exceeded: {MAX_SKIPPED}")));
        }
        *skipped += 1;
        self.consume();
        Ok(())
    }

    fn check_attempts(&mut self) -> Result<(), Stop> {
        self.recoveries += 1;
        if self.recoveries == MAX_RECOVERIES + 1 {
            let message = format!("error recovery attempt limit exceeded: {MAX_RECOVERIES}");
            self.report(self.token().start, message)?;
            return Err(Stop::Halt);
        }
        Ok(())
    }

    fn report(&mut self, at: usize, message: String) -> Result<(), Stop> {
        self.reports += 1;
        if self.reports > MAX_REPORTS {
            self.findings.add(Some(at), format!("Syntax error: More than {MAX_REPORTS} syntax errors"));
            return Err(Stop::Halt);
        }
        self.findings.add(Some(at), format!("Syntax error: {message}"));
        Ok(())
    }

    fn expected(&self) -> TokenSet {
        self.expected_at(self.state.unwrap_or(0))
    }

    /// The tokens that can come at a state, given the calls that led to it.
    fn expected_at(&self, state: usize) -> TokenSet {
        let mut set = self.grammar.next(state);
        let mut node = self.context;
        while let (true, Some(id)) = (set & EPSILON != 0, node) {
            let Some(follow) = self.nodes[id].invoked.and_then(|state| self.grammar.follow(state)) else { break };
            set = (set & !EPSILON) | self.grammar.next(follow);
            node = self.nodes[id].parent;
        }
        if set & EPSILON != 0 { (set & !EPSILON) | 1 } else { set }
    }

    fn recovery_set(&self) -> TokenSet {
        let mut set = 0;
        let mut node = self.context;
        while let Some(id) = node {
            let Some(follow) = self.nodes[id].invoked.and_then(|state| self.grammar.follow(state)) else { break };
            set |= self.grammar.next(follow);
            node = self.nodes[id].parent;
        }
        set & !EPSILON
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"))
}

fn names(set: TokenSet) -> String {
    let names: Vec<&str> = (0..NAMES.len()).filter(|kind| set & 1 << kind != 0).map(|kind| NAMES[kind]).collect();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("{{{}}}", several.join(", ")),
    }
}
