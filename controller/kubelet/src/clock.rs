//! The injected clock of a node: the current time, and timers.

#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use tokio::sync::watch;

/// A source of the current time, and of timers.
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// Completes when the clock shows `time` or later.
    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()>;
}

/// A time after another one, or before it if the duration is negative. It stops at the limits of `Timestamp`.
pub(crate) fn plus(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(if by.is_negative() { Timestamp::MIN } else { Timestamp::MAX })
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let wait = time.duration_since(Timestamp::now()).max(SignedDuration::ZERO);
        Box::pin(tokio::time::sleep(wait.unsigned_abs()))
    }
}

/// A clock that stands still until it is moved. Clones share the time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<watch::Sender<Timestamp>>);

impl ManualClock {
    /// A clock that shows `start`.
    pub fn new(start: Timestamp) -> Self {
        ManualClock(Arc::new(watch::Sender::new(start)))
    }

    /// Moves the clock by `by`, backwards if negative, and wakes the sleepers whose time has come. It stops at the limits of `Timestamp`.
    pub fn advance(&self, by: SignedDuration) {
        self.0.send_modify(|now| *now = plus(*now, by));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let mut hands = self.0.subscribe();
        Box::pin(async move {
            if hands.wait_for(|now| *now >= time).await.is_err() {
                // The clock is gone, so its time never comes.
                std::future::pending().await
            }
        })
    }
}
