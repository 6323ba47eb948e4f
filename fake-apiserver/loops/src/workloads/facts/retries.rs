//! How often a key has failed, and when it is tried again.

use crate::resource::Key;
use std::collections::HashMap;
use std::time::Duration;

/// Failures in a row, by key.
#[derive(Debug, Default)]
pub(crate) struct Retries(HashMap<Key, u32>);

impl Retries {
    /// Counts a failure, and returns after how long the key is due again: 5 ms, twice as long each time, 1000 s at most
    /// (`DefaultTypedControllerRateLimiter` of client-go).
    pub(crate) fn failed(&mut self, key: &Key) -> Duration {
        let failures = self.0.entry(key.clone()).or_default();
        let delay = Duration::from_millis(5).saturating_mul(1 << (*failures).min(20));
        *failures = failures.saturating_add(1);
        delay.min(Duration::from_secs(1000))
    }

    /// Forgets the failures of a key.
    pub(crate) fn forget(&mut self, key: &Key) {
        self.0.remove(key);
    }
}
