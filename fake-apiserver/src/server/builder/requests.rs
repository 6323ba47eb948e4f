//! The time limit of requests, their record and their audit.

use super::Builder;
use crate::audit::AuditOptions;
use std::path::PathBuf;
use std::time::Duration;

impl Builder {
    /// The time limit of requests without watches; a minute by default. A client's `timeout` may shorten it, and writes have
    /// at most 34 s. A request that takes longer gets 504.
    #[must_use]
    pub fn request_timeout(mut self, longest: Duration) -> Self {
        self.serving.timeout = longest;
        self
    }

    /// The time that a watch without a time limit of its client lasts at least, in whole seconds; half an hour by default. It lasts at most
    /// twice as long.
    #[must_use]
    pub fn min_request_timeout(mut self, shortest: Duration) -> Self {
        self.serving.min_timeout = shortest;
        self
    }

    /// Lets requests take as long as they need, except for those with a `timeout` of the client: for tests on machines that are busy
    /// with other work. Off by default.
    #[must_use]
    pub fn patient(mut self, patient: bool) -> Self {
        self.serving.patient = patient;
        self
    }

    /// Holds each write of a client for that time before it is committed, as the storage of a real server does, which takes some
    /// milliseconds; none by default. A test that fails without it and passes with it relies on the time that writes take.
    #[must_use]
    pub fn write_latency(mut self, latency: Duration) -> Self {
        self.serving.write_latency = latency;
        self
    }

    /// Keeps a record of the requests in memory, up to 256 MiB; beyond that the oldest are dropped.
    #[must_use]
    pub fn record_requests(mut self, record: bool) -> Self {
        self.noted.requests = record;
        self
    }

    /// Records what happens in a file that is made anew: requests, objects, watches, faults, the clock, orders, as they come. Requests are kept
    /// in memory, too, as by [`record_requests`](Self::record_requests). A report of the file is made by `fake-apiserver report`, and
    /// [`replay`](Self::replay) serves the objects of any moment.
    #[must_use]
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.noted.recording = Some(path.into());
        self
    }

    /// Counts what rules decide: expressions of policies and definitions, verbs of roles, webhooks. [`FakeApiServer::coverage`](crate::FakeApiServer::coverage) tells.
    #[must_use]
    pub fn coverage(mut self, on: bool) -> Self {
        self.noted.coverage = on;
        self
    }

    /// Writes `audit.k8s.io/v1` events to a file: of all requests, unless a policy says of which.
    #[must_use]
    pub fn audit_log(mut self, path: impl Into<PathBuf>) -> Self {
        self.noted.audit.log.path = Some(path.into());
        self
    }

    /// The file with the policy, which says which requests are audited, and with what in their events.
    #[must_use]
    pub fn audit_policy_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.noted.audit.policy_file = Some(path.into());
        self
    }

    /// All options of auditing.
    #[must_use]
    pub fn audit(mut self, options: AuditOptions) -> Self {
        self.noted.audit = options;
        self
    }
}
