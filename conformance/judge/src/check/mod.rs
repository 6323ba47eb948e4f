//! The checks: pure functions of a history. None of them knows the server; none stops at the first finding.
//!
//! [`dialogue`] compares with the scenario's text. All others are guarantees that hold whatever the scenario does: one a
//! file, and the first sentence of a violation *is* the definition of the guarantee.

pub mod dialogue;
pub mod facts;
mod selector_syntax;

mod bookmarkable;
mod finding;
mod guarantee;
mod linear;
mod monotonic;
mod optimistic;
mod ordered;
mod reliable;
mod resumable;
mod selectors;
mod unique;

pub use finding::Finding;
pub use guarantee::Guarantee;

use crate::dialogue::Played;
use crate::history::History;
use crate::scenario::Scenario;
use facts::Facts;

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
