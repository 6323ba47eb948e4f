//! The ledger: the known differences from a real kube-apiserver, and the reasons why they are accepted.
//!
//! ```toml
//! [[omitted]]                      # compared nowhere
//! field = "managedFields"          # at any depth; or header = "date"
//! step = "get pods/*"              # only in answers to these commands
//! reason = "…"
//!
//! [[difference]]
//! scenario = "watch/slow-*"        # each `*` stands for any text
//! step = "list configmaps *"       # the command; without it anything in the scenario may differ
//! expectation_holds = true         # what the scenario expects of the answer does not differ
//! targets = ["embedded", "process"]
//! reason = "a slow watcher is served, not closed"
//! ```
//!
//! An entry that accepts nothing is stale, and fails like a difference without an entry.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// All known differences.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The fields and headers that are never compared.
    #[serde(default)]
    pub omitted: Vec<Omission>,
    #[serde(default)]
    difference: Vec<Entry>,
}

/// A field or a header that is compared nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Omission {
    /// A field of any document, at any depth.
    pub field: Option<String>,
    /// A response header, lower case; each `*` stands for any text.
    pub header: Option<String>,
    /// The commands whose answers have it; may have `*`. `None` is all.
    pub step: Option<String>,
    /// The reason why it is not compared.
    pub reason: String,
}

/// A known difference.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The scenarios it touches; may have `*`.
    pub scenario: String,
    /// The commands it touches; may have `*`. `None` is all, and findings about no command.
    pub step: Option<String>,
    /// Whether the scenario's expectation holds nevertheless, and only the rest of the answer differs.
    #[serde(default)]
    pub expectation_holds: bool,
    /// The targets that differ.
    pub targets: Vec<String>,
    /// The reason why the difference is accepted.
    pub reason: String,
}

impl Ledger {
    /// The ledger with the fields and headers that are never compared, and nothing else.
    pub(crate) fn without_differences(self) -> Ledger {
        Ledger { difference: Vec::new(), ..self }
    }

    /// Reads a ledger.
    pub fn parse(text: &str) -> Result<Ledger> {
        Ok(toml::from_str(text)?)
    }

    /// Reads the ledger at `path`.
    pub fn load(path: &Path) -> Result<Ledger> {
        let read = || Ledger::parse(&std::fs::read_to_string(path)?);
        read().with_context(|| path.display().to_string())
    }

    /// The entries about a scenario with these commands on `target`.
    pub fn entries(&self, scenario: &str, commands: &[&str], target: &str) -> Vec<&Entry> {
        let has = |step: &String| commands.iter().any(|command| matches(step, command));
        let about = |entry: &&Entry| {
            entry.is_about(target) && matches(&entry.scenario, scenario) && entry.step.as_ref().is_none_or(has)
        };
        self.difference.iter().filter(about).collect()
    }

    /// The entries for `target` that name none of `scenarios`.
    pub fn unmatched<'a>(&'a self, target: &str, scenarios: &[impl AsRef<str>]) -> Vec<&'a Entry> {
        let unmatched = |entry: &&Entry| !scenarios.iter().any(|scenario| matches(&entry.scenario, scenario.as_ref()));
        self.difference.iter().filter(|entry| entry.is_about(target)).filter(unmatched).collect()
    }
}

impl Entry {
    fn is_about(&self, target: &str) -> bool {
        self.targets.iter().any(|known| known == target)
    }

    /// Whether it accepts differences in `command`; `None` stands for findings about no command.
    pub fn accepts(&self, command: Option<&str>) -> bool {
        match (&self.step, command) {
            (None, _) => true,
            (Some(step), Some(command)) => matches(step, command),
            (Some(_), None) => false,
        }
    }
}

impl Omission {
    /// Whether it is about answers to `command`.
    pub fn is_about(&self, command: &str) -> bool {
        self.step.as_ref().is_none_or(|step| matches(step, command))
    }

    /// Whether it leaves out the response header `name`.
    pub fn omits_header(&self, name: &str) -> bool {
        self.header.as_ref().is_some_and(|header| matches(header, name))
    }

    /// Removes the field from `document`, at any depth.
    pub fn take_out_of(&self, document: &mut Value) {
        match document {
            Value::Object(fields) => {
                if let Some(field) = &self.field {
                    fields.remove(field);
                }
                fields.values_mut().for_each(|value| self.take_out_of(value));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.take_out_of(item)),
            _ => {}
        }
    }
}

/// Whether the pattern is the name; each `*` in it stands for any text.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let name = name.strip_prefix(start);
    let name = middle.split('*').fold(name, |name, part| name?.split_once(part).map(|(_, after)| after));
    name.is_some_and(|name| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a*", "a", true),
            ("*b", "ab", true),
            ("a*a", "a", false),
            ("*/v1.*", "x/v1.y", true),
            ("*/v1.*", "x/v1", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*b*b", "a-b", false),
            ("**", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn entries_name_scenarios_of_targets() {
        let ledger = Ledger::parse(
            "[[difference]]\nscenario = \"watch/slow-*\"\ntargets = [\"embedded\"]\nreason = \"why\"\n\
             [[difference]]\nscenario = \"crud/gone\"\nstep = \"get *\"\ntargets = [\"embedded\", \"process\"]\nreason = \"no longer\"\n",
        )
        .unwrap();
        let reasons = |scenario, target, command| {
            let entries =
                ledger.entries(scenario, &["get x"], target).into_iter().filter(|entry| entry.accepts(command));
            entries.map(|entry| entry.reason.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(reasons("watch/slow-reader", "embedded", Some("anything")), ["why"]);
        assert_eq!(reasons("watch/slow-reader", "embedded", None), ["why"]);
        assert_eq!(reasons("watch/slow-reader", "process", None), [""; 0]);
        assert_eq!(reasons("crud/gone", "process", Some("get x")), ["no longer"]);
        assert_eq!(reasons("crud/gone", "process", Some("list x")), [""; 0]);
        assert_eq!(reasons("crud/gone", "process", None), [""; 0]);
        let unmatched = ledger.unmatched("embedded", &["watch/slow-reader"]);
        assert_eq!(unmatched.iter().map(|entry| entry.scenario.as_str()).collect::<Vec<_>>(), ["crud/gone"]);
        assert!(ledger.unmatched("real", &[""; 0]).is_empty());
        assert_eq!(Ledger::parse("").unwrap(), Ledger::default());
        assert!(Ledger::parse("[[difference]]\nscenario = \"a\"\n").is_err());
    }

    #[test]
    fn what_is_omitted_is_not_there() {
        let ledger = Ledger::parse(
            "[[omitted]]\nfield = \"managedFields\"\nstep = \"get *\"\nreason = \"a\"\n[[omitted]]\nheader = \"x-pf-*\"\nreason = \"b\"\n",
        )
        .unwrap();
        let mut document = json!({"items": [{"metadata": {"name": "a", "managedFields": []}}]});
        ledger.omitted.iter().for_each(|omission| omission.take_out_of(&mut document));
        assert_eq!(document, json!({"items": [{"metadata": {"name": "a"}}]}));
        assert!(ledger.omitted[1].omits_header("x-pf-uid") && !ledger.omitted[1].omits_header("date"));
        assert!(ledger.omitted[0].is_about("get pods") && !ledger.omitted[0].is_about("list pods"));
        assert!(ledger.omitted[1].is_about("list pods"));
    }
}
