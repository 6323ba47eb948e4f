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

    /// The time that a watch without a time limit of its client lasts at least, in whole seconds; half an hour by default. It lasts at most
    /// twice as long.
    #[must_use]
    pub fn min_request_timeout(mut self, shortest: Duration) -> Self {
        self.min_request_timeout = shortest;
        self
    }

    /// Lets requests take as long as they need, except for those with a `timeout` of the client: for tests on machines that are busy
    /// with other work. Off by default.
    #[must_use]
    pub fn patient(mut self, patient: bool) -> Self {
        self.patient = patient;
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
