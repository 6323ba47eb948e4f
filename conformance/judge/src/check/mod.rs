//! The checks: pure functions of a history. None of them knows the server; none stops at the first finding.
//!
//! [`dialogue`] compares with the scenario's text. All others are guarantees that hold whatever the scenario does: one a
//! file, and the first sentence of a violation *is* the definition of the guarantee.

pub mod dialogue;
pub mod facts;
mod selector_syntax;

mod bookmarkable;
mod linear;
mod monotonic;
mod optimistic;
mod ordered;
mod reliable;
mod resumable;
mod selectors;
mod unique;

use crate::dialogue::Played;
use crate::history::History;
use crate::scenario::Scenario;
use facts::Facts;
use std::fmt;

/// A violation that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// The line of the command it is about; `None` if it is about none.
    pub line: Option<usize>,
    /// Whether the play ended at that command.
    pub breaks_off: bool,
    /// The finding in words.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.text)
    }
}

/// A promise that every API server keeps at any time.
pub struct Guarantee {
    /// The name in findings.
    pub name: &'static str,
    /// The promise in one sentence.
    pub definition: &'static str,
    /// The violations of the promise in the facts.
    broken: fn(&Facts<'_>) -> Vec<String>,
}

/// All guarantees, by name.
pub static GUARANTEES: [Guarantee; 9] = [
    bookmarkable::GUARANTEE,
    linear::GUARANTEE,
    monotonic::GUARANTEE,
    optimistic::GUARANTEE,
    ordered::GUARANTEE,
    reliable::GUARANTEE,
    resumable::GUARANTEE,
    selectors::GUARANTEE,
    unique::GUARANTEE,
];

/// All violations of all guarantees in `history`.
pub fn guarantees(history: &History) -> Vec<Finding> {
    let facts = Facts::of(history);
    let findings = |guarantee: &'static Guarantee| {
        (guarantee.broken)(&facts).into_iter().map(|instance| Finding {
            check: guarantee.name,
            line: None,
            breaks_off: false,
            text: format!("{} But {instance}.", guarantee.definition),
        })
    };
    GUARANTEES.iter().flat_map(findings).collect()
}

/// All findings of all checks about `scenario` as it was `played`.
pub fn findings(scenario: &Scenario, played: &Played) -> Vec<Finding> {
    let mut findings = dialogue::findings(scenario, &played.dialogue);
    findings.extend(guarantees(&played.history));
    findings
}
