//! Powers: abilities of a target, beyond serving the API, that a scenario may need.

use std::fmt;

/// An ability that not every target has. A scenario is skipped where one that it lists is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// Audit events can be read.
    Audit,
    /// Lists and watches are served from a watch cache.
    Cache,
    /// The target reports the requests of each user.
    Calls,
    /// The clock can be moved, and those of replicas set wrong.
    Clock,
    /// The history can be compacted, so that older revisions are refused.
    Compaction,
    /// Controllers can run on it.
    Controllers,
    /// Faults can be injected into requests.
    Faults,
    /// API servers can be started with flags of the scenario's choice.
    Flags,
    /// Controllers have behaviour that Kubernetes has given up.
    Legacy,
    /// The log has the reasons why requests were not authenticated.
    Log,
    /// API servers can fall behind, stop and start.
    Outages,
    /// Several API servers can run.
    Replicas,
    /// The number of a controller's retries can be bounded.
    Retries,
    /// The signing key is known, so that any token can be signed.
    Signing,
    /// Controllers can be paused and stepped.
    Steps,
    /// Webhooks on this machine can be called.
    Webhooks,
}

impl Power {
    /// All powers, by name.
    pub const ALL: [Power; 16] = [
        Power::Audit,
        Power::Cache,
        Power::Calls,
        Power::Clock,
        Power::Compaction,
        Power::Controllers,
        Power::Faults,
        Power::Flags,
        Power::Legacy,
        Power::Log,
        Power::Outages,
        Power::Replicas,
        Power::Retries,
        Power::Signing,
        Power::Steps,
        Power::Webhooks,
    ];

    /// The power called `name`.
    pub fn parse(name: &str) -> Option<Power> {
        Power::ALL.into_iter().find(|power| power.to_string() == name)
    }

    /// Whether a scenario that needs this sees or changes more of the server than its own namespace.
    pub(super) fn is_exclusive(self) -> bool {
        matches!(self, Power::Calls | Power::Compaction | Power::Controllers | Power::Log)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Power::Audit => "audit",
            Power::Cache => "cache",
            Power::Calls => "calls",
            Power::Clock => "clock",
            Power::Compaction => "compaction",
            Power::Controllers => "controllers",
            Power::Faults => "faults",
            Power::Flags => "flags",
            Power::Legacy => "legacy",
            Power::Log => "log",
            Power::Outages => "outages",
            Power::Replicas => "replicas",
            Power::Retries => "retries",
            Power::Signing => "signing",
            Power::Steps => "steps",
            Power::Webhooks => "webhooks",
        })
    }
}
