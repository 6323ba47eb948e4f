//! How much clients may ask for at a time.

use super::Builder;
use crate::http::Limits;

impl Builder {
    /// The number of requests that a replica serves at a time that only read, without watches; 0, the default, is no limit. The
    /// others get 429, unless they are of `system:masters`.
    #[must_use]
    pub fn max_requests_inflight(mut self, requests: usize) -> Self {
        self.limits.requests = requests;
        self
    }

    /// The number of other requests that a replica serves at a time; 0, the default, is no limit.
    #[must_use]
    pub fn max_mutating_requests_inflight(mut self, requests: usize) -> Self {
        self.limits.mutating_requests = requests;
        self
    }

    /// The number of requests, watches among them, that an HTTP/2 connection carries at a time; 1000 by default, and with 0. (A
    /// kube-apiserver's default is 100.)
    #[must_use]
    pub fn http2_max_streams_per_connection(mut self, streams: u32) -> Self {
        self.limits.streams = if streams == 0 { Limits::default().streams } else { streams };
        self
    }
}
