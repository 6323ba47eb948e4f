//! Answers to orders.

use crate::fault::Rule;
use crate::order::{ClusterUser, HoldOnly, Running, ViewState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The answer to an order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// It is done.
    Done {},
    /// The rule that was added.
    Fault(Box<FaultAnswer>),
    /// The rules that were added.
    Faults {
        /// The rules.
        items: Vec<FaultAnswer>,
    },
    /// The clock as it is now.
    Clock(ClockAnswer),
    /// The history as it is now.
    Compacted {
        /// The newest revision that is forgotten.
        #[serde(rename = "compactedRevision")]
        compacted_revision: String,
    },
    /// The revision as it is now.
    Revision {
        /// The newest one.
        revision: String,
    },
    /// The watches that have ended.
    Ended {
        /// The number of replicas whose watches have ended.
        replicas: usize,
        /// The number of watches; none if the server does not record requests.
        #[serde(skip_serializing_if = "Option::is_none")]
        watches: Option<usize>,
    },
    /// The watches that get a bookmark.
    Bookmarked {
        /// Their number.
        watches: usize,
    },
    /// The watches that were frozen, and go on.
    Thawed {
        /// Their number.
        watches: usize,
    },
    /// The keys that a controller has dealt with: fewer than were asked for, if there were no others.
    Stepped {
        /// The keys.
        keys: Vec<String>,
        /// The requests that it made for that, with the status codes of the answers, such as `DELETE /api/v1/... 200`; empty for a controller
        /// that is a client over a connection.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        requests: Vec<String>,
    },
    /// Whether all controllers have come to rest.
    Settled(SettledAnswer),
    /// The replica that was added.
    Replica(ReplicaAnswer),
    /// The snapshot that was saved.
    Snapshot(SnapshotAnswer),
    /// The cluster that was made.
    Cluster(ClusterAnswer),
    /// The seed.
    Seed(SeedAnswer),
    /// The objects that were written.
    Written {
        /// The number of writes.
        writes: u64,
        /// The revision that there is now.
        revision: String,
    },
}

/// A rule as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FaultAnswer {
    /// Its id.
    pub id: String,
    /// The rule.
    #[serde(flatten)]
    pub rule: Rule,
    /// Its work so far.
    pub status: FaultStatus,
}

/// The work of a rule so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FaultStatus {
    /// The requests that matched it.
    pub seen: u32,
    /// Those that it struck.
    pub struck: u32,
    /// The number that it will still strike; without an end, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<u32>,
}

/// The clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClockAnswer {
    /// The time.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub now: Timestamp,
    /// Whether it stands still.
    pub frozen: bool,
    /// The revision once what was due is done.
    pub revision: String,
}

/// Whether all controllers have come to rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SettledAnswer {
    /// Whether they have.
    pub settled: bool,
    /// The number of writes meanwhile.
    pub writes: u64,
    /// The controllers that have not.
    pub busy: Vec<String>,
    /// The keys that failed, and are tried again later: the controller, the key, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// When something will be due, if nothing changes before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<String>"))]
    pub next: Option<Timestamp>,
    /// The revision.
    pub revision: String,
}

/// A replica as it stands: its URLs, its state, its view, its clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplicaAnswer {
    /// Its number, counted from 0.
    pub replica: usize,
    /// Its URL.
    pub url: String,
    /// The URL of its plain HTTP port; none without one.
    pub insecure_url: Option<String>,
    /// Whether it serves.
    pub state: Running,
    /// Whether its cache follows the objects.
    pub view: ViewState,
    /// The objects whose events alone are held back, if it is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_only: Option<HoldOnly>,
    /// The error of its clock, in seconds (negative: behind).
    pub clock_offset_seconds: i64,
}

/// A cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterAnswer {
    /// Its name.
    pub name: String,
    /// Its URL.
    pub server: String,
    /// The name that clients have to ask TLS for, if that is how it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_server_name: Option<String>,
    /// The certificates to trust, PEM in base64; none without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_data: Option<String>,
    /// The token of its administrator.
    pub token: String,
    /// A kubeconfig for its administrator.
    pub kubeconfig: String,
    /// The present revision.
    pub revision: String,
    /// The URLs of all its replicas, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<String>,
    /// Its own users, with their tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<ClusterUser>,
}

/// A seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SeedAnswer {
    /// Its name.
    pub seed: String,
    /// Whether clusters can begin from it; otherwise it is being filled.
    pub ready: bool,
    /// The cluster to fill, for who has to fill it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Box<ClusterAnswer>>,
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SnapshotAnswer {
    /// Its name.
    pub name: String,
    /// The number of objects.
    pub objects: usize,
    /// The revision at which it was saved.
    pub revision: String,
}
