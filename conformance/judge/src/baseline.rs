//! The baseline that runs are judged by: a real server's recorded answers, and the known differences from them.

use crate::check::{self, Finding};
use crate::dialogue::Played;
use crate::exchange::{self, Exchange};
use crate::ledger::Ledger;
use crate::report::Report;
use crate::scenario::Scenario;
use crate::verdict::{Outcome, Verdict, accepted, differing, verdict};
use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The recordings and the ledger.
pub struct Baseline {
    /// The known differences.
    pub ledger: Ledger,
    /// The exchanges that a real server recorded, by scenario.
    recordings: BTreeMap<String, Vec<Exchange>>,
}

/// The path of a scenario's recording in the folder `fixtures`.
pub fn recording(fixtures: &Path, scenario: &str) -> PathBuf {
    fixtures.join("recordings").join(format!("{scenario}.jsonl"))
}

impl Baseline {
    /// Reads the ledger and the recordings of `scenarios` from the folder `fixtures`.
    ///
    /// # Errors
    /// If one of them cannot be read, or a recording is not of its scenario's present text.
    pub fn load(fixtures: &Path, scenarios: &[Scenario]) -> Result<Baseline> {
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
        Ok(Baseline { ledger: Ledger::load(&fixtures.join("expectations.toml"))?, recordings })
    }

    /// A baseline without recordings and known differences; fields and headers that are never compared are those of the ledger in the
    /// folder `fixtures`, if there is one.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub fn plain(fixtures: &Path) -> Result<Baseline> {
        let ledger = fixtures.join("expectations.toml");
        let ledger = if ledger.exists() { Ledger::load(&ledger)?.without_differences() } else { Ledger::default() };
        Ok(Baseline { ledger, recordings: BTreeMap::new() })
    }

    /// The recorded exchanges of `scenario`; `None` without a recording.
    pub fn recorded(&self, scenario: &str) -> Option<&[Exchange]> {
        self.recordings.get(scenario).map(Vec::as_slice)
    }

    /// The outcome of `scenario` as it was `played` on `target`, and the verdict on each recorded exchange.
    pub fn judge(&self, scenario: &Scenario, target: &str, played: &Played) -> (Outcome, Vec<(usize, Verdict)>) {
        let observed = exchange::exchanges(scenario, played, &self.ledger.omitted);
        let entries = self.ledger.entries(&scenario.name, &scenario.commands(), target);
        let findings = check::findings(scenario, played);
        verdict(scenario, self.recorded(&scenario.name), &observed, findings, &entries)
    }

    /// The differences between targets, in scenarios that no real server has recorded, that the ledger does not list.
    pub fn across(&self, scenarios: &[Scenario], runs: &[(&str, Vec<Report>)]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for scenario in scenarios.iter().filter(|scenario| self.recorded(&scenario.name).is_none()) {
            let played = |reports: &[Report]| {
                let report = reports.iter().find(|report| report.scenario == scenario.name)?;
                let played = report.played.as_ref()?;
                Some(exchange::exchanges(scenario, played, &self.ledger.omitted))
            };
            let mut runs = runs.iter().filter_map(|(target, reports)| Some((*target, played(reports)?)));
            let Some((first, reference)) = runs.next() else { continue };
            for (target, observed) in runs {
                let entries = self.ledger.entries(&scenario.name, &scenario.commands(), target);
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
}
