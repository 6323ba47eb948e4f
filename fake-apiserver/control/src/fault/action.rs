//! The actions of a rule on a request.

use crate::preset::Preset;
use serde::{Deserialize, Serialize};

/// An action on a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Nothing: an exception from the rules behind.
    Pass(bool),
    /// Answers with a status.
    Status(Status),
    /// Answers as a real server that fails so.
    Preset(Preset),
    /// Waits.
    Delay(Delay),
    /// Breaks the connection.
    Connection(Connection),
    /// Cuts the body of the answer short, spoils it, or sends it slowly.
    Body(Body),
    /// Ends or holds a watch.
    Watch(Watch),
    /// Leaves out events of a watch, repeats them, or delays them.
    Events(Events),
    /// Reads from the past, if the request allows for that.
    Stale(Stale),
    /// Spoils the handshake of a new connection. A rule with it is about connections, not about requests.
    Tls(Tls),
}

/// An answer: a Status object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Status {
    /// The HTTP status, from 400 to 599.
    pub code: u16,
    /// The reason; that which goes with the code by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The header `Retry-After`, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
    /// The details: what is absent is so in the answer, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// The details of a Status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Details {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The resource; of reason `Invalid` the kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The causes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// The time after which a client may try again, in seconds; it is the header `Retry-After`, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

/// A cause in the details of a Status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StatusCause {
    /// The reason, such as `FieldValueInvalid`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field, such as `spec.replicas`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// The moment at which an action strikes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum When {
    /// Before anything is written. A connection is broken when a write is about to be made: one that is refused passes, and does not count; a
    /// delay is before the body is read.
    #[default]
    BeforeCommit,
    /// Once the store has taken the write, before the answer. A request that writes nothing passes, and does not count.
    AfterCommit,
    /// After some bytes of the answer's body.
    AfterBytes,
    /// Before anything is read of a new connection. A rule with it is about connections, not about requests.
    BeforeRead,
}

/// A pause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delay {
    /// The time in seconds of the real clock; until the rule is removed without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The most time that is added to it, by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_seconds: Option<f64>,
    /// The moment: before or after the commit.
    #[serde(default)]
    pub when: When,
}

/// The fate of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Do {
    /// It is closed.
    Close,
    /// It is reset; in HTTP/2 the stream is.
    Reset,
    /// Nothing is answered until the rule is removed; then it is closed.
    Hang,
}

/// How much of an HTTP/2 connection is broken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// The stream of the request.
    #[default]
    Stream,
    /// The whole connection.
    Connection,
}

/// A broken connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connection {
    /// The fate of the connection.
    #[serde(rename = "do")]
    pub act: Do,
    /// The moment. After a commit, the client cannot know whether its write was taken.
    #[serde(default)]
    pub when: When,
    /// The bytes of the body that still come, with `afterBytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How much of an HTTP/2 connection is broken.
    #[serde(default)]
    pub scope: Scope,
}

/// A body that comes slowly, breaks off or is spoilt, behind the headers of the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Body {
    /// The bytes after which it breaks off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncate_at: Option<u64>,
    /// Its speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
    /// Whether its first byte is another one, so that no client can read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrupt: bool,
}

/// The fate of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum WatchDo {
    /// It ends as at its timeout.
    End,
    /// It breaks off.
    Reset,
    /// It holds its events back until it is thawed, or the rule is removed; none is lost.
    Freeze,
    /// It ends with an event of type ERROR.
    Error,
}

/// A watch that ends or holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Watch {
    /// The fate of the watch.
    #[serde(rename = "do")]
    pub act: WatchDo,
    /// The number of events that come before.
    #[serde(default)]
    pub after_events: u64,
    /// The time that it has before, in seconds of the real clock. With `afterEvents`, both have to be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_seconds: Option<f64>,
    /// The code of the error: 410, which is the default, or another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

