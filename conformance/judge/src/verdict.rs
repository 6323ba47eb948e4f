//! Verdicts: the meaning of findings for the scenario as a whole, and for each recorded exchange.
//!
//! ```text
//! a finding ── an entry of the ledger accepts it ──▶ listed
//!           └─ none does ──────────────────────────▶ failed
//! an entry that accepted nothing ──────────────────▶ failed: it is stale
//! ```

use crate::check::Finding;
use crate::exchange::{Difference, Exchange, differences};
use crate::ledger::Entry;
use crate::scenario::Scenario;
use std::collections::BTreeMap;

/// The check that compares with the recording.
const RECORDING: &str = "recording";

/// The outcome of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As expected and as recorded, and no guarantee was broken.
    Passed,
    /// Different, and the ledger accepts it.
    Differs {
        /// The ledger's reasons.
        reason: String,
    },
    /// Different, or a guarantee was broken.
    Failed(Vec<Finding>),
    /// The target lacks a power.
    Skipped {
        /// The missing powers.
        reason: String,
    },
}

/// The verdict on one recorded exchange.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Equal to the recording.
    Equal,
    /// Different, and the ledger accepts it.
    Listed {
        /// The differing values.
        differences: Vec<Difference>,
        /// The ledger's reason.
        reason: String,
    },
    /// Different, and no entry of the ledger accepts it.
    Different(Vec<Difference>),
}

/// Judges a run: its `findings`, and the `observed` exchanges against the `recorded` ones, given the ledger's `entries` about it.
pub fn verdict(
    scenario: &Scenario,
    recorded: Option<&[Exchange]>,
    observed: &[Exchange],
    mut findings: Vec<Finding>,
    entries: &[&Entry],
) -> (Outcome, Vec<(usize, Verdict)>) {
    // One finding says where the run broke off; steps that were not played are not findings.
    let broken_off = findings.iter().filter(|finding| finding.breaks_off).find_map(|finding| finding.line);
    let played = |step: usize| broken_off.is_none_or(|line| scenario.steps[step - 1].line < line);
    let differing = differing_steps(recorded.unwrap_or(observed), observed);
    let of_steps = differing.iter().filter(|(step, _)| played(**step));
    findings.extend(of_steps.map(|(step, differences)| finding(scenario, *step, differences)));
    let exchange = |recorded: &Exchange| {
        let step = recorded.step;
        let line = if played(step) { Some(scenario.steps[step - 1].line) } else { broken_off };
        let found: Vec<&Finding> = findings.iter().filter(|finding| finding.line == line).collect();
        let reason = |finding: &&Finding| {
            let entry = entries.iter().find(|entry| accepts(scenario, entry, finding))?;
            Some(entry.reason.clone())
        };
        let differences = differing.get(&step).cloned().unwrap_or_default();
        let reasons: Option<Vec<String>> = found.iter().map(reason).collect();
        let verdict = match (found.is_empty(), reasons) {
            (true, _) => Verdict::Equal,
            (false, Some(mut reasons)) => Verdict::Listed { differences, reason: reasons.remove(0) },
            (false, None) => Verdict::Different(differences),
        };
        (step, verdict)
    };
    let exchanges = recorded.unwrap_or_default().iter().map(exchange).collect();
    (outcome(scenario, findings, entries), exchanges)
}

/// A finding for each step in which two runs differ.
pub fn differing(scenario: &Scenario, recorded: &[Exchange], observed: &[Exchange]) -> Vec<Finding> {
    let differing = differing_steps(recorded, observed);
    differing.iter().map(|(step, differences)| finding(scenario, *step, differences)).collect()
}

/// Whether one of `entries` accepts `finding`.
pub fn accepted(scenario: &Scenario, finding: &Finding, entries: &[&Entry]) -> bool {
    entries.iter().any(|entry| accepts(scenario, entry, finding))
}

fn accepts(scenario: &Scenario, entry: &Entry, finding: &Finding) -> bool {
    let hides = !entry.expectation_holds || finding.check == RECORDING;
    hides && entry.accepts(finding.line.and_then(|line| command(scenario, line)))
}

fn differing_steps(recorded: &[Exchange], observed: &[Exchange]) -> BTreeMap<usize, Vec<Difference>> {
    let mut by_step = BTreeMap::<usize, Vec<Difference>>::new();
    for difference in differences(recorded, observed) {
        by_step.entry(difference.step).or_default().push(difference);
    }
    by_step
}

