//! Coverage: the rules that were in force, and how each of them has decided.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The outcome of an expression that could not be evaluated. No rule is expected to have it.
pub const ERROR: &str = "error";

/// A rule: an expression of a policy or a definition, a verb of a role, an operation that a webhook is called for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CoveredRule {
    /// The kind of the object that has it.
    pub kind: String,
    /// The namespace of that object, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name of that object.
    pub name: String,
    /// The rule.
    pub rule: String,
    /// The outcomes that it can have, with the number of times that it had them.
    pub outcomes: BTreeMap<String, u64>,
}

impl CoveredRule {
    /// The outcomes that it never had.
    pub fn gaps(&self) -> Vec<&str> {
        let never = self.outcomes.iter().filter(|(outcome, count)| **count == 0 && *outcome != ERROR);
        never.map(|(outcome, _)| outcome.as_str()).collect()
    }

    /// The rule with the object that has it.
    pub fn full_name(&self) -> String {
        match &*self.namespace {
            "" => format!("{} {}: {}", self.kind, self.name, self.rule),
            namespace => format!("{} {namespace}/{}: {}", self.kind, self.name, self.rule),
        }
    }

    fn place(&self) -> (&str, &str, &str, &str) {
        (&self.kind, &self.namespace, &self.name, &self.rule)
    }
}

/// The rules of several reports, each once, in order: what they counted is added.
pub fn merged(reports: impl IntoIterator<Item = Vec<CoveredRule>>) -> Vec<CoveredRule> {
    let mut all: Vec<CoveredRule> = reports.into_iter().flatten().collect();
    all.sort_by(|one, other| one.place().cmp(&other.place()));
    all.dedup_by(|later, first| {
        let is_same = later.place() == first.place();
        if is_same {
            for (outcome, count) in &later.outcomes {
                *first.outcomes.entry(outcome.clone()).or_default() += count;
            }
        }
        is_same
    });
    all
}

/// The number of outcomes that rules can have, and of those that they had.
pub fn reached(rules: &[CoveredRule]) -> (usize, usize) {
    let outcomes = || rules.iter().flat_map(|rule| &rule.outcomes).filter(|(outcome, _)| *outcome != ERROR);
    (outcomes().filter(|(_, count)| **count > 0).count(), outcomes().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, outcomes: &[(&str, u64)]) -> CoveredRule {
        let outcomes = outcomes.iter().map(|(outcome, count)| ((*outcome).to_owned(), *count)).collect();
        CoveredRule { kind: "Role".into(), namespace: "n".into(), name: name.into(), rule: "get pods".into(), outcomes }
    }

    #[test]
    fn reports_are_added_rule_by_rule() {
        let one = vec![rule("b", &[("true", 1), ("false", 0)]), rule("a", &[("allowed", 0)])];
        let other = vec![rule("b", &[("true", 2), ("false", 3), (ERROR, 1)])];
        let all = merged([one, other]);
        assert_eq!(all, [rule("a", &[("allowed", 0)]), rule("b", &[("true", 3), ("false", 3), (ERROR, 1)])]);
        assert_eq!(all[0].gaps(), ["allowed"]);
        assert_eq!(all[0].full_name(), "Role n/a: get pods");
        assert_eq!(reached(&all), (2, 3));
    }
}
