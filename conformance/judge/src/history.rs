//! The history: the record of one run, with everything sent and received, in order. Checks judge this and nothing else.
//!
//! On disk a history is JSON lines, one [`Entry`] a line, so that it can be read, cut, written by hand and judged again.

use crate::observation::Observation;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A whole run, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The events in the order they happened: a reply comes after everything that was sent before it arrived.
    pub entries: Vec<Entry>,
}

/// One event and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Microseconds since the run began; for display only, no check reads it.
    #[serde(default)]
    pub micros: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The run began.
    Started {
        /// The scenario's name.
        scenario: String,
        /// The target's name.
        target: String,
        /// The namespace that `$namespace` stands for.
        namespace: String,
        /// The other names that have a value from the beginning.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        names: BTreeMap<String, Value>,
    },
    /// A command of the scenario began.
    Step {
        /// The command's line in the scenario.
        line: usize,
        /// The command's first line.
        command: String,
    },
    /// A command ended.
    Observed {
        /// The command's line in the scenario.
        line: usize,
        /// The observation.
        observation: Observation,
    },
    /// A request was sent.
    Request(Request),
    /// The answer arrived; of a watch, its head.
    Reply(Reply),
    /// A watch delivered a frame.
    Frame {
        /// The watch request's number.
        request: u64,
        /// The frame: `{"type": …, "object": …}`.
        frame: Value,
    },
    /// A watch ended.
    Closed {
        /// The watch request's number.
        request: u64,
        /// The transport error that ended it; `None` if the server did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The server reported a request of a controller.
    Call(Call),
}

/// A request as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The number of the request in this run.
    pub request: u64,
    /// The replica it went to, counted from 1.
    #[serde(default = "first")]
    pub replica: usize,
    /// The user who sent it, or `token` for a bearer token that the scenario read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// The HTTP method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// Query parameters, not encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<(String, String)>,
    /// Headers beside authorization, lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body; a string if it is not JSON.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

fn first() -> usize {
    1
}

impl Request {
    /// The value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether it is a watch.
    pub fn is_watch(&self) -> bool {
        matches!(self.parameter("watch"), Some("true" | "1"))
    }
}

/// An answer as it arrived.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The number of the request.
    pub request: u64,
    /// The HTTP status.
    pub status: u16,
    /// Headers, lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body, if it is JSON.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// The body, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Reply {
    /// Whether the status is 2xx.
    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A request of a controller, as the server saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The user it authenticated as.
    pub user: String,
    /// The HTTP method.
    pub method: String,
    /// The resource, name and subresource: `secrets`, `serviceaccounts/builder`, `serviceaccounts/builder/token`.
    pub target: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The body that was sent.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

impl Call {
    /// The target of a call: resource, name and subresource. A `create` has no name, though audit logs may have it.
    pub fn target(verb: &str, resource: &str, name: &str, subresource: &str) -> String {
        let name = if verb == "create" && subresource.is_empty() { "" } else { name };
        let parts = [resource, name, subresource].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("/")
    }
}

impl History {
    /// Reads JSON lines. Empty lines and lines of commentary (`//`) are skipped.
    pub fn parse(text: &str) -> Result<History, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("//"));
        let entries = lines
            .map(|(index, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1)));
        Ok(History { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Writes JSON lines.
    pub fn to_json_lines(&self) -> String {
        let line = |entry| serde_json::to_string(entry).expect("string keys only") + "\n";
        self.entries.iter().map(line).collect()
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().map(|entry| &entry.event)
    }
}
