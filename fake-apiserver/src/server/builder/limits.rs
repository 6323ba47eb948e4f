//! Limits on concurrent requests.

use super::Builder;
use crate::http::Limits;

impl Builder {
    /// The maximum of concurrent read-only requests of a replica, not counting watches; 0, the default, means no limit. Further
    /// requests get 429, unless they come from `system:masters`.
    #[must_use]
    pub fn max_requests_inflight(mut self, requests: usize) -> Self {
        self.limits.requests = requests;
        self
    }

    /// The maximum of other concurrent requests of a replica; 0, the default, means no limit.
    #[must_use]
    pub fn max_mutating_requests_inflight(mut self, requests: usize) -> Self {
        self.limits.mutating_requests = requests;
        self
    }

    /// The maximum of concurrent requests, including watches, on an HTTP/2 connection; 1000 by default, and with 0. (The default of
    /// kube-apiserver is 100.)
    #[must_use]
    pub fn http2_max_streams_per_connection(mut self, streams: u32) -> Self {
        self.limits.streams = if streams == 0 { Limits::default().streams } else { streams };
        self
    }
    /// The maximum of concurrent connections to each port of a replica; 0, the default, means no limit. Further connections wait until
    /// one of these ends, as with Go's `netutil.LimitListener`; an idle one ends after 90 s.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.limits.connections = connections;
        self
    }
}
