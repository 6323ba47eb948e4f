//! The table of suites, and what differs in one.

use super::list::Difference;
use super::verdicts::{Run, Verdict};
use conformance_judge::check::Finding;
use conformance_judge::ledger::matches;
use conformance_judge::report::Report;
use conformance_judge::verdict::Outcome;
use std::time::Duration;

/// The name of the table's section in its page.
pub const SECTION: &str = "suites";
/// The table's first two lines.
pub(super) const HEAD: &str = "| suite | tests | pass on the real pair | pass here | time there | time here | memory there | memory here |\n\
     | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";

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

    /// The tests that pass on the real pair, and not here, and are not listed.
    pub(super) fn lost(&self, listed: &[Difference]) -> Vec<&str> {
        let is_lost = |(name, real, _): &(&str, Option<Verdict>, Option<Verdict>)| {
            *real == Some(Verdict::Passed) && !listed.iter().any(|difference| matches(&difference.test, name))
        };
        self.differing().into_iter().filter(is_lost).map(|(name, ..)| name).collect()
    }

    /// The verdicts here as reports; only what passes on the real pair can fail.
    pub(super) fn report(&self, listed: &[Difference]) -> (&str, Vec<Report>) {
        let lost = self.lost(listed);
        let report = |(name, verdict): (&String, &Verdict)| {
            let outcome = match verdict {
                _ if lost.contains(&name.as_str()) => {
                    let text = format!("it passes on the real pair, and here it is {verdict:?}");
                    Outcome::Failed(vec![Finding { check: "verdict", line: None, breaks_off: false, text }])
                }
                Verdict::Skipped => Outcome::Skipped { reason: "by the suite".to_owned() },
                Verdict::Failed => Outcome::Differs { reason: "it fails on the real pair, too".to_owned() },
                Verdict::Passed => Outcome::Passed,
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

    /// The suite's row.
    pub(super) fn row(&self) -> String {
        let passed = |run: &Run| run.count(Verdict::Passed);
        let mb = |bytes: u64| bytes / 1_000_000;
        format!(
            "| {} | {} | {} | {} | {:.0} s | {:.0} s | {} MB | {} MB |\n",
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
