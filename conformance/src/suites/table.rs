//! The table of suites, and what differs in one.

use super::list::Difference;
use super::verdicts::{Run, Verdict};
use conformance_judge::check::Finding;
use conformance_judge::ledger::matches;
use conformance_judge::report::Report;
use conformance_judge::verdict::Outcome;
use std::fmt::Write as _;
use std::time::Duration;

/// The name of the table's section in its page.
pub const SECTION: &str = "suites";

/// A suite on both pairs.
pub(super) struct Compared {
    pub(super) name: String,
    pub(super) real: Run,
    pub(super) real_bytes: u64,
    pub(super) fake: Run,
    pub(super) fake_bytes: u64,
}

impl Compared {
    /// The tests with other verdicts on this program than on the real pair, and those.
    pub(super) fn differing(&self) -> Vec<(&str, Option<Verdict>, Option<Verdict>)> {
        let (real, fake) = (&self.real.verdicts, &self.fake.verdicts);
        let mut names: Vec<&String> = real.keys().chain(fake.keys()).collect();
        names.sort();
        names.dedup();
        let pairs = names.into_iter().map(|name| (name.as_str(), real.get(name).copied(), fake.get(name).copied()));
        pairs.filter(|(_, real, fake)| real != fake).collect()
    }

    /// The differing tests that are not listed.
    pub(super) fn unlisted(&self, listed: &[Difference]) -> Vec<(&str, Option<Verdict>, Option<Verdict>)> {
        let mut differing = self.differing();
        differing.retain(|(name, ..)| !listed.iter().any(|difference| matches(&difference.test, name)));
        differing
    }

    /// The verdicts here as reports; a test with another verdict than on the real pair has failed, unless it is listed.
    pub(super) fn report(&self, listed: &[Difference]) -> (&str, Vec<Report>) {
        let unlisted = self.unlisted(listed);
        let report = |(name, verdict): (&String, &Verdict)| {
            let outcome = match (unlisted.iter().find(|(differing, ..)| differing == name), verdict) {
                (Some((_, real, fake)), _) => {
                    let text = format!("{real:?} on the real pair, {fake:?} here");
                    Outcome::Failed(vec![Finding { check: "verdict", line: None, breaks_off: false, text }])
                }
                (None, Verdict::Skipped) => Outcome::Skipped { reason: "by the suite".to_owned() },
                (None, _) => Outcome::Passed,
            };
            Report {
                scenario: format!("{}/{name}", self.name),
                outcome,
                exchanges: Vec::new(),
                took: Duration::ZERO,
                played: None,
            }
        };
        (&self.name, self.fake.verdicts.iter().map(report).collect())
    }

    fn row(&self) -> String {
        let passed = |run: &Run| run.count(Verdict::Passed);
        let mb = |bytes: u64| bytes / 1_000_000;
        format!(
            "| {} | {} | {} | {} | {:.0} s | {:.0} s | {} MB | {} MB |",
            self.name,
            self.real.verdicts.len(),
            passed(&self.real),
            passed(&self.fake),
            self.real.seconds,
            self.fake.seconds,
            mb(self.real_bytes),
            mb(self.fake_bytes),
        )
    }
}

/// The table: a row for each suite.
pub(super) fn table(all: &[Compared]) -> String {
    let mut table =
        "| suite | tests | pass on the real pair | pass here | time there | time here | memory there | memory here |\n\
                     | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
            .to_owned();
    all.iter().for_each(|compared| write!(table, "\n{}", compared.row()).expect("writing to a string"));
    table
}
