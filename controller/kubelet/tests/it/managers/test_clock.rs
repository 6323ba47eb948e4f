//! A clock that a test moves, and that shows its sleepers.

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use kubelet::clock::{Clock, ManualClock};
use std::sync::Arc;
use tokio::sync::watch;

/// A clock that stands still until it is moved. Clones share the time.
#[derive(Clone)]
pub(crate) struct TestClock {
    inner: ManualClock,
    sleeps: Arc<watch::Sender<Vec<Sleep>>>,
}

/// A sleep, until it ends or is given up.
#[derive(Clone, Copy, PartialEq)]
struct Sleep {
    duration: SignedDuration,
    end: Timestamp,
}

/// A kind of sleeper.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sleeper {
    /// The task that searches for idle watches.
    Sweeper,
    /// A read that waits for a first list.
    Read,
    /// A reflector between two attempts.
    Reflector,
}

impl Sleeper {
    fn sleeps_for(self, wait: SignedDuration) -> bool {
        match self {
            Sleeper::Sweeper => wait == SignedDuration::from_mins(1),
            Sleeper::Read => wait == SignedDuration::from_secs(1),
            // It has jitter, so it differs from the round numbers above.
            Sleeper::Reflector => wait != SignedDuration::from_mins(1) && wait != SignedDuration::from_secs(1),
        }
    }
}

impl TestClock {
    pub(crate) fn new() -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        TestClock { inner: ManualClock::new(start), sleeps: Arc::new(watch::Sender::new(Vec::new())) }
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.inner.advance(SignedDuration::from_secs(seconds));
    }

    /// Waits until a sleeper of that kind is asleep, and returns the duration of its sleep.
    pub(crate) async fn asleep(&self, sleeper: Sleeper) -> SignedDuration {
        self.find(sleeper).await.duration
    }

    /// Waits until a sleeper of that kind is asleep, and moves the clock to its end. Returns the duration of its sleep.
    pub(crate) async fn wake(&self, sleeper: Sleeper) -> SignedDuration {
        let sleep = self.find(sleeper).await;
        self.inner.advance(sleep.end.duration_since(self.now()));
        sleep.duration
    }

    async fn find(&self, sleeper: Sleeper) -> Sleep {
        // Sleepers whose time has come are about to wake.
        let is_asleep = |sleep: &&Sleep| sleeper.sleeps_for(sleep.duration) && sleep.end > self.now();
        let mut sleeps = self.sleeps.subscribe();
        let sleeps = sleeps
            .wait_for(|sleeps| sleeps.iter().any(|sleep| is_asleep(&sleep)))
            .await
            .expect("self holds the sender");
        *sleeps.iter().find(is_asleep).expect("it was just there")
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let sleep = Sleep { duration: time.duration_since(self.now()), end: time };
        self.sleeps.send_modify(|sleeps| sleeps.push(sleep));
        let sleeping = Sleeping { sleeps: self.sleeps.clone(), sleep };
        let sleep = self.inner.sleep_until(time);
        Box::pin(async move {
            sleep.await;
            drop(sleeping);
        })
    }
}

/// Removes the sleep when it is dropped.
struct Sleeping {
    sleeps: Arc<watch::Sender<Vec<Sleep>>>,
    sleep: Sleep,
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        self.sleeps.send_modify(|sleeps| {
            let index = sleeps.iter().position(|sleep| *sleep == self.sleep).expect("it was put there");
            sleeps.swap_remove(index);
        });
    }
}
