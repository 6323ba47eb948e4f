//! Writes that are held, or stopped, just before they are made: all has been checked, and nothing is stored.

use std::future::pending;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The fate of writes just before they are made.
pub(crate) struct Hold {
    /// The time for which each is held.
    pub(super) latency: Duration,
    /// The stop of the first one, if a rule may stop it.
    pub(super) stop: Option<Stop>,
}

/// Writes that are made at once.
pub(super) static AT_ONCE: Hold = Hold { latency: Duration::ZERO, stop: None };

impl Hold {
    /// Holds each for that time.
    pub(crate) fn of(latency: Duration) -> Hold {
        Hold { latency, stop: None }
    }

    /// The same, and the first one is stopped if `wants` says so.
    pub(crate) fn or_stops(&self, wants: impl Fn() -> bool + Send + Sync + 'static) -> Hold {
        Hold { latency: self.latency, stop: Some(Stop { wants: Box::new(wants), stopped: CancellationToken::new() }) }
    }

    /// Whether it has stopped a write.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.stopped.is_cancelled())
    }

    /// The result of a write; `None` if it is stopped.
    pub(crate) async fn unless_stopped<T>(&self, write: impl Future<Output = T>) -> Option<T> {
        let Some(stop) = &self.stop else { return Some(write.await) };
        tokio::select! {
            biased;
            () = stop.stopped.cancelled() => None,
            done = write => Some(done),
        }
    }
}

/// The stop of a request's first write.
pub(super) struct Stop {
    /// Whether it is stopped, asked when the write is about to be made.
    wants: Box<dyn Fn() -> bool + Send + Sync>,
    stopped: CancellationToken,
}

impl Stop {
    /// Lets a write pass; never completes if it is stopped.
    pub(super) async fn pass(&self) {
        if (self.wants)() {
            self.stopped.cancel();
            pending().await
        }
    }
}
