//! Limits on concurrent requests.

use super::Builder;
use crate::http::Limits;

impl Builder {
    /// The most concurrent requests of a replica that only read, without watches; 0, the default, is no limit. Further ones
    /// get 429, unless they are of `system:masters`.
    #[must_use]
    pub fn max_requests_inflight(mut self, requests: usize) -> Self {
        self.limits.requests = requests;
        self
    }

    /// The most other concurrent requests of a replica; 0, the default, is no limit.
    #[must_use]
    pub fn max_mutating_requests_inflight(mut self, requests: usize) -> Self {
        self.limits.mutating_requests = requests;
        self
    }

    /// The most concurrent requests, watches included, of an HTTP/2 connection; 1000 by default, and with 0. (The default of
    /// kube-apiserver is 100.)
    #[must_use]
    pub fn http2_max_streams_per_connection(mut self, streams: u32) -> Self {
        self.limits.streams = if streams == 0 { Limits::default().streams } else { streams };
        self
    }
    /// The number of connections that each port of a replica serves at a time; 0, the default, is no limit. Others wait until one of
    /// these ends, as they do for Go's `netutil.LimitListener`; an idle one ends after 90 s.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.limits.connections = connections;
        self
    }
}