fn finding(scenario: &Scenario, step: usize, differences: &[Difference]) -> Finding {
    let line = scenario.steps[step - 1].line;
    let lines: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let text = format!("line {line}: {}\n{}", command(scenario, line).unwrap_or_default(), lines.join("\n"));
    Finding { check: RECORDING, line: Some(line), breaks_off: false, text }
}

/// The command at a line of the scenario.
fn command(scenario: &Scenario, line: usize) -> Option<&str> {
    scenario.steps.iter().find(|step| step.line == line).map(|step| scenario.command_line(step))
}

fn outcome(scenario: &Scenario, findings: Vec<Finding>, entries: &[&Entry]) -> Outcome {
    let stale = entries.iter().filter(|entry| !findings.iter().any(|finding| accepts(scenario, entry, finding)));
    let stale: Vec<Finding> = stale
        .map(|entry| {
            let step = entry.step.as_deref().map(|step| format!(" in {step:?}")).unwrap_or_default();
            let text = format!("the known difference{step} ({}) is gone; take it out of the ledger", entry.reason);
            Finding { check: "ledger", line: None, breaks_off: false, text }
        })
        .collect();
    let (listed, mut failed): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| accepted(scenario, finding, entries));
    failed.extend(stale);
    if !failed.is_empty() {
        return Outcome::Failed(failed);
    }
    if listed.is_empty() {
        return Outcome::Passed;
    }
    let mut reasons: Vec<&str> = entries.iter().map(|entry| entry.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    Outcome::Differs { reason: reasons.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Ledger;
    use crate::observation::Item;
    use serde_json::json;

    const TEXT: &str = "# Why.\n\nget configmaps/a\n----\n200\n\nget configmaps/b\n----\n200\n";

    fn exchange(step: usize, value: u32) -> Exchange {
        Exchange { step, command: String::new(), items: vec![Item::new("200", json!({"data": value}))] }
    }

    fn judged(observed: &[Exchange], findings: &[Finding], ledger: &str) -> (String, String) {
        let scenario = Scenario::parse("get/x", TEXT).unwrap();
        let ledger = Ledger::parse(ledger).unwrap();
        let recorded = [exchange(1, 1), exchange(2, 2)];
        let entries = ledger.entries("get/x", &scenario.commands(), "embedded");
        let (outcome, exchanges) = verdict(&scenario, Some(&recorded), observed, findings.to_vec(), &entries);
        let outcome = match outcome {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Differs { reason } => reason,
            Outcome::Failed(findings) => findings.iter().map(|finding| finding.check).collect::<Vec<_>>().join(" "),
            Outcome::Skipped { .. } => unreachable!(),
        };
        let letter = |(_, verdict): &(usize, Verdict)| match verdict {
            Verdict::Equal => '=',
            Verdict::Listed { .. } => 'l',
            Verdict::Different(_) => '!',
        };
        (outcome, exchanges.iter().map(letter).collect())
    }

    #[test]
    fn the_ledger_has_to_be_right() {
        let entry = |step: &str| {
            format!("[[difference]]\nscenario = \"get/*\"\n{step}targets = [\"embedded\"]\nreason = \"why\"\n")
        };
        let dialogue = Finding { check: "dialogue", line: Some(7), breaks_off: false, text: "x".into() };
        let guarantee = Finding { check: "linear", line: None, breaks_off: false, text: "x".into() };
        let broken = Finding { breaks_off: true, ..dialogue.clone() };
        let same = [exchange(1, 1), exchange(2, 2)];
        let other = [exchange(1, 1), exchange(2, 9)];
        let on_b = "step = \"get */b\"\n";
        let on_a = "step = \"get */a\"\n";
        for (observed, findings, ledger, outcome, exchanges) in [
            (&same[..], &[][..], String::new(), "passed", "=="),
            (&same, &[], entry(""), "ledger", "=="),
            (&other, &[], String::new(), "recording", "=!"),
            (&other, &[], entry(""), "why", "=l"),
            (&other, &[], entry(on_b), "why", "=l"),
            (&other, &[], entry(on_a), "recording ledger", "=!"),
            (&same, &[dialogue], entry(on_b), "why", "=l"),
            (&same, std::slice::from_ref(&guarantee), entry(""), "why", "=="),
            (&same, std::slice::from_ref(&guarantee), entry(on_b), "linear ledger", "=="),
            (&same[..1], std::slice::from_ref(&broken), entry(""), "why", "=l"),
            (&same[..1], std::slice::from_ref(&broken), String::new(), "dialogue", "=!"),
        ] {
            assert_eq!(judged(observed, findings, &ledger), (outcome.to_owned(), exchanges.to_owned()), "{ledger}");
        }
    }
}
