//! The suite: scenarios × a target → reports.

use crate::play::play_beside;
use crate::subject::Target;
use crate::vigil::Complaint;
use conformance_judge::baseline::Baseline;
use conformance_judge::check::Finding;
use conformance_judge::report::Report;
use conformance_judge::scenario::Scenario;
use conformance_judge::verdict::Outcome;
use futures::StreamExt as _;
use std::time::{Duration, Instant};

/// The number of scenarios that are played at once. They mostly wait, so there are more of them than processors.
const AT_ONCE: usize = 8;

/// Plays `scenarios` on `target`, several at a time; on a shared target the exclusive ones run at the end, one after the
/// other. `progress` is called as each ends; the result is in the order of `scenarios`.
///
/// With a `limit`, all are played one after the other, each beside another client, and one that makes it wait for longer fails.
pub async fn run(
    scenarios: &[Scenario],
    target: &dyn Target,
    baseline: &Baseline,
    limit: Option<Duration>,
    mut progress: impl FnMut(&Report),
) -> Vec<Report> {
    let alone = |scenario: &&Scenario| target.is_shared() && scenario.needs.iter().any(|need| need.is_exclusive());
    let (alone, together): (Vec<_>, Vec<_>) = scenarios.iter().partition(alone);
    let play = |scenarios: Vec<_>, at_once| {
        let reports = scenarios.into_iter().map(|scenario| one(scenario, target, baseline, limit));
        futures::stream::iter(reports).buffer_unordered(at_once)
    };
    let reports = play(together, if limit.is_some() { 1 } else { AT_ONCE }).chain(play(alone, 1));
    let mut reports: Vec<Report> = reports.inspect(|report| progress(report)).collect().await;
    reports.sort_by(|one, other| one.scenario.cmp(&other.scenario));
    reports
}

async fn one(scenario: &Scenario, target: &dyn Target, baseline: &Baseline, limit: Option<Duration>) -> Report {
    let begun = Instant::now();
    let report = |outcome, exchanges, played| Report {
        scenario: scenario.name.clone(),
        outcome,
        exchanges,
        took: begun.elapsed(),
        played,
    };
    if let Some(reason) = skipped(scenario, target) {
        return report(Outcome::Skipped { reason }, Vec::new(), None);
    }
    match play_beside(scenario, target, limit).await {
        Ok((played, slow)) if !slow.is_empty() => {
            let finding = |complaint: &Complaint| Finding {
                check: "vigil",
                line: None,
                breaks_off: false,
                text: format!("another client had to wait: {complaint}"),
            };
            report(Outcome::Failed(slow.iter().map(finding).collect()), Vec::new(), Some(played))
        }
        Ok((played, _)) => {
            let (outcome, exchanges) = baseline.judge(scenario, target.name(), &played);
            report(outcome, exchanges, Some(played))
        }
        Err(error) => {
            let finding = Finding { check: "play", line: None, breaks_off: false, text: format!("{error:#}") };
            report(Outcome::Failed(vec![finding]), Vec::new(), None)
        }
    }
}

/// The reason why `scenario` is not played on `target`, if there is one.
fn skipped(scenario: &Scenario, target: &dyn Target) -> Option<String> {
    let missing = scenario.needs.iter().filter(|power| !target.powers().contains(power));
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    if !missing.is_empty() {
        return Some(format!("{} has no {}", target.name(), missing.join(", ")));
    }
    (!target.concerns(scenario)).then(|| format!("no concern of {}", target.name()))
}
