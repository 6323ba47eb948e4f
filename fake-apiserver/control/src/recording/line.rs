//! The lines of a recording.

use crate::fault::Rule;
use crate::order::Order;
use crate::request::Request;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A line of a recording: something that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The time since the recording began, in microseconds.
    pub at: u64,
    /// The time by the server's clock, which tests may move.
    pub time: Timestamp,
    /// The newest revision of the objects at that moment.
    pub revision: u64,
    /// The cluster, if it is not the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The event.
    #[serde(flatten)]
    pub what: What,
    /// The object that is stored, without its revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Box<RawValue>>,
}

/// Something that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum What {
    /// The objects that there are at the line's revision follow; those of earlier lines do not count any more.
    Base {
        /// Their number.
        objects: usize,
    },
    /// A cluster beside the first one begins, with the objects that another one had at the line's revision.
    Begun {
        /// The name of that one; none of the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
    /// One of the objects of a base.
    Present(Box<Stored>),
    /// An object was stored or removed.
    Change(Box<Stored>),
    /// A request was answered; a watch has begun.
    Request(Box<Request>),
    /// A watch has ended.
    WatchEnded(WatchEnded),
    /// The clock was set, frozen, or let run; the line's time is what it shows now.
    Clock {
        /// Whether it stands still.
        frozen: bool,
    },
    /// A rule by which requests fail was added.
    FaultAdded {
        /// Its id.
        id: String,
        /// The rule.
        rule: Box<Rule>,
    },
    /// Such rules were removed.
    FaultsRemoved {
        /// Their ids.
        ids: Vec<String>,
    },
    /// An order about something else was obeyed.
    Order(Box<Order>),
    /// Something could not be recorded.
    Missed(Missed),
    /// The server has stopped, and all is recorded.
    Ended {},
}

/// An object that is stored, or was removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stored {
    /// The type of the change; none of an object that was there before.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeType>,
    /// The resource: `deployments.apps`.
    pub resource: String,
    /// `namespace/name`, or `name`.
    pub path: String,
    /// The revision that the object was stored or removed at.
    pub revision: u64,
    /// The facts that the store keeps beside the object, for a server that takes it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Value>,
}

/// The type of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ChangeType {
    /// The object is new.
    Added,
    /// It was replaced.
    Modified,
    /// It was removed.
    Deleted,
}

/// A watch that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchEnded {
    /// The cursor of its request.
    pub request: u64,
    /// The number of its events.
    pub events: u64,
    /// The first thousand of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Sent>,
}

/// An event that a watch was sent: when, in microseconds since the recording began, and its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent(pub u64, pub String);

/// Things that could not be recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Missed {
    /// The number of lines for which there was no room while others were being written.
    #[serde(default)]
    pub lines: u64,
    /// The first and the last revision of the changes that were forgotten before they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revisions: Option<(u64, u64)>,
    /// The change of an object whose resource was gone before it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}
