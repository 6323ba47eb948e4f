//! The ledger of suites: the checks that pass on a real kube-apiserver and not on the fake, and why (`fixtures/clients.toml`).
//!
//! ```toml
//! [[missing]]
//! suite = "upstream"
//! checks = ["*batch/v1,_Resource=jobs"]     # each `*` stands for any text
//! reason = "the kind is not served"
//! ```
//!
//! A pattern that accepts nothing is stale, and fails like a check that is not listed.

use super::outcome::Outcome;
use super::table::missing;
use anyhow::{Context as _, Result};
use conformance_judge::ledger::matches;
use serde::Deserialize;
use std::path::Path;

/// Its place in the workspace.
pub(super) const PATH: &str = "fixtures/clients.toml";

/// The checks that may fail on the fake.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    missing: Vec<Entry>,
}

/// Checks that fail for one reason, which is for the reader.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    suite: String,
    checks: Vec<String>,
    #[serde(rename = "reason")]
    _reason: String,
}

impl Ledger {
    /// Reads that of the workspace at `root`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn load(root: &Path) -> Result<Ledger> {
        let path = root.join(PATH);
        let read = || -> Result<Ledger> { Ok(toml::from_str(&std::fs::read_to_string(&path)?)?) };
        read().with_context(|| path.display().to_string())
    }

    /// The contradictions between a suite's outcome on the fake and the ledger. If the outcome on a real server is given, the fake must
    /// pass the checks that pass there; otherwise it must pass every check, and entries that match no check are not reported.
    pub(super) fn complaints(&self, suite: &str, fake: &Outcome, real: Option<&Outcome>) -> Vec<String> {
        let patterns: Vec<&str> = self.patterns(suite).collect();
        let failing: Vec<&str> = real.map_or_else(
            || fake.failed().collect(),
            |real| {
                // Stories are told of the fake alone.
                let stories = fake.failed().filter(|name| real.check(name).is_none());
                missing(real, fake).into_iter().chain(stories).collect()
            },
        );
        let accepts = |pattern: &str| failing.iter().any(|name| matches(pattern, name));
        let unlisted = failing.iter().filter(|name| !patterns.iter().any(|pattern| matches(pattern, name)));
        let unlisted = unlisted.map(|name| format!("{name} fails, and is not listed"));
        let stale = patterns.iter().filter_map(|pattern| {
            let passing = fake.passing().find(|name| matches(pattern, name));
            let passing = passing.map(|name| format!("{pattern} is listed, and {name} passes"));
            let nothing =
                || (real.is_some() && !accepts(pattern)).then(|| format!("{pattern} is listed, and accepts nothing"));
            passing.or_else(nothing)
        });
        unlisted.chain(stale).collect()
    }

    fn patterns<'l>(&'l self, suite: &str) -> impl Iterator<Item = &'l str> {
        let entries = self.missing.iter().filter(move |entry| entry.suite == suite);
        entries.flat_map(|entry| &entry.checks).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lines: &[&str]) -> Outcome {
        let mut outcome = Outcome::default();
        lines.iter().for_each(|line| outcome.take(line).unwrap());
        outcome
    }

    #[test]
    fn what_is_not_listed_fails_and_so_does_what_is_stale() {
        let ledger = |checks: &str| -> Ledger {
            toml::from_str(&format!("[[missing]]\nsuite = \"s\"\nchecks = {checks}\nreason = \"why\"")).unwrap()
        };
        let real = outcome(&["ok a", "ok b/x", "ok b/y", "FAIL c: z"]);
        let fake = outcome(&["ok a", "FAIL b/x: z", "FAIL c: z"]);
        for (checks, with_real, without) in [
            ("[]", &["b/x fails, and is not listed", "b/y fails, and is not listed"][..], &[][..]),
            ("[\"b/*\"]", &[], &[]),
            ("[\"b/*\", \"a\"]", &["a is listed, and a passes"], &["a is listed, and a passes"]),
            ("[\"b/*\", \"d\"]", &["d is listed, and accepts nothing"], &[]),
        ] {
            assert_eq!(ledger(checks).complaints("s", &fake, Some(&real)), with_real, "{checks}");
            let found = ledger(checks).complaints("s", &fake, None);
            assert_eq!(found.iter().filter(|line| line.contains("passes")).collect::<Vec<_>>(), without, "{checks}");
        }
        assert_eq!(ledger("[\"a\"]").complaints("t", &outcome(&["FAIL a: x"]), None), ["a fails, and is not listed"]);
        assert_eq!(ledger("[\"a\"]").complaints("s", &outcome(&["FAIL a: x"]), None), [""; 0]);
    }

    #[test]
    fn all_entries_are_of_suites() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for entry in Ledger::load(root).unwrap().missing {
            assert!(super::super::suites::SUITES.iter().any(|suite| suite.name == entry.suite), "{}", entry.suite);
        }
    }
}
