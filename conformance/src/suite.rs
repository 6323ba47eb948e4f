//! The suite: scenarios × a target → outcomes.

use crate::check::{self, Finding, dialogue::dialogue};
use crate::history::History;
use crate::ledger::Ledger;
use crate::play::{Played, play};
use crate::scenario::Scenario;
use crate::target::Target;
use futures::StreamExt as _;
use std::time::{Duration, Instant};

/// How many scenarios are played at once. They mostly wait, so there are more of them than processors.
const AT_ONCE: usize = 8;

/// What became of one scenario.
pub struct Report {
    /// `area/behaviour`.
    pub scenario: String,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
    /// What was played, unless it was skipped or the target did not start.
    pub played: Option<Played>,
}

/// How a scenario ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As told, and no guarantee was broken.
    Passed,
    /// Not as told; the ledger knows why.
    Differs {
        /// The ledger's reason.
        reason: String,
    },
    /// Not as told.
    Failed(Vec<Finding>),
    /// The target lacks a power.
    Skipped {
        /// Which.
        reason: String,
    },
}

/// Plays `scenarios` on `target`, a few at a time. `progress` hears of each as it ends; the result is in order.
pub async fn run(
    scenarios: &[Scenario],
    target: &dyn Target,
    ledger: &Ledger,
    mut progress: impl FnMut(&Report),
) -> Vec<Report> {
    let reports = scenarios.iter().map(|scenario| one(scenario, target, ledger));
    let mut reports: Vec<Report> =
        futures::stream::iter(reports).buffer_unordered(AT_ONCE).inspect(|report| progress(report)).collect().await;
    reports.sort_by(|one, other| one.scenario.cmp(&other.scenario));
    reports
}

async fn one(scenario: &Scenario, target: &dyn Target, ledger: &Ledger) -> Report {
    let begun = Instant::now();
    let missing: Vec<String> =
        scenario.needs.iter().filter(|power| !target.powers().contains(power)).map(ToString::to_string).collect();
    let report = |outcome, played| Report { scenario: scenario.name.clone(), outcome, took: begun.elapsed(), played };
    if !missing.is_empty() {
        return report(Outcome::Skipped { reason: format!("{} has no {}", target.name(), missing.join(", ")) }, None);
    }
    let known = ledger.reason(&scenario.name, target.name());
    match play(scenario, target).await {
        Ok(played) => report(outcome(judge(scenario, &played.history), known), Some(played)),
        Err(error) => {
            let finding = Finding { check: "play", text: format!("{error:#}") };
            report(Outcome::Failed(vec![finding]), None)
        }
    }
}

/// All findings in the history of a scenario.
pub fn judge(scenario: &Scenario, history: &History) -> Vec<Finding> {
    let mut findings = dialogue(scenario, history);
    findings.extend(check::guarantees(history));
    findings
}

/// What findings mean, given the ledger's reason to expect some.
pub fn outcome(findings: Vec<Finding>, known: Option<&str>) -> Outcome {
    match (findings.is_empty(), known) {
        (true, None) => Outcome::Passed,
        (false, None) => Outcome::Failed(findings),
        (false, Some(reason)) => Outcome::Differs { reason: reason.to_owned() },
        (true, Some(reason)) => Outcome::Failed(vec![Finding {
            check: "ledger",
            text: format!("the known difference ({reason}) is gone; take it out of the ledger"),
        }]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_has_to_be_right() {
        let finding = || vec![Finding { check: "dialogue", text: "x".into() }];
        assert_eq!(outcome(vec![], None), Outcome::Passed);
        assert_eq!(outcome(finding(), None), Outcome::Failed(finding()));
        assert_eq!(outcome(finding(), Some("why")), Outcome::Differs { reason: "why".into() });
        assert!(matches!(outcome(vec![], Some("why")), Outcome::Failed(found) if found[0].check == "ledger"));
    }
}
