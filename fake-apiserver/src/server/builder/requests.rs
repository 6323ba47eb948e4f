//! The time limit of requests, and their record.

use super::Builder;
use std::path::PathBuf;
use std::time::Duration;

impl Builder {
    /// The time limit of requests without watches; a minute by default. A client's `timeout` may shorten it, and writes have
    /// at most 34 s. A request that takes longer gets 504.
    #[must_use]
    pub fn request_timeout(mut self, longest: Duration) -> Self {
        self.request_timeout = longest;
        self
    }

    /// Lets requests take as long as they need, except for those with a `timeout` of the client: for tests on machines that are busy
    /// with other work. Off by default.
    #[must_use]
    pub fn patient(mut self, patient: bool) -> Self {
        self.patient = patient;
        self
    }

    /// Holds each write of a client for that time before it is committed, as the storage of a real server does, which takes some
    /// milliseconds; none by default. A test that fails without it and passes with it relies on the time that writes take.
    #[must_use]
    pub fn write_latency(mut self, latency: Duration) -> Self {
        self.write_latency = latency;
        self
    }

    /// Keeps a record of the requests in memory, up to 256 MiB; beyond that the oldest are dropped.
    #[must_use]
    pub fn record_requests(mut self, record: bool) -> Self {
        self.record_requests = record;
        self
    }

    /// Appends all requests to a file, as `audit.k8s.io/v1` events.
    #[must_use]
    pub fn audit_log(mut self, path: impl Into<PathBuf>) -> Self {
        self.audit_log = Some(path.into());
        self
    }
}
