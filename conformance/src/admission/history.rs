//! The history of a soak of admission: writes, reviews, limits, and the events of objects, quotas and namespaces.

use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The data of a config map.
pub type Data = BTreeMap<String, String>;

/// The fields of data: the request that wrote them, the size that limits are about, and the tokens of both mutating webhooks.
pub mod field {
    /// The name of the request that wrote the object last.
    pub const REQUEST: &str = "request";
    /// The size that policies limit.
    pub const SIZE: &str = "size";
    /// The token of the mutating webhook that must not fail.
    pub const STRICT: &str = "strict";
    /// The token of the mutating webhook that may fail.
    pub const LENIENT: &str = "lenient";
}

/// The whole history.
#[derive(Debug, Default)]
pub struct History {
    /// The writes of all clients.
    pub writes: Vec<Write>,
    /// The reviews, by the request that they are about.
    pub reviews: BTreeMap<String, Vec<Review>>,
    /// The versions of all limits.
    pub limits: Vec<Limit>,
    /// The events of objects, in order.
    pub objects: Vec<Event<Data>>,
    /// The events of quotas, in order.
    pub quotas: Vec<Event<Used>>,
    /// The events of namespaces, in order.
    pub namespaces: Vec<Event<()>>,
    /// The namespaces that were to be deleted.
    pub condemned: Vec<String>,
    /// How long after its replacement was answered a limit may still be in force.
    pub lag: Duration,
}

/// A write. Times are since the beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The operation.
    pub act: Act,
    /// A name of this request, which is in its data.
    pub request: String,
    /// The namespace and the name of the object.
    pub object: (String, String),
    /// The size in its data.
    pub size: u64,
    /// When it was sent.
    pub sent: Duration,
    /// When it was answered.
    pub answered: Duration,
    /// The outcome.
    pub outcome: Outcome,
}

/// The operation of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A create.
    Create,
    /// An update of the object with this revision.
    Update(u64),
    /// A patch of whatever is there.
    Patch,
    /// A deletion.
    Delete,
}

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out: the revision and the data of the object then.
    Done(u64, Data),
    /// It was refused: the status and the message.
    Refused(u16, String),
    /// There was no answer, or one that says nothing about whether it was carried out.
    Unknown(String),
}

/// The webhooks, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hook {
    /// It mutates, and must not fail.
    Strict,
    /// It mutates, and may fail.
    Lenient,
    /// It validates, and must not fail.
    Check,
    /// It validates, and may fail.
    Hint,
}

impl Hook {
    /// The four webhooks of the soak.
    pub const ALL: [Hook; 4] = [Hook::Strict, Hook::Lenient, Hook::Check, Hook::Hint];

    /// Its name, and that of its path.
    pub fn name(self) -> &'static str {
        match self {
            Hook::Strict => "strict",
            Hook::Lenient => "lenient",
            Hook::Check => "check",
            Hook::Hint => "hint",
        }
    }

    /// Whether it changes objects.
    pub fn mutates(self) -> bool {
        matches!(self, Hook::Strict | Hook::Lenient)
    }

    /// Whether a write goes on without it if it fails.
    pub fn is_optional(self) -> bool {
        matches!(self, Hook::Lenient | Hook::Hint)
    }
}

/// A review, and what was done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The webhook.
    pub hook: Hook,
    /// The data that it was shown.
    pub shown: Data,
    /// The reaction.
    pub reaction: Reaction,
}

/// The reaction of a webhook to a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// It admits, as it is, or with this token.
    Admitted(Option<String>),
    /// It refuses.
    Denied,
    /// It admits, with a patch that does not apply.
    Wrong,
    /// It answers 500.
    Error,
    /// It does not answer.
    Silent,
}

/// A version of a limit on sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The policy.
    pub policy: String,
    /// The largest size that it allows.
    pub most: u64,
    /// When it was sent.
    pub sent: Duration,
    /// When it was answered.
    pub answered: Duration,
}

/// An event of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<T> {
    /// The revision.
    pub revision: u64,
    /// Whether the object is gone with it.
    pub gone: bool,
    /// The namespace and the name.
    pub object: (String, String),
    /// The part of the object that is looked at.
    pub value: T,
}

/// The status of a quota: what is allowed, and what is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// The number of config maps that there may be.
    pub hard: u64,
    /// The number that is counted.
    pub used: u64,
}

/// The data of a config map in a document.
pub fn data(document: &Value) -> Data {
    let fields = document["data"].as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

/// The revision of a document; 0 if it has none.
pub fn revision(document: &Value) -> u64 {
    document["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}
