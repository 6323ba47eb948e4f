//! Limits on concurrent requests.

use super::{Builder, StartError};
use crate::http::{AllowedLabels, Limits};

impl Builder {
    /// Whether flow schemas and priority levels decide which requests of a replica are served at once, which wait, and which get 429
    /// (`--enable-priority-and-fairness`); true by default. The seats that the levels share are then the sum of
    /// [`max_requests_inflight`](Self::max_requests_inflight) and
    /// [`max_mutating_requests_inflight`](Self::max_mutating_requests_inflight), which has to be positive.
    #[must_use]
    pub fn priority_and_fairness(mut self, on: bool) -> Self {
        self.serving.limits.is_fair = on;
        self
    }

    /// The maximum of concurrent read-only requests of a replica, not counting watches; 400 by default. Without priority and fairness
    /// 0 means no limit, and further requests get 429, unless they come from `system:masters`.
    #[must_use]
    pub fn max_requests_inflight(mut self, requests: usize) -> Self {
        self.serving.limits.requests = requests;
        self
    }

    /// The maximum of other concurrent requests of a replica; 200 by default. Without priority and fairness 0 means no limit.
    #[must_use]
    pub fn max_mutating_requests_inflight(mut self, requests: usize) -> Self {
        self.serving.limits.mutating_requests = requests;
        self
    }

    /// The maximum of concurrent requests, including watches, on an HTTP/2 connection; 1000 by default, and with 0. (The default of
    /// kube-apiserver is 100.)
    #[must_use]
    pub fn http2_max_streams_per_connection(mut self, streams: u32) -> Self {
        self.serving.limits.streams = if streams == 0 { Limits::default().streams } else { streams };
        self
    }
    /// The values that a label of a metric may have in `/metrics`: pairs such as `apiserver_request_total,code` and `200,201`
    /// (`--allow-metric-labels`). All others are shown as `unexpected`. Any by default.
    #[must_use]
    pub fn allow_metric_labels<K: Into<String>, V: Into<String>>(
        mut self,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        match AllowedLabels::of(pairs.into_iter().map(|(key, values)| (key.into(), values.into()))) {
            Ok(allowed) => self.serving.allowed_labels = allowed.into(),
            Err(why) => self.error = self.error.or(Some(StartError::MetricLabels(why))),
        }
        self
    }

    /// The maximum of concurrent connections to each port of a replica; 0, the default, means no limit. Further connections wait until
    /// one of these ends, as with Go's `netutil.LimitListener`; an idle one ends after 90 s.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.serving.limits.connections = connections;
        self
    }
}
