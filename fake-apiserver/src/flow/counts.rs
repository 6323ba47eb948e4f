//! The counts of the requests of a flow schema.
//!
//! Follows `pkg/util/flowcontrol/metrics/metrics.go` of `k8s.io/apiserver` (v0.37.1).

use super::queues::Reason;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets of durations, in seconds (`requestDurationSecondsBuckets`).
pub(crate) const DURATIONS: [f64; 13] = [0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0];
/// Those of lengths of queues (`queueLengthBuckets`).
pub(crate) const LENGTHS: [f64; 8] = [0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
/// Those of seats.
pub(crate) const SEATS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0];
/// The largest number of bounds.
const MOST: usize = 13;

/// The counts of a flow schema.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) dispatched: AtomicU64,
    /// By [`Reason`].
    rejected: [AtomicU64; 3],
    pub(crate) executing: AtomicUsize,
    pub(crate) executing_seats: AtomicUsize,
    pub(crate) waiting: AtomicUsize,
    pub(crate) waiting_seats: AtomicUsize,
    /// The durations of requests, and of the beginnings of watches.
    pub(crate) regular: Histogram,
    pub(crate) watches: Histogram,
    /// The times in queues of those who were served, and of those who were not.
    pub(crate) served_after: Histogram,
    pub(crate) refused_after: Histogram,
    pub(crate) lengths: Histogram,
    pub(crate) estimates: Histogram,
}

/// The numbers of values by bucket, those above all bounds last, and their sum in millionths.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; MOST + 1],
    sum: AtomicU64,
}

impl Reason {
    /// All reasons, with the values of the label `reason`.
    pub(crate) const ALL: [(Reason, &'static str); 3] = [
        (Reason::ConcurrencyLimit, "concurrency-limit"),
        (Reason::QueueFull, "queue-full"),
        (Reason::TimeOut, "time-out"),
    ];
}

impl Counts {
    pub(super) fn reject(&self, reason: Reason) {
        self.rejected[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The number of requests that were refused for that reason.
    pub(crate) fn rejected(&self, reason: Reason) -> u64 {
        self.rejected[reason as usize].load(Ordering::Relaxed)
    }

    /// Counts a request that has seats now.
    pub(super) fn begin(&self, seats: usize) {
        self.dispatched.fetch_add(1, Ordering::Relaxed);
        self.executing.fetch_add(1, Ordering::Relaxed);
        self.executing_seats.fetch_add(seats, Ordering::Relaxed);
        self.estimates.note(&SEATS, seats as f64);
    }

    /// Counts the end of a request.
    pub(super) fn end(&self, seats: usize, is_watch: bool, took: Duration) {
        self.executing.fetch_sub(1, Ordering::Relaxed);
        self.executing_seats.fetch_sub(seats, Ordering::Relaxed);
        let durations = if is_watch { &self.watches } else { &self.regular };
        durations.note(&DURATIONS, took.as_secs_f64());
    }

    /// Forgets what is past.
    pub(crate) fn forget(&self) {
        self.dispatched.store(0, Ordering::Relaxed);
        self.rejected.iter().for_each(|count| count.store(0, Ordering::Relaxed));
        for histogram in
            [&self.regular, &self.watches, &self.served_after, &self.refused_after, &self.lengths, &self.estimates]
        {
            histogram.forget();
        }
    }
}

impl Histogram {
    pub(super) fn note(&self, bounds: &[f64], value: f64) {
        let bucket = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add((value * 1e6) as u64, Ordering::Relaxed);
    }

    /// The numbers by bucket, for that many bounds, and the sum; `None` if there are no values.
    pub(crate) fn read(&self, bounds: usize) -> Option<(Vec<u64>, f64)> {
        let counts: Vec<u64> = self.buckets[..=bounds].iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let sum = self.sum.load(Ordering::Relaxed) as f64 / 1e6;
        counts.iter().any(|count| *count > 0).then_some((counts, sum))
    }

    fn forget(&self) {
        self.buckets.iter().chain([&self.sum]).for_each(|count| count.store(0, Ordering::Relaxed));
    }
}
