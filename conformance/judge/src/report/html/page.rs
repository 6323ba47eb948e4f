//! The data of the page: a run, embedded as JSON and drawn by the page's script.

use crate::history::{Call, Reply, Request};
use crate::verdict::Outcome;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A run, on one target or several.
#[derive(Debug, Serialize)]
pub(super) struct Page<'a> {
    /// The targets, by name.
    pub(super) targets: Vec<&'a str>,
    /// The emulated Kubernetes version.
    pub(super) version: &'a str,
    /// The scenarios: failed ones first, then known differences, then the rest; each group by name.
    pub(super) scenarios: Vec<Story<'a>>,
    /// The differences between the targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<Found<'a>>,
}

/// A scenario and its result on one target.
#[derive(Debug, Serialize)]
pub(super) struct Story<'a> {
    pub(super) name: &'a str,
    /// The name of the target.
    pub(super) target: &'a str,
    pub(super) outcome: Ending,
    pub(super) took_millis: f64,
    pub(super) summary: String,
    /// The reason why it was skipped, or may differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    /// Findings about no single step: broken guarantees, a target that did not start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<Found<'a>>,
    /// The timeline; none if nothing was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeline: Option<Timeline<'a>>,
}

/// The outcome of a scenario, in the order of the page.
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

/// A finding of a check.
#[derive(Debug, Serialize)]
pub(super) struct Found<'a> {
    pub(super) check: &'a str,
    pub(super) text: String,
}

/// A difference between the expected and the actual observation of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    /// The path of a field in the recorded answer; `None` if the scenario's own text differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    /// The expected value: recorded, or from the scenario.
    pub(super) recorded: String,
    /// The actual value.
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
    /// The commands, with the messages during each.
    pub(super) steps: Vec<Step<'a>>,
    /// Requests and their answers by the request's number.
    pub(super) exchanges: BTreeMap<u64, Exchange<'a>>,
    /// Names for values that differ from run to run: field → value → name.
    pub(super) names: BTreeMap<String, BTreeMap<String, String>>,
}

/// The lane of one client or API server.
#[derive(Debug, Serialize)]
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) server: bool,
    /// Number of the server's answers by status.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) answers: BTreeMap<u16, usize>,
}

/// A command of the scenario.
#[derive(Debug, Serialize)]
pub(super) struct Step<'a> {
    /// The command's line in the scenario.
    pub(super) line: usize,
    /// The comments before it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) prose: String,
    /// The command's lines.
    pub(super) command: &'a [String],
    /// The observation expected, in the words of the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<String>,
    /// Whether the command changes a server or reads its log instead of sending requests.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) note: bool,
    /// The marks in the servers' lanes.
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
    /// Time until the answer, for an exchange.
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
    /// The raw message where that is not an exchange: a frame of a watch, a controller's call.
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
    /// A request of a controller.
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
