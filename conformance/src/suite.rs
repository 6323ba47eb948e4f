//! The suite: scenarios × a target → reports.

use crate::play::{Options, play_beside};
use crate::subject::Target;
use crate::vigil::Complaint;
use conformance_judge::baseline::Baseline;
use conformance_judge::check::Finding;
use conformance_judge::report::Report;
use conformance_judge::scenario::Scenario;
use conformance_judge::verdict::Outcome;
use futures::StreamExt as _;
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The number of scenarios that are played at once. They mostly wait, so there are more of them than processors.
const AT_ONCE: usize = 8;

/// The time after which a scenario that is still being played is named.
const LONG: Duration = Duration::from_secs(2);

/// The progress of scenarios that are played.
pub enum Progress<'p> {
    /// That scenario takes long.
    Long(&'p str),
    /// One has ended.
    Ended(&'p Report),
}

/// Plays `scenarios` on `target`, several at a time; on a shared target the exclusive ones run at the end, one after the
/// other. The result is in the order of `scenarios`.
///
/// Beside another client all are played one after the other, and one that makes it wait for too long fails.
pub async fn run(
    scenarios: &[Scenario],
    target: &dyn Target,
    baseline: &Baseline,
    options: Options,
    progress: impl Fn(Progress<'_>),
) -> Vec<Report> {
    let alone = |scenario: &&Scenario| target.is_shared() && scenario.is_exclusive();
    let (alone, together): (Vec<_>, Vec<_>) = scenarios.iter().partition(alone);
    let play = |scenarios: Vec<_>, at_once| {
        let reports = scenarios.into_iter().map(async |scenario: &Scenario| {
            let mut report = pin!(one(scenario, target, baseline, options));
            if let Ok(report) = timeout(LONG, &mut report).await {
                return report;
            }
            progress(Progress::Long(&scenario.name));
            report.await
        });
        futures::stream::iter(reports).buffer_unordered(at_once)
    };
    let reports = play(together, if options.beside.is_some() { 1 } else { AT_ONCE }).chain(play(alone, 1));
    let mut reports: Vec<Report> = reports.inspect(|report| progress(Progress::Ended(report))).collect().await;
    reports.sort_by(|one, other| one.scenario.cmp(&other.scenario));
    reports
}

async fn one(scenario: &Scenario, target: &dyn Target, baseline: &Baseline, options: Options) -> Report {
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
    match play_beside(scenario, target, options).await {
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
