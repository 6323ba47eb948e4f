//! What the page is made of: a run as data, embedded as JSON and drawn by the page's script.

use crate::history::{Call, Reply, Request};
use crate::verdict::Outcome;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A run, on one target or several.
#[derive(Debug, Serialize)]
pub(super) struct Page<'a> {
    /// The targets.
    pub(super) targets: Vec<&'a str>,
    /// The Kubernetes version that the scenarios speak of.
    pub(super) version: &'a str,
    /// The scenarios: failed ones first, then known differences, then the rest; each group by name.
    pub(super) scenarios: Vec<Story<'a>>,
    /// The differences between the targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<Found<'a>>,
}

/// A scenario and what became of it.
#[derive(Debug, Serialize)]
pub(super) struct Story<'a> {
    pub(super) name: &'a str,
    /// The target.
    pub(super) target: &'a str,
    pub(super) outcome: Ending,
    pub(super) took_millis: f64,
    pub(super) summary: String,
    /// The reason why it was skipped, or may differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    /// What belongs to no single step: broken guarantees, a target that did not start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<Found<'a>>,
    /// The timeline; none if nothing was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeline: Option<Timeline<'a>>,
}

/// How a scenario ended, in the order of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ending {
    Failed,
    Differs,
    Passed,
    Skipped,
}

impl Ending {
    /// All of them, in the order of the page.
    pub(super) const ALL: [Ending; 4] = [Ending::Failed, Ending::Differs, Ending::Passed, Ending::Skipped];

    /// The page's word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Ending::Failed => "failed",
            Ending::Differs => "differs",
            Ending::Passed => "passed",
            Ending::Skipped => "skipped",
        }
    }

    pub(super) fn of(outcome: &Outcome) -> Ending {
        match outcome {
            Outcome::Failed(_) => Ending::Failed,
            Outcome::Differs { .. } => Ending::Differs,
            Outcome::Passed => Ending::Passed,
            Outcome::Skipped { .. } => Ending::Skipped,
        }
    }
}

/// A finding.
#[derive(Debug, Serialize)]
pub(super) struct Found<'a> {
    pub(super) check: &'a str,
    pub(super) text: String,
}

/// A difference between what a step should have shown and what it showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    /// The path of a field in what a real server answered; none if the scenario's own words are meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    /// The value that should have been there: as recorded, or as the scenario tells it.
    pub(super) recorded: String,
    /// The value that was there.
    pub(super) observed: String,
    /// The reason why the difference is accepted, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// The timeline of a scenario.
#[derive(Debug, Serialize)]
pub(super) struct Timeline<'a> {
    /// The lanes: the clients, then the API servers.
    pub(super) lanes: Vec<Lane>,
    /// The commands, with what happened during each.
    pub(super) steps: Vec<Step<'a>>,
    /// Requests and their answers by the request's number.
    pub(super) exchanges: BTreeMap<u64, Exchange<'a>>,
    /// Names for what differs from run to run: field → value → name.
    pub(super) names: BTreeMap<String, BTreeMap<String, String>>,
}

/// The lane of one client or API server.
#[derive(Debug, Serialize)]
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) server: bool,
    /// How often a server answered with which status.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) answers: BTreeMap<u16, usize>,
}

/// A command of the scenario.
#[derive(Debug, Serialize)]
pub(super) struct Step<'a> {
    /// Its line in the scenario.
    pub(super) line: usize,
    /// The comments before it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) prose: String,
    /// The command's lines.
    pub(super) command: &'a [String],
    /// The observation expected, in the words of the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<String>,
    /// Whether it changes a server or reads its log instead of sending requests.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) note: bool,
    /// The marks that it leaves on servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) marks: Vec<Mark>,
    /// Whether the play got this far.
    pub(super) played: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) differences: Vec<Difference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) messages: Vec<Message<'a>>,
}

/// A word in a lane.
#[derive(Debug, Serialize)]
pub(super) struct Mark {
    pub(super) lane: usize,
    pub(super) text: String,
}

/// A message from lane to lane.
#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    pub(super) kind: Kind,
    /// Microseconds since the scenario began; none of a controller's call, which is seen only later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_micros: Option<u64>,
    /// Of an exchange: how long the answer took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) took_micros: Option<u64>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) title: String,
    /// The status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    /// The number of the request that it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exchange: Option<u64>,
    /// What was said, where that is not an exchange: a frame of a watch, a controller's call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) raw: Option<Raw<'a>>,
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A request and its answer, with nothing in between.
    Exchange,
    /// A request; its answer comes later.
    Request,
    /// An answer that did not come at once.
    Reply,
    /// A watch delivered something.
    Frame,
    /// A watch ended.
    End,
    /// What a controller asked.
    Call,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Raw<'a> {
    Frame(&'a Value),
    Call(&'a Call),
    Text(&'a str),
}

#[derive(Debug, Serialize)]
pub(super) struct Exchange<'a> {
    pub(super) request: &'a Request,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply: Option<&'a Reply>,
}
