//! Attempts of authentication and authorization by their results, and their durations.
//!
//! Follows `pkg/endpoints/filters/metrics.go` of `k8s.io/apiserver` (v0.37.1).

use super::families::{Families, Kind};
use crate::auth::User;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The number of bounds: milliseconds, each twice the one before.
const BOUNDS: usize = 15;

/// The results of authentication.
pub(super) const OF_AUTHENTICATION: [&str; 3] = ["error", "failure", "success"];
/// The results of authorization.
pub(super) const OF_AUTHORIZATION: [&str; 4] = ["allowed", "denied", "error", "no-opinion"];
/// The users whose requests are counted one by one.
const KNOWN_USERS: [&str; 5] =
    ["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"];
/// The labels of all others.
const EMAIL: &str = "email_id";
const OTHER: &str = "other";

/// Attempts by their results.
pub(super) struct Attempts<const N: usize> {
    results: [&'static str; N],
    of: [Attempt; N],
}

/// Attempts with the same result.
#[derive(Default)]
struct Attempt {
    /// The number of durations by bucket; those above all bounds come last.
    buckets: [AtomicU64; BOUNDS + 1],
    nanoseconds: AtomicU64,
}

impl<const N: usize> Attempts<N> {
    /// None so far, with those results, sorted.
    pub(super) fn new(results: [&'static str; N]) -> Self {
        Attempts { results, of: std::array::from_fn(|_| Attempt::default()) }
    }

    /// Counts an attempt with one of the results.
    pub(super) fn count(&self, result: &str, elapsed: Duration) {
        let Some(place) = self.results.iter().position(|known| *known == result) else { return };
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let bucket = (0..BOUNDS).find(|index| nanoseconds <= bound(*index)).unwrap_or(BOUNDS);
        self.of[place].buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.of[place].nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Counts from 0 again.
    pub(super) fn forget(&self) {
        for Attempt { buckets, nanoseconds } in &self.of {
            buckets.iter().chain([nanoseconds]).for_each(|count| count.store(0, Ordering::Relaxed));
        }
    }

    /// Adds two families: the numbers, and the durations, each with its name and its help.
    pub(super) fn write(&self, families: &mut Families, numbers: (&str, &str), durations: (&str, &str)) {
        let counted: Vec<(&str, Vec<u64>, u64)> = self
            .results
            .iter()
            .zip(&self.of)
            .map(|(result, attempt)| {
                let counts = attempt.buckets.iter().map(|count| count.load(Ordering::Relaxed)).collect();
                (*result, counts, attempt.nanoseconds.load(Ordering::Relaxed))
            })
            .filter(|(_, counts, _): &(_, Vec<u64>, _)| counts.iter().any(|count| *count > 0))
            .collect();
        families.family(numbers.0, numbers.1, Kind::Counter);
        for (result, counts, _) in &counted {
            families.sample(&[("result", result)], counts.iter().sum::<u64>() as f64);
        }
        let bounds: Vec<f64> = (0..BOUNDS).map(|index| bound(index) as f64 / 1e9).collect();
        families.family(durations.0, durations.1, Kind::Histogram);
        for (result, counts, nanoseconds) in &counted {
            families.histogram(&[("result", result)], &bounds, counts, *nanoseconds as f64 / 1e9);
        }
    }
}

/// An upper bound, in nanoseconds.
fn bound(index: usize) -> u64 {
    1_000_000 << index
}

/// Authenticated requests by the kinds of their users.
#[derive(Default)]
pub(super) struct Users([AtomicU64; KNOWN_USERS.len() + 2]);

impl Users {
    /// Counts a request of a user (`compressUsername`).
    pub(super) fn count(&self, user: &User) {
        let known = KNOWN_USERS.iter().position(|known| *known == user.name);
        let place = known.unwrap_or(KNOWN_USERS.len() + usize::from(!user.name.contains('@')));
        self.0[place].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts from 0 again.
    pub(super) fn forget(&self) {
        self.0.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// Adds the family.
    pub(super) fn write(&self, families: &mut Families) {
        families.family(
            "authenticated_user_requests",
            "[ALPHA] Counter of authenticated requests broken out by username.",
            Kind::Counter,
        );
        let labels = KNOWN_USERS.into_iter().chain([EMAIL, OTHER]);
        let mut counts: Vec<(&str, u64)> =
            labels.zip(&self.0).map(|(label, count)| (label, count.load(Ordering::Relaxed))).collect();
        counts.sort_unstable();
        for (label, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            families.sample(&[("username", label)], count as f64);
        }
    }
}
