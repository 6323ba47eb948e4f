//! Orders: what a server can be told to do.

use crate::fault::Rule;
use crate::matching::Match;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// An order. In JSON its name is the field `order`: `{"order": "advanceClock", "seconds": 60}`.
#[expect(clippy::large_enum_variant, reason = "orders are few, and obeyed one at a time")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "order", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Order {
    /// Adds a rule by which requests fail, behind those that there are.
    AddFault(Rule),
    /// Puts rules in the place of all others.
    ReplaceFaults {
        /// The rules, the first one first.
        rules: Vec<Rule>,
    },
    /// Removes a rule; requests that it holds go on.
    RemoveFault {
        /// Its id.
        id: String,
    },
    /// Removes all rules.
    ClearFaults,
    /// Sets the clock, or freezes it, or lets it run.
    SetClock {
        /// The time; as it is by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schemas", schemars(with = "Option<String>"))]
        now: Option<Timestamp>,
        /// Whether it stands still; as it does by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frozen: Option<bool>,
    },
    /// Advances the clock, and does what has become due by it.
    AdvanceClock {
        /// The seconds; backwards, if negative.
        seconds: i64,
    },
    /// Forgets the history: reads and watches that need it get 410.
    Compact {
        /// The newest revision that is forgotten; the present one by default.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::number::read_some")]
        revision: Option<u64>,
    },
    /// Takes revisions without a change, as writes of other keys do in etcd.
    AdvanceRevision {
        /// Their number.
        by: u64,
    },
    /// Ends open watches: all, as a restarted server does, or those that a pattern matches.
    EndWatches {
        /// The replicas whose watches end, counted from 0; all by default.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        replicas: Vec<usize>,
        /// The requests whose watches end; all by default.
        #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
        on: Option<Box<Match>>,
        /// How they end.
        #[serde(default)]
        how: Ending,
    },
    /// Sends a bookmark to open watches now: to those that have asked for bookmarks and owe no event.
    SendBookmarks {
        /// The requests of the watches; all by default.
        #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
        on: Option<Box<Match>>,
    },
    /// Lets watches go on that a rule has frozen.
    ThawWatches {
        /// The requests of the watches; all by default.
        #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
        on: Option<Box<Match>>,
    },
    /// Adds a replica: another server of the same objects, on ports of its own.
    AddReplica {
        /// The error of its clock, in seconds (negative: behind).
        #[serde(default)]
        clock_offset_seconds: i64,
    },
    /// Changes a replica.
    Replica(ReplicaChange),
    /// Pauses a controller, or lets it run.
    Controller {
        /// Its name.
        name: String,
        /// Whether it runs.
        state: Pace,
    },
    /// Lets a paused controller deal with some keys.
    Step {
        /// Its name.
        name: String,
        /// The number of keys.
        #[serde(default = "one")]
        count: u32,
    },
    /// Waits until all controllers that are not paused have nothing left to do.
    Settle {
        /// The longest time that is waited, in seconds of the real clock.
        #[serde(default = "five")]
        timeout_seconds: u32,
    },
    /// Saves the objects.
    Save {
        /// The snapshot's name.
        #[serde(alias = "name")]
        snapshot: String,
    },
    /// Takes in a snapshot that was saved to a file.
    Import {
        /// The snapshot's name.
        snapshot: String,
        /// The file's content.
        content: String,
    },
    /// Forgets a snapshot.
    Forget {
        /// The snapshot's name.
        snapshot: String,
    },
    /// Puts the objects of a snapshot in the place of those that there are.
    Restore {
        /// The snapshot's name.
        snapshot: String,
        /// The course of revisions.
        #[serde(default)]
        revisions: Revisions,
    },
    /// Removes all faults, ends all outages, lets caches and controllers go on, and puts the first objects of the server in the place of those
    /// that there are, or those of a snapshot.
    Reset {
        /// The snapshot; the server's first objects by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<String>,
    },
    /// Makes a cluster beside this one, with a URL of its own: it begins with the objects of another one, or of a seed.
    CreateCluster(NewCluster),
    /// Makes such a cluster, unless there is one of that name.
    EnsureCluster(NewCluster),
    /// Says that this cluster is still needed, if it was made to be held.
    Hold,
    /// Removes a cluster that was made: its watches end, and its URL is nobody's.
    DeleteCluster {
        /// Its name.
        cluster: String,
    },
    /// Makes sure that there is a seed, from which clusters can begin. The first who asks gets a cluster to fill, and says when it is ready;
    /// others wait for that.
    EnsureSeed {
        /// The seed's name, such as a hash of what it is made of.
        seed: String,
        /// The longest time that is waited for another one who fills it, in seconds of the real clock.
        #[serde(default = "sixty")]
        timeout_seconds: u32,
    },
    /// Says that a seed is ready: its cluster is frozen, and removed.
    SeedReady {
        /// The seed's name.
        seed: String,
    },
    /// Forgets a seed. Clusters that have begun from it stay.
    ForgetSeed {
        /// The seed's name.
        seed: String,
    },
    /// Applies objects, definitions first; all, or none.
    Seed {
        /// A stream of YAML documents, or of JSON.
        objects: String,
    },
}

