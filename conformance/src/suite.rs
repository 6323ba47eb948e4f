//! The suite: scenarios × a target → reports.

use crate::check::{self, Finding, dialogue::dialogue};
use crate::exchange::{self, Exchange};
use crate::history::History;
use crate::ledger::Ledger;
use crate::play::{Played, play};
use crate::scenario::Scenario;
use crate::target::Target;
use crate::verdict::{Outcome, Verdict, accepted, differing, verdict};
use anyhow::{Result, ensure};
use futures::StreamExt as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many scenarios are played at once. They mostly wait, so there are more of them than processors.
const AT_ONCE: usize = 8;

/// What runs are judged by.
pub struct Truth {
    /// The known differences.
    pub ledger: Ledger,
    /// What a real server answered, by scenario.
    recordings: BTreeMap<String, Vec<Exchange>>,
}

/// What became of one scenario.
pub struct Report {
    /// `area/behaviour`.
    pub scenario: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What became of each exchange that a real server recorded; none if the scenario was skipped.
    pub exchanges: Vec<(usize, Verdict)>,
    /// How long it took.
    pub took: Duration,
    /// What was played, unless it was skipped or the target did not start.
    pub played: Option<Played>,
}

impl Report {
    /// Its area: the folder of its scenario.
    pub fn area(&self) -> &str {
        self.scenario.split('/').next().unwrap_or_default()
    }

    /// Whether it ended badly.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }
}

impl Truth {
    /// Reads the ledger and the recordings of `scenarios` from the folder `fixtures`.
    ///
    /// # Errors
    /// If one of them cannot be read, or a recording is of another text than its scenario has now.
    pub fn load(fixtures: &Path, scenarios: &[Scenario]) -> Result<Truth> {
        let mut recordings = BTreeMap::new();
        for scenario in scenarios {
            let path = recording(fixtures, &scenario.name);
            if path.exists() {
                let exchanges = exchange::load(&path)?;
                let same = |exchange: &Exchange| scenario.command(exchange.step) == Some(&exchange.command);
                ensure!(exchanges.iter().all(same), "{} was changed; bless it again", scenario.name);
                recordings.insert(scenario.name.clone(), exchanges);
            }
        }
        Ok(Truth { ledger: Ledger::load(&fixtures.join("expectations.toml"))?, recordings })
    }

    /// What a real server answered, if one was asked.
    pub fn recorded(&self, scenario: &str) -> Option<&[Exchange]> {
        self.recordings.get(scenario).map(Vec::as_slice)
    }
}

/// The file in the folder `fixtures` that keeps what a real server answered.
pub fn recording(fixtures: &Path, scenario: &str) -> PathBuf {
    fixtures.join("recordings").join(format!("{scenario}.jsonl"))
}

/// Plays `scenarios` on `target`, a few at a time; those that have a whole server in view one after the other at the end, if all
/// share one. `progress` hears of each as it ends; the result is in order.
pub async fn run(
    scenarios: &[Scenario],
    target: &dyn Target,
    truth: &Truth,
    mut progress: impl FnMut(&Report),
) -> Vec<Report> {
    let alone = |scenario: &&Scenario| target.is_shared() && scenario.needs.iter().any(|need| need.is_exclusive());
    let (alone, together): (Vec<_>, Vec<_>) = scenarios.iter().partition(alone);
    let play = |scenarios: Vec<_>, at_once| {
        let reports = scenarios.into_iter().map(|scenario| one(scenario, target, truth));
        futures::stream::iter(reports).buffer_unordered(at_once)
    };
    let reports = play(together, AT_ONCE).chain(play(alone, 1));
    let mut reports: Vec<Report> = reports.inspect(|report| progress(report)).collect().await;
    reports.sort_by(|one, other| one.scenario.cmp(&other.scenario));
    reports
}

async fn one(scenario: &Scenario, target: &dyn Target, truth: &Truth) -> Report {
    let begun = Instant::now();
    let missing: Vec<String> =
        scenario.needs.iter().filter(|power| !target.powers().contains(power)).map(ToString::to_string).collect();
    let report = |outcome, exchanges, played| Report {
        scenario: scenario.name.clone(),
        outcome,
        exchanges,
        took: begun.elapsed(),
        played,
    };
    if !missing.is_empty() {
        let reason = format!("{} has no {}", target.name(), missing.join(", "));
        return report(Outcome::Skipped { reason }, Vec::new(), None);
    }
    if !target.concerns(scenario) {
        return report(Outcome::Skipped { reason: format!("no concern of {}", target.name()) }, Vec::new(), None);
    }
    match play(scenario, target).await {
        Ok(played) => {
            let observed = exchange::exchanges(scenario, &played, &truth.ledger.omitted);
            let entries = truth.ledger.entries(&scenario.name, &scenario.commands(), target.name());
            let findings = judge(scenario, &played.history);
            let (outcome, exchanges) = verdict(scenario, truth.recorded(&scenario.name), &observed, findings, &entries);
            report(outcome, exchanges, Some(played))
        }
        Err(error) => {
            let finding = Finding { check: "play", line: None, breaks_off: false, text: format!("{error:#}") };
            report(Outcome::Failed(vec![finding]), Vec::new(), None)
        }
    }
}

/// Where targets differ from each other, in scenarios that no real server has recorded, and the ledger does not say so.
pub fn across(scenarios: &[Scenario], runs: &[(&str, Vec<Report>)], truth: &Truth) -> Vec<Finding> {
    let mut findings = Vec::new();
    for scenario in scenarios.iter().filter(|scenario| truth.recorded(&scenario.name).is_none()) {
        let played = |reports: &[Report]| {
            let report = reports.iter().find(|report| report.scenario == scenario.name)?;
            let played = report.played.as_ref()?;
            Some(exchange::exchanges(scenario, played, &truth.ledger.omitted))
        };
        let mut runs = runs.iter().filter_map(|(target, reports)| Some((*target, played(reports)?)));
        let Some((first, reference)) = runs.next() else { continue };
        for (target, observed) in runs {
            let entries = truth.ledger.entries(&scenario.name, &scenario.commands(), target);
            let differing = differing(scenario, &reference, &observed);
            let unlisted = differing.into_iter().filter(|finding| !accepted(scenario, finding, &entries));
            findings.extend(unlisted.map(|finding| Finding {
                text: format!("{} on {first} (-) and {target} (+): {}", scenario.name, finding.text),
                ..finding
            }));
        }
    }
    findings
}

/// All findings in the history of a scenario.
pub fn judge(scenario: &Scenario, history: &History) -> Vec<Finding> {
    let mut findings = dialogue(scenario, history);
    findings.extend(check::guarantees(history));
    findings
}
