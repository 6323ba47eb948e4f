//! Questions: what a server can be asked.

use crate::changes::{Changes, Named};
use crate::matching::Match;
use crate::object::WaitObject;
use crate::verify::Verify;
use crate::wait::Wait;
use serde::{Deserialize, Serialize};

/// A question. In JSON its name is the field `question`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "question", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Question {
    /// The rules by which requests fail, with the numbers of requests that they saw and struck.
    Faults {
        /// Only those that never struck.
        #[serde(default)]
        unused: bool,
    },
    /// One of these rules.
    Fault {
        /// Its id.
        id: String,
    },
    /// The clock.
    Clock,
    /// The replicas.
    Replicas,
    /// The controllers.
    Controllers,
    /// The clusters.
    Clusters,
    /// One of the clusters.
    Cluster {
        /// Its name.
        name: String,
    },
    /// The kubeconfig of the administrator, for a file.
    Kubeconfig,
    /// The seeds.
    Seeds,
    /// The snapshots.
    Snapshots,
    /// The content of a snapshot, for a file.
    Snapshot {
        /// Its name.
        name: String,
    },
    /// The watches that are open, with their requests and the numbers of their events.
    Watches(Watches),
    /// The changes of objects that the history has, each with the request that made it.
    Changes(Box<Changes>),
    /// The versions of an object that the history has, each with the request that wrote it.
    History(Named),
    /// The recorded requests.
    Requests(Requests),
    /// An object, once a condition of it is true.
    WaitObject(Box<WaitObject>),
    /// The recorded requests, once there are enough.
    Wait(Wait),
    /// Whether the recorded requests are those that are expected.
    Verify(Verify),
    /// The rules that were in force, with what they decided.
    Coverage {
        /// Only those with outcomes that they never had.
        #[serde(default)]
        gaps: bool,
    },
    /// The findings about the recorded requests: whatever is odd about them.
    Findings {
        /// The cursor behind which requests are looked at; the beginning by default.
        #[serde(default, deserialize_with = "crate::number::read")]
        since: u64,
    },
}

/// Open watches, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Watches {
    /// Their requests.
    #[serde(rename = "match")]
    pub on: Match,
}

/// Recorded requests, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Requests {
    /// The requests.
    #[serde(rename = "match")]
    pub on: Match,
    /// The cursor behind which they are; the beginning by default.
    #[serde(deserialize_with = "crate::number::read")]
    pub since: u64,
    /// The most that are answered with; 0 for the cursor alone, all by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Only those that have written.
    pub writes: bool,
}
