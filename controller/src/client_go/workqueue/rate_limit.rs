//! The rate limiter: a failing item waits for the longer of its own growing delay and its turn in a shared bucket.
//!
//! Follows client-go v0.37.1 `util/workqueue/default_rate_limiters.go` and, for the bucket, `golang.org/x/time/rate`.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;
use tokio::time::Instant;

/// The first delay of an item (`baseDelay` of `DefaultControllerRateLimiter`).
pub const BASE_DELAY: Duration = Duration::from_millis(5);
/// The longest delay of an item (`maxDelay` of `DefaultControllerRateLimiter`).
pub const MAX_DELAY: Duration = Duration::from_secs(1000);
/// The rate of retries of all items together, per second, once the burst is used up.
pub const BUCKET_RATE: f64 = 10.0;
/// The number of retries of all items together that pass at once (`burst`).
pub const BUCKET_BURST: f64 = 100.0;

/// client-go's `DefaultControllerRateLimiter`.
#[derive(Debug)]
pub struct ControllerRateLimiter<T> {
    failures: HashMap<T, u32>,
    bucket: Bucket,
}

impl<T: Clone + Eq + Hash> ControllerRateLimiter<T> {
    /// A limiter without failures and with a full bucket.
    pub fn new(now: Instant) -> Self {
        ControllerRateLimiter { failures: HashMap::new(), bucket: Bucket { tokens: BUCKET_BURST, updated: now } }
    }

    /// Counts a failure of `item` and returns its delay.
    pub fn when(&mut self, item: &T, now: Instant) -> Duration {
        let failures = self.failures.entry(item.clone()).or_default();
        let own = exponential_delay(*failures);
        *failures += 1;
        own.max(self.bucket.reserve(now))
    }

    /// Ends the tracking of `item`. The bucket does not get its token back.
    pub fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    /// The number of failures of `item` since it was last forgotten.
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or_default()
    }
}

/// [`BASE_DELAY`] doubled for each earlier failure, at most [`MAX_DELAY`].
fn exponential_delay(failures: u32) -> Duration {
    let factor = 2_u32.checked_pow(failures);
    factor.and_then(|factor| BASE_DELAY.checked_mul(factor)).map_or(MAX_DELAY, |delay| delay.min(MAX_DELAY))
}

/// A token bucket that can be overdrawn: a token that is missing is reserved, and waited for.
#[derive(Debug)]
struct Bucket {
    tokens: f64,
    updated: Instant,
}

impl Bucket {
    fn reserve(&mut self, now: Instant) -> Duration {
        let refill = now.saturating_duration_since(self.updated).as_secs_f64() * BUCKET_RATE;
        self.updated = now;
        self.tokens = (self.tokens + refill).min(BUCKET_BURST) - 1.0;
        Duration::from_secs_f64((-self.tokens).max(0.0) / BUCKET_RATE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_cap() {
        for (failures, milliseconds) in
            [(0, 5), (1, 10), (9, 2560), (17, 655_360), (18, 1_000_000), (31, 1_000_000), (1000, 1_000_000)]
        {
            assert_eq!(exponential_delay(failures), Duration::from_millis(milliseconds), "after {failures} failures");
        }
    }

    #[test]
    fn items_fail_apart_and_share_the_bucket() {
        let now = Instant::now();
        let mut limiter = ControllerRateLimiter::new(now);
        assert_eq!(limiter.when(&"a", now), Duration::from_millis(5));
        assert_eq!(limiter.when(&"a", now), Duration::from_millis(10));
        assert_eq!(limiter.when(&"b", now), Duration::from_millis(5));
        assert_eq!((limiter.num_requeues(&"a"), limiter.num_requeues(&"b"), limiter.num_requeues(&"c")), (2, 1, 0));
        limiter.forget(&"a");
        assert_eq!((limiter.num_requeues(&"a"), limiter.num_requeues(&"b")), (0, 1));
        assert_eq!(limiter.when(&"a", now), Duration::from_millis(5));
    }

    #[test]
    fn an_empty_bucket_makes_everybody_wait_for_a_turn() {
        let now = Instant::now();
        let mut limiter = ControllerRateLimiter::new(now);
        for item in 0..100 {
            assert_eq!(limiter.when(&item, now), BASE_DELAY, "item {item} is within the burst");
        }
        assert_eq!(limiter.when(&100, now), Duration::from_millis(100));
        assert_eq!(limiter.when(&101, now), Duration::from_millis(200));
        assert_eq!(limiter.when(&102, now + Duration::from_secs(1)), BASE_DELAY, "a second refills ten tokens");
    }
}