fn one() -> u32 {
    1
}

fn five() -> u32 {
    5
}

fn sixty() -> u32 {
    60
}

/// A cluster to make.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCluster {
    /// Its name, a label of DNS; one that no other has by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its first objects; the present ones of the first cluster by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
    /// The way by which it is reached; a path of the first cluster's ports by default.
    #[serde(default)]
    pub endpoint: Endpoint,
    /// The number of its replicas, 1 by default. Those behind the first have ports of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<usize>,
    /// Users with tokens that are good in this cluster alone, besides those of the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<ClusterUser>,
    /// The time after which it is removed if there was no request and no watch is open, in seconds of the real clock; never by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u32>,
    /// The time after which it is removed unless someone has said that it is still needed, in seconds of the real clock; never by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_seconds: Option<u32>,
}

/// The way by which a cluster is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Endpoint {
    /// A path of the first cluster's ports.
    #[default]
    Path,
    /// A port of its own, for clients that take no path.
    Port,
    /// The ports of the first cluster, by the name of the server that clients ask TLS for: `NAME.clusters.fake`.
    Sni,
}

/// A user of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterUser {
    /// The user's name.
    pub name: String,
    /// The groups, besides that of all who are authenticated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The bearer token; one is made by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The first objects of a cluster; the present ones of the first cluster, if nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct From {
    /// A seed that is ready. It stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The present objects of a cluster; the first one by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// In their place: those of a snapshot of that cluster, with their revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

/// A change of a replica. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplicaChange {
    /// The replica, counted from 0.
    #[serde(default)]
    pub replica: usize,
    /// Whether it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Running>,
    /// Whether its cache follows the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewState>,
    /// The objects whose events alone are held back, with `view: held`; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_only: Option<HoldOnly>,
    /// The error of its clock, in seconds (negative: behind).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset_seconds: Option<i64>,
    /// Ends its open watches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watches: Option<Cut>,
}

/// Objects whose events a replica holds back, while those of all others go on. What is empty or absent matches all; `*` in a text stands for
/// any text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HoldOnly {
    /// The resources, by their plurals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// The namespaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// The names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Whether a replica serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Running {
    /// It serves.
    Running,
    /// Its ports refuse connections.
    Stopped,
    /// Its `/readyz` fails, as of a server that is about to stop: load balancers leave it out. It serves all the same.
    Unready,
}

/// Whether a replica's cache follows the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ViewState {
    /// It does.
    Live,
    /// It stands still: watches deliver nothing, and reads that allow for it are stale.
    Held,
}

/// How a watch ends before its time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    /// As at its timeout.
    #[default]
    End,
    /// It breaks off.
    Reset,
    /// With an event of type ERROR: 410, as if its history was forgotten.
    #[serde(rename = "410")]
    Expired,
}

/// The end of watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Cut {
    /// They end.
    End,
}

/// Whether a controller works by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Pace {
    /// It does.
    Running,
    /// It does when it is stepped.
    Paused,
}

/// The course of revisions when a snapshot is restored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Revisions {
    /// They go on: the difference is written, and watches tell of it.
    #[default]
    Continue,
    /// They go on, and the history is forgotten: watches end, and get 410 when they come back.
    Bump,
    /// They go back to those of the snapshot, and count up from there again: watches end, and those that come back wait for revisions that
    /// are long past, and miss what is written until then. It is what happens when an etcd is restored under clients that stay.
    Rewind,
}

impl Order {
    /// Whether it is about clusters or seeds, which are all beside the first cluster.
    pub fn is_about_clusters(&self) -> bool {
        matches!(
            self,
            Order::CreateCluster(_)
                | Order::EnsureCluster(_)
                | Order::DeleteCluster { .. }
                | Order::EnsureSeed { .. }
                | Order::SeedReady { .. }
                | Order::ForgetSeed { .. }
        )
    }

    /// A fault of the requests that a pattern matches, with one action.
    pub fn fault(on: Match, action: crate::fault::Action) -> Order {
        Order::AddFault(Rule { on, actions: vec![action], ..Rule::default() })
    }
}
