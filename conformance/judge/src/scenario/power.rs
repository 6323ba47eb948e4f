//! Powers: what a scenario needs of a target beyond an API that is served.

use std::fmt;

/// An ability that not every target has. A scenario lists the powers it needs; where one is missing it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// The target reports the requests of each user.
    Calls,
    /// Its clock can be moved, and the clocks of its replicas set wrong.
    Clock,
    /// Its history can be compacted, so that older revisions are refused.
    Compaction,
    /// Controllers can run on it.
    Controllers,
    /// Faults can be injected into requests.
    Faults,
    /// Its API servers take flags of the scenario's choice.
    Flags,
    /// It shows behaviour that Kubernetes has given up.
    Legacy,
    /// Its log tells why requests were not authenticated.
    Log,
    /// Its API servers can fall behind, stop and start.
    Outages,
    /// It runs several API servers.
    Replicas,
    /// The number of a controller's retries can be bounded.
    Retries,
    /// Its signing key is known, so that any token can be signed.
    Signing,
    /// Controllers can be paused, and do one thing at a time.
    Steps,
}

impl Power {
    /// All powers, by name.
    pub const ALL: [Power; 13] = [
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
    ];

    /// The power called `name`.
    pub fn parse(name: &str) -> Option<Power> {
        Power::ALL.into_iter().find(|power| power.to_string() == name)
    }

    /// Whether a scenario with this need sees or changes more of its server than its own namespace.
    pub fn is_exclusive(self) -> bool {
        matches!(self, Power::Calls | Power::Compaction | Power::Controllers | Power::Log)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
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
        })
    }
}