/// Events that are left out, come twice, or come late.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Events {
    /// The types of the events that are left out: `BOOKMARK` alone is what a real server may do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// The types of the events that come twice in a row: `BOOKMARK` alone is what a real server may do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicate: Vec<String>,
    /// The time by which each event comes later, in seconds of the real clock. Their order stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_seconds: Option<f64>,
}

/// The moment that a read sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stale {
    /// The revision.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::number::read_some")]
    pub revision: Option<u64>,
    /// In its place: the number of revisions behind the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// In its place: a snapshot of this cluster, whose revision it is from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Whether reads see it that ask for the newest state, too: no real server answers so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// A spoilt handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tls {
    /// How it fails.
    #[serde(rename = "do")]
    pub act: TlsDo,
}

/// How a handshake fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TlsDo {
    /// The connection is closed in the place of an answer.
    Close,
    /// An alert says that the handshake has failed.
    Alert,
    /// The certificate of another server is shown, by an authority that no client trusts.
    WrongCertificate,
}

/// A step of a sequence: a preset's name or `pass`, an action, or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Step {
    /// The name of a preset.
    Preset(Preset),
    /// `pass`.
    Word(Steps),
    /// An action.
    Action(Action),
    /// Several actions.
    Actions(Vec<Action>),
}

/// The words of a sequence that are no presets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Steps {
    /// The request passes.
    Pass,
}

impl Step {
    /// The actions.
    pub(super) fn actions(&self) -> Vec<Action> {
        match self {
            Step::Preset(preset) => vec![Action::Preset(*preset)],
            Step::Word(Steps::Pass) => vec![Action::Pass(true)],
            Step::Action(action) => vec![action.clone()],
            Step::Actions(actions) => actions.clone(),
        }
    }
}

impl Step {
    /// The actions that are written out.
    pub(super) fn actions_mut(&mut self) -> &mut [Action] {
        match self {
            Step::Preset(_) | Step::Word(_) => &mut [],
            Step::Action(action) => std::slice::from_mut(action),
            Step::Actions(actions) => actions,
        }
    }
}

impl Action {
    /// Whether it strikes once the store has taken the write.
    pub fn is_after_commit(&self) -> bool {
        match self {
            Action::Delay(Delay { when, .. }) | Action::Connection(Connection { when, .. }) => {
                *when == When::AfterCommit
            }
            _ => false,
        }
    }

    /// Whether it breaks the connection before the store takes a write.
    pub fn breaks_before_commit(&self) -> bool {
        matches!(self, Action::Connection(Connection { when: When::BeforeCommit, .. }))
    }

    /// Its name, as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Pass(_) => "pass",
            Action::Status(_) => "status",
            Action::Preset(_) => "preset",
            Action::Delay(_) => "delay",
            Action::Connection(_) => "connection",
            Action::Body(_) => "body",
            Action::Watch(_) => "watch",
            Action::Events(_) => "events",
            Action::Stale(_) => "stale",
            Action::Tls(_) => "tls",
        }
    }

    /// Whether it strikes a connection before there is a request.
    pub fn is_about_connections(&self) -> bool {
        matches!(self, Action::Tls(_) | Action::Connection(Connection { when: When::BeforeRead, .. }))
    }

    /// Whether it is about the events of watches.
    pub fn is_about_watches(&self) -> bool {
        matches!(self, Action::Watch(_) | Action::Events(_))
    }

    /// Whether a real server fails so before it asks what the user may do.
    pub fn is_before_authorization(&self) -> bool {
        matches!(self, Action::Preset(preset) if preset.is_before_authorization())
    }

    /// Whether a real server can answer so, or what is between it and its client.
    pub fn is_faithful(&self) -> bool {
        let bookmarks = |types: &[String]| types.iter().all(|kind| kind == "BOOKMARK");
        match self {
            Action::Events(events) => bookmarks(&events.drop) && bookmarks(&events.duplicate),
            Action::Stale(stale) => !stale.force,
            _ => true,
        }
    }

    /// Whether the request has no other answer.
    pub fn ends(&self) -> bool {
        matches!(self, Action::Status(_) | Action::Preset(_) | Action::Connection(_))
    }
}
