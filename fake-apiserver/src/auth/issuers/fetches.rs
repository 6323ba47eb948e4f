//! The times when the keys of an issuer were fetched, as metrics tell of them.
//!
//! Follows `plugin/pkg/authenticator/token/oidc/metrics.go` of `k8s.io/apiserver` (v0.37.1).

use crate::reloads::hash_of;
use jiff::Timestamp;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The fetches of an issuer's keys.
#[derive(Debug, Default)]
pub(super) struct Fetches(Mutex<Told>);

/// The state that metrics tell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    /// The time of the last one that succeeded.
    pub(crate) succeeded: Option<Timestamp>,
    /// The time of the last one that failed.
    pub(crate) failed: Option<Timestamp>,
    /// The hash of the keys that were fetched last.
    pub(crate) hash: Option<String>,
}

impl Fetches {
    /// Keys were fetched in that form, or not.
    pub(super) fn note(&self, now: Timestamp, fetched: Option<&[u8]>) {
        let mut told = self.lock();
        match fetched {
            Some(keys) => (told.succeeded, told.hash) = (Some(now), Some(hash_of(keys))),
            None => told.failed = Some(now),
        }
    }

    pub(super) fn told(&self) -> Told {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
