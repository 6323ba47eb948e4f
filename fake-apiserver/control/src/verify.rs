//! Verification: whether the recorded requests are those that a test expects, and in which order.

use crate::matching::Match;
use crate::request::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Requests that are expected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Verify {
    /// The cursor behind which requests are looked at; the beginning by default.
    #[serde(deserialize_with = "crate::number::read")]
    pub since: u64,
    /// Their order.
    pub order: Sequence,
    /// The fate of other requests.
    pub others: Others,
    /// The verbs of requests that are not looked at.
    pub ignore_verbs: Vec<String>,
    /// The requests.
    pub expect: Vec<Expected>,
}

/// An expected request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Expected {
    /// The request.
    #[serde(rename = "match")]
    pub on: Match,
    /// How often it is expected; once by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

/// The order of expected requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Sequence {
    /// As they are listed; other requests may come in between.
    #[default]
    Relative,
    /// As they are listed, with no other request before or in between.
    Exact,
    /// Any.
    Any,
}

/// The fate of requests that nobody expects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Others {
    /// Nothing.
    #[default]
    Ignore,
    /// They fail the verification.
    Forbid,
}

impl Verify {
    /// The requests, by their indices, among which the next expected one has to be; those before `from` came before the last one.
    fn place(&self, from: usize, taken: &[bool]) -> impl Iterator<Item = usize> {
        let range = match self.order {
            Sequence::Relative => from..taken.len(),
            Sequence::Exact => from..taken.len().min(from + 1),
            Sequence::Any => 0..taken.len(),
        };
        range.filter(|at| !taken[*at])
    }

    /// The verdict about requests, oldest first: `{"passed": false, "message": "...", "failures": [...]}`.
    pub fn verdict(&self, seen: &[Request]) -> Value {
        let looked: Vec<&Request> = seen.iter().filter(|request| !self.ignore_verbs.contains(&request.verb)).collect();
        let mut taken = vec![false; looked.len()];
        let mut failures = Vec::new();
        let mut from = 0;
        for (index, expected) in self.expect.iter().enumerate() {
            for number in 0..expected.count.unwrap_or(1) {
                let found = self.place(from, &taken).find(|at| expected.on.matches(looked[*at]));
                let Some(at) = found else {
                    let on = serde_json::to_string(&expected.on).expect("its keys are texts");
                    failures.push(format!("- expect[{index}] {on}: {number} of {}", expected.count.unwrap_or(1)));
                    break;
                };
                taken[at] = true;
                from = at + 1;
            }
        }
        if self.others == Others::Forbid {
            let others = looked.iter().zip(&taken).filter(|(_, taken)| !**taken);
            failures.extend(others.map(|(request, _)| format!("+ {}", request.line())));
        }
        let message = failures.join("\n");
        json!({"passed": failures.is_empty(), "message": message, "failures": failures})
    }
}
