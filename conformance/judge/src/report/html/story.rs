//! The conversion of reports to the page's data.

use super::page::{Difference, Ending, Found, Page, Story};
use super::timeline::timeline;
use crate::check::{self, Finding, dialogue};
use crate::dialogue::Played;
use crate::report::Report;
use crate::scenario::Scenario;
use crate::verdict::{Outcome, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;

/// The page of `runs` (targets with their reports) of `scenarios`; `across` is where the targets differ from each other.
/// Reports of other scenarios are left out.
pub(super) fn page<'a>(
    version: &'a str,
    scenarios: &'a [Scenario],
    runs: &'a [(&'a str, Vec<Report>)],
    across: &'a [Finding],
) -> Page<'a> {
    let by_name: BTreeMap<&str, &Scenario> =
        scenarios.iter().map(|scenario| (scenario.name.as_str(), scenario)).collect();
    let reports = runs.iter().flat_map(|(target, reports)| reports.iter().map(|report| (*target, report)));
    let stories =
        reports.filter_map(|(target, report)| Some(story(by_name.get(report.scenario.as_str())?, target, report)));
    let mut scenarios: Vec<Story<'_>> = stories.collect();
    scenarios.sort_by_key(|story| (story.outcome, story.name));
    let targets = runs.iter().map(|(target, _)| *target).collect();
    Page { targets, version, scenarios, findings: across.iter().map(found).collect() }
}

fn story<'a>(scenario: &'a Scenario, target: &'a str, report: &'a Report) -> Story<'a> {
    let played = report.played.as_ref();
    Story {
        name: &scenario.name,
        target,
        outcome: Ending::of(&report.outcome),
        took_millis: (report.took.as_secs_f64() * 10_000.0).round() / 10.0,
        summary: scenario.text.summary(),
        reason: match &report.outcome {
            Outcome::Differs { reason } | Outcome::Skipped { reason } => Some(reason),
            Outcome::Passed | Outcome::Failed(_) => None,
        },
        findings: findings(report),
        timeline: played.map(|played| timeline(scenario, played, &differences(scenario, report, played))),
    }
}

fn found(finding: &Finding) -> Found<'_> {
    Found { check: finding.check, text: finding.text.clone() }
}

/// The findings that belong to no step.
fn findings(report: &Report) -> Vec<Found<'_>> {
    match (&report.outcome, &report.played) {
        (Outcome::Failed(findings), _) => findings.iter().filter(|finding| finding.line.is_none()).map(found).collect(),
        (Outcome::Differs { .. }, Some(played)) => {
            let broken = check::guarantees(&played.history).into_iter();
            broken.map(|Finding { check, text, .. }| Found { check, text }).collect()
        }
        _ => Vec::new(),
    }
}

/// The differences from the scenario and from the recording, by the line of their step.
fn differences(scenario: &Scenario, report: &Report, played: &Played) -> BTreeMap<usize, Vec<Difference>> {
    let mut differences = BTreeMap::<usize, Vec<Difference>>::new();
    let deviations = dialogue::deviations(scenario, &played.dialogue);
    let broken_off = deviations.iter().find(|deviation| deviation.observed.is_none()).map(|deviation| deviation.line);
    for deviation in deviations {
        let observed = deviation.observed.map(|lines| lines.join("\n"));
        differences.entry(deviation.line).or_default().push(Difference {
            path: None,
            recorded: deviation.expected.join("\n"),
            observed: observed.unwrap_or_else(|| "nothing from here on was played".to_owned()),
            reason: reason(scenario, report, deviation.line),
        });
    }
    for (step, verdict) in &report.exchanges {
        let (found, reason) = match verdict {
            Verdict::Equal => continue,
            Verdict::Listed { differences, reason } => (differences, Some(reason.clone())),
            Verdict::Different(differences) => (differences, None),
        };
        let line = scenario.steps[step - 1].line;
        // A step that was not played is not another difference.
        if broken_off.is_some_and(|broken_off| line >= broken_off) {
            continue;
        }
        differences.entry(line).or_default().extend(found.iter().map(|difference| Difference {
            path: Some(difference.path.clone()),
            recorded: shown(difference.recorded.as_ref()),
            observed: shown(difference.observed.as_ref()),
            reason: reason.clone(),
        }));
    }
    differences.retain(|_, differences| !differences.is_empty());
    differences
}

/// The ledger's reason for the difference in the step at `line`.
fn reason(scenario: &Scenario, report: &Report, line: usize) -> Option<String> {
    let at_line = |(step, _): &&(usize, Verdict)| scenario.steps.get(step - 1).map(|step| step.line) == Some(line);
    match (report.exchanges.iter().find(at_line), &report.outcome) {
        (Some((_, Verdict::Listed { reason, .. })), _) | (_, Outcome::Differs { reason }) => Some(reason.clone()),
        (_, Outcome::Failed(findings)) if !findings.iter().any(|finding| finding.line == Some(line)) => {
            Some("the ledger lists it".to_owned())
        }
        _ => None,
    }
}

/// A value as the language of scenarios has it.
fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), |value| format!("{value:#}"))
}
