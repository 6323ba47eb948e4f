//! A clock that a test moves, and that tells the test who waits for it.

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use kubelet::clock::{Clock, ManualClock};
use std::sync::Arc;
use tokio::sync::watch;

/// Stands still until it is moved. Clones share the same hands.
#[derive(Clone)]
pub(crate) struct TestClock {
    hands: ManualClock,
    beds: Arc<watch::Sender<Vec<Bed>>>,
}

/// A sleeper's, until it wakes or gives up.
#[derive(Clone, Copy, PartialEq)]
struct Bed {
    sleep: SignedDuration,
    end: Timestamp,
}

/// Whom a test can find asleep.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sleeper {
    /// The task that looks for idle watches.
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
            // With jitter, so it is none of the round numbers above.
            Sleeper::Reflector => wait != SignedDuration::from_mins(1) && wait != SignedDuration::from_secs(1),
        }
    }
}

impl TestClock {
    pub(crate) fn new() -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        TestClock { hands: ManualClock::new(start), beds: Arc::new(watch::Sender::new(Vec::new())) }
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.hands.advance(SignedDuration::from_secs(seconds));
    }

    /// Waits until one of the kind is asleep, and returns for how long it wanted to sleep.
    pub(crate) async fn asleep(&self, sleeper: Sleeper) -> SignedDuration {
        self.bed(sleeper).await.sleep
    }

    /// Waits until one of the kind is asleep, and moves the hands to where it wakes. Returns for how long it wanted to
    /// sleep.
    pub(crate) async fn wake(&self, sleeper: Sleeper) -> SignedDuration {
        let bed = self.bed(sleeper).await;
        self.hands.advance(bed.end.duration_since(self.now()));
        bed.sleep
    }

    async fn bed(&self, sleeper: Sleeper) -> Bed {
        // Those whose time has come are about to wake.
        let is_asleep = |bed: &&Bed| sleeper.sleeps_for(bed.sleep) && bed.end > self.now();
        let mut beds = self.beds.subscribe();
        let beds = beds.wait_for(|beds| beds.iter().any(|bed| is_asleep(&bed))).await.expect("self holds the sender");
        *beds.iter().find(is_asleep).expect("it was just there")
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.hands.now()
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let bed = Bed { sleep: time.duration_since(self.now()), end: time };
        self.beds.send_modify(|beds| beds.push(bed));
        let occupied = Occupied { beds: self.beds.clone(), bed };
        let sleep = self.hands.sleep_until(time);
        Box::pin(async move {
            sleep.await;
            drop(occupied);
        })
    }
}

/// Frees the bed when it is dropped.
struct Occupied {
    beds: Arc<watch::Sender<Vec<Bed>>>,
    bed: Bed,
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.beds.send_modify(|beds| {
            let index = beds.iter().position(|bed| *bed == self.bed).expect("it was put there");
            beds.swap_remove(index);
        });
    }
}
