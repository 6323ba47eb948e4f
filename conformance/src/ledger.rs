//! The known differences: which scenarios a target plays differently, and why.
//!
//! ```toml
//! [[difference]]
//! scenario = "watch/slow-*"      # one `*` stands for any text
//! target = "embedded"
//! reason = "a slow watcher is served, not closed"
//! ```
//!
//! An entry is a promise: the scenarios it names do differ. One that passes makes its entry stale, and that fails as a
//! difference without an entry does.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::path::Path;

/// All known differences.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    #[serde(default)]
    difference: Vec<Difference>,
}

/// A known difference.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The scenarios it touches; may have one `*`.
    pub scenario: String,
    /// The target that differs.
    pub target: String,
    /// Why that is accepted.
    pub reason: String,
}

impl Ledger {
    /// Reads a ledger.
    pub fn parse(text: &str) -> Result<Ledger> {
        Ok(toml::from_str(text)?)
    }

    /// Reads the ledger at `path`.
    pub fn load(path: &Path) -> Result<Ledger> {
        let read = || Ledger::parse(&std::fs::read_to_string(path)?);
        read().with_context(|| path.display().to_string())
    }

    /// Why `scenario` may differ on `target`, if it may.
    pub fn reason(&self, scenario: &str, target: &str) -> Option<&str> {
        let entry = self.difference.iter().find(|entry| entry.target == target && matches(&entry.scenario, scenario));
        entry.map(|entry| entry.reason.as_str())
    }

    /// The entries for `target` that name none of `scenarios`.
    pub fn idle<'a>(&'a self, target: &str, scenarios: &[&str]) -> Vec<&'a Difference> {
        let idle = |entry: &&Difference| !scenarios.iter().any(|scenario| matches(&entry.scenario, scenario));
        self.difference.iter().filter(|entry| entry.target == target).filter(idle).collect()
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_scenarios_of_one_target() {
        let ledger = Ledger::parse(
            "[[difference]]\nscenario = \"watch/slow-*\"\ntarget = \"embedded\"\nreason = \"why\"\n\
             [[difference]]\nscenario = \"crud/gone\"\ntarget = \"embedded\"\nreason = \"no longer\"\n",
        )
        .unwrap();
        assert_eq!(ledger.reason("watch/slow-reader", "embedded"), Some("why"));
        assert_eq!(ledger.reason("watch/slow-reader", "process"), None);
        assert_eq!(ledger.reason("watch/quick", "embedded"), None);
        let idle = ledger.idle("embedded", &["watch/slow-reader"]);
        assert_eq!(idle.iter().map(|entry| entry.scenario.as_str()).collect::<Vec<_>>(), ["crud/gone"]);
        assert!(ledger.idle("process", &[]).is_empty());
        assert_eq!(Ledger::parse("").unwrap(), Ledger::default());
        assert!(Ledger::parse("[[difference]]\nscenario = \"a\"\n").is_err());
    }
}
