//! Steps about requests: their time, and their record.

use super::Builder;
use std::path::PathBuf;
use std::time::Duration;

impl Builder {
    /// The most time that a request may take, unless it is a watch; a minute by default. A client's `timeout` may shorten it, and writes
    /// have no more than 34 s. What takes longer is answered with 504.
    #[must_use]
    pub fn request_timeout(mut self, longest: Duration) -> Self {
        self.request_timeout = longest;
        self
    }

    /// Keeps a record of the requests in memory: of the newest, if it would take more than 256 MiB.
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
