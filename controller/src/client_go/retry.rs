//! Retries on conflict, a bounded number of times.
//!
//! Follows client-go v0.37.1 `util/retry/util.go` and apimachinery v0.37.1 `pkg/util/wait/backoff.go`.

use crate::client_go::api_errors::is_conflict;
use std::time::Duration;

/// The number and the delays of retries (`wait.Backoff`).
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// The number of attempts in total, at least one.
    pub steps: u32,
    /// The delay after the first attempt.
    pub duration: Duration,
    /// The factor from one delay to the next; 0 means that they are all the same.
    pub factor: f64,
    /// The largest share of a delay that is added to it at random.
    pub jitter: f64,
}

/// The backoff for conflicts with other active writers of the object (`retry.DefaultRetry`).
pub const DEFAULT_RETRY: Backoff = Backoff { steps: 5, duration: Duration::from_millis(10), factor: 1.0, jitter: 0.1 };

impl Backoff {
    /// The delays between the attempts: one less than `steps`.
    pub fn waits(self) -> impl Iterator<Item = Duration> {
        let next = move |wait: &Duration| Some(if self.factor == 0.0 { *wait } else { wait.mul_f64(self.factor) });
        std::iter::successors(Some(self.duration), next)
            .take(self.steps.saturating_sub(1) as usize)
            .map(move |wait| wait.mul_f64(1.0 + fastrand::f64() * self.jitter))
    }
}

/// A decision whether to retry: only after a conflict, and only while there are delays left.
///
/// ```
/// # use controller::client_go::retry::DEFAULT_RETRY;
/// # async fn update() -> kube::Result<()> { Ok(()) }
/// # async fn example() -> kube::Result<()> {
/// let mut conflicts = DEFAULT_RETRY.on_conflict();
/// loop {
///     let result = update().await;
///     if !conflicts.again(&result).await {
///         return result;
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct OnConflict<W> {
    waits: W,
}

impl Backoff {
    /// Follows `retry.RetryOnConflict` with this backoff.
    pub fn on_conflict(self) -> OnConflict<impl Iterator<Item = Duration>> {
        OnConflict { waits: self.waits() }
    }
}

impl<W: Iterator<Item = Duration>> OnConflict<W> {
    /// Whether to retry after `result`. Waits for the delay before it returns true.
    pub async fn again<T>(&mut self, result: &kube::Result<T>) -> bool {
        let conflict = result.as_ref().err().is_some_and(is_conflict);
        match self.waits.next() {
            Some(wait) if conflict => {
                tokio::time::sleep(wait).await;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_go::api_errors::tests::{CONFLICT, FORBIDDEN, api_error};
    use tokio::time::Instant;

    #[test]
    fn waits_follow_factor_and_jitter() {
        let backoff = |factor, jitter| Backoff { steps: 4, duration: Duration::from_millis(100), factor, jitter };
        for (factor, jitter, expected) in [
            (1.0, 0.0, [100..=100, 100..=100, 100..=100]),
            (0.0, 1.0, [100..=200, 100..=200, 100..=200]),
            (5.0, 0.1, [100..=110, 500..=550, 2500..=2750]),
        ] {
            let waits: Vec<_> = backoff(factor, jitter).waits().collect();
            assert_eq!(waits.len(), expected.len());
            for (wait, range) in waits.iter().zip(&expected) {
                assert!(range.contains(&wait.as_millis()), "{wait:?} is not in {range:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_conflict_is_tried_again() {
        // The answers in order, the number of attempts, and whether the last one succeeds.
        for (answers, attempts, success) in [
            (vec![None], 1, true),
            (vec![Some(CONFLICT), None], 2, true),
            (vec![Some(CONFLICT), Some(FORBIDDEN)], 2, false),
            (vec![Some(CONFLICT); 5], 5, false),
        ] {
            let start = Instant::now();
            let mut conflicts = DEFAULT_RETRY.on_conflict();
            let mut made = 0;
            let result = loop {
                let result = answers[made].map_or(Ok(()), |answer| Err(api_error(answer)));
                made += 1;
                if !conflicts.again(&result).await {
                    break result;
                }
            };
            assert_eq!((made, result.is_ok()), (attempts, success), "{answers:?}");
            let waited = start.elapsed().as_millis();
            let waits = attempts as u128 - 1;
            assert!((10 * waits..=12 * waits).contains(&waited), "{waited} ms for {waits} waits");
        }
    }
}
