//! Negotiation of the format of metrics.
//!
//! Follows `Negotiate` of github.com/prometheus/common/expfmt (v0.70.0). Nobody is refused; OpenMetrics is not offered, as by kube-apiserver.

use super::Preferences;

/// The ways in which names of metrics may be escaped, of which none changes the names here.
const ESCAPINGS: [&str; 4] = ["allow-utf-8", "underscores", "dots", "values"];
const DEFAULT_ESCAPING: &str = "underscores";
/// The type of the messages.
const PROTOCOL: &str = "io.prometheus.client.MetricFamily";

/// A format of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Exposition {
    /// Prometheus' text.
    Text,
    /// Messages of protobuf, each behind its length.
    Delimited,
    /// Messages of protobuf as text.
    MessageText,
    /// The same, a line each.
    CompactText,
}

impl Exposition {
    /// Its `Content-Type`.
    pub(in crate::http) fn content_type(self, escaping: &str) -> String {
        let encoding = match self {
            Exposition::Text => return format!("text/plain; version=0.0.4; charset=utf-8; escaping={escaping}"),
            Exposition::Delimited => "delimited",
            Exposition::MessageText => "text",
            Exposition::CompactText => "compact-text",
        };
        format!("application/vnd.google.protobuf; proto={PROTOCOL}; encoding={encoding}; escaping={escaping}")
    }
}

impl Preferences<'_> {
    /// The format of metrics that the client prefers, and the escaping that it is told of.
    pub(in crate::http) fn exposition(&self) -> (Exposition, &'static str) {
        let mut escaping = DEFAULT_ESCAPING;
        for clause in self.clauses() {
            let parameter = |name| clause.parameter(name).unwrap_or_default();
            escaping = ESCAPINGS.into_iter().find(|known| *known == parameter("escaping")).unwrap_or(escaping);
            let found = match (clause.main, clause.sub) {
                ("application", "vnd.google.protobuf") if parameter("proto") == PROTOCOL => match parameter("encoding")
                {
                    "delimited" => Exposition::Delimited,
                    "text" => Exposition::MessageText,
                    "compact-text" => Exposition::CompactText,
                    _ => continue,
                },
                ("text", "plain") if matches!(parameter("version"), "" | "0.0.4") => Exposition::Text,
                _ => continue,
            };
            return (found, escaping);
        }
        (Exposition::Text, escaping)
    }
}
