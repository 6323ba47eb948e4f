//! The backoff of a reflector.
//!
//! Follows apimachinery v0.37.1 `pkg/util/wait/backoff.go` (`backoffManager`) with the constants of client-go v0.37.1
//! `tools/cache/reflector.go`.

use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// The first delay, without jitter (`defaultBackoffInit`).
const FIRST: Duration = Duration::from_millis(800);
/// The longest delay, without jitter (`defaultBackoffMax`).
const LONGEST: Duration = Duration::from_secs(30);
/// The factor by which each delay exceeds the one before (`defaultBackoffFactor`).
const FACTOR: u32 = 2;
/// The largest share of a delay that is added to it at random (`defaultBackoffJitter`).
const JITTER: f64 = 1.0;
/// The time after which the delays start over (`defaultBackoffReset`).
const RESET: SignedDuration = SignedDuration::from_mins(2);

/// A sequence of growing delays, which starts over from time to time.
pub(super) struct Backoff {
    next: Duration,
    begun: Timestamp,
}

impl Backoff {
    pub(super) fn new(now: Timestamp) -> Self {
        Backoff { next: FIRST, begun: now }
    }

    /// The next delay.
    pub(super) fn step(&mut self, now: Timestamp) -> Duration {
        if now.duration_since(self.begun) > RESET {
            *self = Backoff::new(now);
        }
        let wait = self.next;
        self.next = (wait * FACTOR).min(LONGEST);
        wait.mul_f64(1.0 + fastrand::f64() * JITTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_begin_anew_after_two_minutes() {
        let mut backoff = Backoff::new(Timestamp::UNIX_EPOCH);
        for (second, milliseconds) in [
            (0, 800),
            (1, 1_600),
            (3, 3_200),
            (7, 6_400),
            (15, 12_800),
            (30, 25_600),
            (60, 30_000),
            (120, 30_000),
            (121, 800),
            (122, 1_600),
            (241, 3_200),
            (242, 800),
        ] {
            let wait = backoff.step(Timestamp::from_second(second).expect("in range"));
            let range = Duration::from_millis(milliseconds)..=Duration::from_millis(2 * milliseconds);
            assert!(range.contains(&wait), "{wait:?} at {second} s is not in {range:?}");
        }
    }
}
