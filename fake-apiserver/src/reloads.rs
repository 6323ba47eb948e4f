//! The reloads of a configuration, as metrics tell of them.
//!
//! Follows `pkg/server/options/{authenticationconfig,authorizationconfig}/metrics` and `pkg/admission/plugin/manifest/metrics` of
//! `k8s.io/apiserver` (v0.37.1).

use crate::clock::Clock;
use aws_lc_rs::digest::{SHA256, digest};
use jiff::Timestamp;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The configuration that is reloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Authentication,
    Authorization,
    /// The manifests of a plugin.
    Manifests(&'static str),
}

/// The count of the reloads of a configuration.
pub(crate) struct Reloads {
    pub(crate) subject: Subject,
    clock: Arc<dyn Clock>,
    told: Mutex<Told>,
}

/// The count at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) succeeded: Times,
    pub(crate) failed: Times,
    /// The hash of the content that was loaded last.
    pub(crate) hash: String,
}

/// A number of events, and the time of the last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) number: u64,
    pub(crate) last: Option<Timestamp>,
}

impl Subject {
    /// The plugin whose manifests these are.
    pub(crate) fn plugin(self) -> Option<&'static str> {
        match self {
            Subject::Manifests(plugin) => Some(plugin),
            Subject::Authentication | Subject::Authorization => None,
        }
    }
}

impl Reloads {
    /// None so far.
    pub(crate) fn new(subject: Subject, clock: Arc<dyn Clock>) -> Reloads {
        Reloads { subject, clock, told: Mutex::default() }
    }

    /// Notes the hash of the first content, which was not reloaded.
    pub(crate) fn began(&self, hash: &str) {
        hash.clone_into(&mut self.lock().hash);
    }

    /// Counts a reload, of content with that hash.
    pub(crate) fn succeeded(&self, hash: &str) {
        let now = self.clock.now();
        let mut told = self.lock();
        told.succeeded.count(now);
        hash.clone_into(&mut told.hash);
    }

    /// Counts a reload that failed.
    pub(crate) fn failed(&self) {
        let now = self.clock.now();
        self.lock().failed.count(now);
    }

    /// The count so far.
    pub(crate) fn told(&self) -> Told {
        self.lock().clone()
    }

    /// Counts from 0 again.
    pub(crate) fn forget(&self) {
        let mut told = self.lock();
        (told.succeeded, told.failed) = (Times::default(), Times::default());
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Times {
    fn count(&mut self, now: Timestamp) {
        self.number += 1;
        self.last = Some(now);
    }
}

/// The hash of a content, as metrics have it; "" for nothing.
pub(crate) fn hash_of(content: &[u8]) -> String {
    if content.is_empty() {
        return String::new();
    }
    let mut text = "sha256:".to_owned();
    for byte in digest(&SHA256, content).as_ref() {
        write!(text, "{byte:02x}").expect("memory");
    }
    text
}
