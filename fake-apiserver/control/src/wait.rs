//! Waiting for requests: how many are enough, and which came close.

use crate::matching::Match;
use crate::request::Request;
use serde::{Deserialize, Serialize};

/// The most near misses that are told of.
const NEAR: usize = 5;

/// Requests to wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Wait {
    /// The requests.
    #[serde(rename = "match")]
    pub on: Match,
    /// The cursor behind which they are; the beginning by default.
    #[serde(deserialize_with = "crate::number::read")]
    pub since: u64,
    /// How many are wanted; at least one by default.
    pub count: Count,
    /// The longest time that is waited for the least number, in seconds of the real clock; 5 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// The time for which there may not be more than the greatest number, in seconds of the real clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_seconds: Option<u32>,
}

/// A number of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Count {
    /// At least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<usize>,
    /// At most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
}

impl Count {
    /// The least number: one, unless something else is said.
    pub fn least(self) -> usize {
        self.min.unwrap_or(usize::from(self.max.is_none()))
    }

    /// Whether a number is too great.
    pub fn is_exceeded_by(self, number: usize) -> bool {
        self.max.is_some_and(|max| number > max)
    }
}

/// A request that nearly matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NearMiss {
    /// The request.
    pub request: Request,
    /// Why it does not match: `users: the request has "admin"`.
    pub why: Vec<String>,
}

/// Whether there are as many requests as wanted; the message says what there is in their place, and why.
pub fn satisfied(wait: &Wait, seen: &[Request]) -> (bool, Vec<Request>, Vec<NearMiss>, String) {
    let found: Vec<Request> = seen.iter().filter(|request| wait.on.matches(*request)).cloned().collect();
    let (least, number) = (wait.count.least(), found.len());
    if wait.count.is_exceeded_by(number) {
        let lines: Vec<String> = found.iter().map(Request::line).collect();
        let message = format!("{number} requests match, where {} are allowed:\n  {}", max(wait), lines.join("\n  "));
        return (false, found, Vec::new(), message);
    }
    if number >= least {
        return (true, found, Vec::new(), String::new());
    }
    let misses = near_misses(&wait.on, seen);
    let mut message = format!("{number} requests match, of {least} that were waited for, among {}", seen.len());
    for miss in &misses {
        message += &format!("\n  {} does not match: {}", miss.request.line(), miss.why.join(", "));
    }
    (false, found, misses, message)
}

fn max(wait: &Wait) -> usize {
    wait.count.max.unwrap_or_default()
}

/// The requests that fail for the fewest reasons, the newest first.
fn near_misses(on: &Match, seen: &[Request]) -> Vec<NearMiss> {
    let mut misses: Vec<(usize, NearMiss)> = Vec::new();
    for request in seen.iter().rev() {
        let mismatches = on.mismatches(request);
        if !mismatches.is_empty() {
            let why = mismatches.iter().map(|(field, has)| format!("{field}: the request has {has:?}")).collect();
            misses.push((mismatches.len(), NearMiss { request: request.clone(), why }));
        }
    }
    misses.sort_by_key(|(reasons, _)| *reasons);
    misses.into_iter().map(|(_, miss)| miss).take(NEAR).collect()
}
