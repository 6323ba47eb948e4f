//! The time after which clients are told to try again: longer, the more of them were refused lately. Pure.
//!
//! Follows `pkg/util/flowcontrol/dropped_requests_tracker.go` of `k8s.io/apiserver` (v0.37.1).

use std::collections::VecDeque;

/// The longest time, in seconds (`maxRetryAfter`).
const LONGEST: u64 = 32;

/// The refusals of a level.
#[derive(Debug)]
pub(super) struct Dropped {
    /// The numbers of refusals by second, the oldest first, without the present one.
    history: VecDeque<(u64, u64)>,
    second: u64,
    count: u64,
    retry_after: u64,
    /// The second in which it last grew.
    grew: Option<u64>,
}

impl Default for Dropped {
    fn default() -> Self {
        Dropped { history: VecDeque::new(), second: 0, count: 0, retry_after: 1, grew: None }
    }
}

impl Dropped {
    /// A request is refused in that second; the seconds after which to try again.
    pub(super) fn note(&mut self, second: u64) -> u64 {
        if second == self.second {
            self.count += 1;
            return self.retry_after;
        }
        self.history.push_back((self.second, self.count));
        let kept = (2 * self.retry_after).min(LONGEST);
        while self.history.front().is_some_and(|(then, _)| second.saturating_sub(*then) > kept) {
            self.history.pop_front();
        }
        (self.second, self.count) = (second, 1);
        self.adjust(second);
        self.retry_after
    }

    /// Refusals in as many seconds as clients are told to wait decide whether they are told to wait longer.
    fn adjust(&mut self, second: u64) {
        let lately = self.history.iter().filter(|(then, _)| second.saturating_sub(*then) <= self.retry_after);
        let refused: u64 = lately.map(|(_, count)| count).sum();
        let may_grow = self.grew.is_none_or(|grew| second.saturating_sub(grew) >= self.retry_after);
        if may_grow && refused >= 3 * self.retry_after {
            self.retry_after = (2 * self.retry_after).min(LONGEST);
            self.grew = Some(second);
        } else if refused < self.retry_after && self.retry_after > 1 {
            self.retry_after -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_are_refused_the_longer_they_wait() {
        let mut dropped = Dropped::default();
        for (second, times, expected) in
            [(10, 3, 1), (11, 6, 2), (12, 1, 2), (13, 1, 4), (14, 1, 4), (30, 1, 3), (31, 1, 2)]
        {
            let told: Vec<u64> = (0..times).map(|_| dropped.note(second)).collect();
            assert_eq!(told, vec![expected; times], "{second}");
        }
    }
}
