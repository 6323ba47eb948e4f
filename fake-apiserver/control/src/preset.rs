//! Presets: failures that a real kube-apiserver answers with, byte for byte.

use serde::{Deserialize, Serialize};

/// A failure of a real kube-apiserver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Priority and fairness rejects it: 429 as text.
    ApfRejected,
    /// An update or delete of an object that has changed: 409.
    Conflict,
    /// etcd elects a leader: 500.
    EtcdLeaderChanged,
    /// etcd does not answer in time: 500.
    EtcdTimeout,
    /// The revision is too old: 410.
    Expired,
    /// The namespace is being deleted: 403.
    NamespaceTerminating,
    /// The handler has panicked: 500 as text.
    Panic,
    /// The server is about to stop: 429 as text.
    ShuttingDown,
    /// The watch cache is not ready: 429.
    StorageInitializing,
    /// The request has taken too long: 504.
    Timeout,
    /// The revision is one of the future: 504.
    TooLargeResourceVersion,
    /// The token is bad: 401.
    Unauthorized,
    /// A webhook that has to be asked cannot be: 500.
    WebhookFailed,
}

impl Preset {
    /// Whether a real server fails so before it asks what the user may do.
    pub fn is_before_authorization(self) -> bool {
        matches!(self, Preset::ApfRejected | Preset::ShuttingDown | Preset::Unauthorized)
    }

    /// All that there are.
    pub const ALL: [Preset; 13] = [
        Preset::ApfRejected,
        Preset::Conflict,
        Preset::EtcdLeaderChanged,
        Preset::EtcdTimeout,
        Preset::Expired,
        Preset::NamespaceTerminating,
        Preset::Panic,
        Preset::ShuttingDown,
        Preset::StorageInitializing,
        Preset::Timeout,
        Preset::TooLargeResourceVersion,
        Preset::Unauthorized,
        Preset::WebhookFailed,
    ];
}
