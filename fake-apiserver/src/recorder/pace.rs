//! The time in a recording.

use crate::clock::Clock;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Instant;

/// The time in a recording.
pub(super) struct Pace {
    pub(super) begun: Instant,
    pub(super) clock: Arc<dyn Clock>,
}

/// The moment of a line.
pub(super) struct Stamp {
    pub(super) at: u64,
    pub(super) time: Timestamp,
    pub(super) revision: u64,
    pub(super) cluster: Option<Arc<str>>,
}

impl Pace {
    /// The time since the recording began, in microseconds.
    pub(super) fn at(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// This moment, at a revision of a cluster.
    pub(super) fn stamp(&self, revision: u64, cluster: Option<Arc<str>>) -> Stamp {
        Stamp { at: self.at(), time: self.clock.now(), revision, cluster }
    }
}
