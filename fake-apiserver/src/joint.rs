//! Work that everyone who needs its result does jointly: a part at a time, by whoever is served first.
//!
//! ```text
//!   needed ──┬─ it is done ──▶ the result
//!            ├─ nobody is at it ──▶ a part of it ──▶ the deadline's check: others may compute, and go on with it ──▶ …
//!            └─ somebody is ──▶ waits, without a thread, until a part of it is done ──▶ …
//! ```
//! So nothing is done twice, nobody waits for a lock, and each does it in the turns of its own user. Who leaves, leaves the rest to others;
//! if nobody needs it any more, it rests where it is.

use crate::deadline::Deadline;
use crate::error::ApiResult;
use futures::future::BoxFuture;
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::{Mutex, OnceLock, TryLockError};
use std::task::{Context, Poll, Waker};
use tokio::sync::Notify;

/// The outcome of an attempt to do a part of the work.
pub(crate) enum Part<T> {
    /// The work is done.
    Result(T),
    /// A part of it was done, and more is left.
    Done,
    /// Someone else is at it.
    Taken,
}

/// The meeting of those who do some work jointly.
#[derive(Debug, Default)]
pub(crate) struct Joint(Notify);

impl Joint {
    /// Does the work with all others who are here. A part of it takes some milliseconds at most, and is tried under no lock for which
    /// anyone waits.
    ///
    /// # Errors
    /// 504, if the deadline has passed.
    pub(crate) async fn work<T>(&self, deadline: &Deadline, mut part: impl FnMut() -> Part<T>) -> ApiResult<T> {
        loop {
            // From here on no end of it is missed.
            let told = self.0.notified();
            deadline.check()?;
            match part() {
                Part::Result(result) => {
                    self.0.notify_waiters();
                    return Ok(result);
                }
                // Another one goes on if this one has to wait for a turn, or ends.
                Part::Done => self.0.notify_one(),
                Part::Taken => told.await,
            }
        }
    }
}

/// A value that takes long to make, which is made when it is first needed.
pub(crate) struct Made<T> {
    value: OnceLock<T>,
    /// The making of it, until it is done.
    making: Mutex<Option<BoxFuture<'static, T>>>,
    joint: Joint,
}

impl<T: Send> Made<T> {
    /// A value that `making` makes, which [pauses](pause) every now and then and awaits nothing else.
    pub(crate) fn by(making: impl Future<Output = T> + Send + 'static) -> Self {
        Made { value: OnceLock::new(), making: Mutex::new(Some(Box::pin(making))), joint: Joint::default() }
    }

    /// The value, once it is made.
    ///
    /// # Errors
    /// 504, if the deadline has passed before.
    pub(crate) async fn get(&self, deadline: &Deadline) -> ApiResult<&T> {
        match self.value.get() {
            Some(value) => Ok(value),
            None => self.joint.work(deadline, || self.part()).await,
        }
    }

    fn part(&self) -> Part<&T> {
        if let Some(value) = self.value.get() {
            return Part::Result(value);
        }
        let mut making = match self.making.try_lock() {
            Ok(making) => making,
            Err(TryLockError::WouldBlock) => return Part::Taken,
            // It panics again.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let made = making.as_mut().map(|making| making.as_mut().poll(&mut Context::from_waker(Waker::noop())));
        if let Some(Poll::Ready(value)) = made {
            self.value.get_or_init(|| value);
            *making = None;
        }
        Part::Done
    }
}

impl<T: fmt::Debug> fmt::Debug for Made<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Made").field(&self.value.get()).finish()
    }
}

/// Ends a part of the making of a value.
pub(crate) async fn pause() {
    let mut paused = false;
    poll_fn(|context| match std::mem::replace(&mut paused, true) {
        true => Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::Pace;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Barrier;

    const PARTS: usize = 100;

    /// A value that counts the parts of its making.
    fn counted() -> (Arc<Made<usize>>, Arc<AtomicUsize>) {
        let count = Arc::<AtomicUsize>::default();
        let counting = count.clone();
        let made = Made::by(async move {
            for _ in 0..PARTS {
                counting.fetch_add(1, Ordering::Relaxed);
                pause().await;
            }
            PARTS
        });
        (Arc::new(made), count)
    }

    /// A deadline that passes after so many checks.
    struct Checks(AtomicUsize);

    impl Pace for Checks {
        fn goes_on(&self) -> bool {
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        }
    }

    fn after(checks: usize) -> Deadline {
        Deadline::new(Arc::new(Checks(checks.into())))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn all_who_need_it_make_it_once() {
        for _ in 0..50 {
            let ((made, count), start) = (counted(), Arc::new(Barrier::new(20)));
            let one = |number| {
                let (made, start) = (made.clone(), start.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    // Some have no time to wait for the end.
                    let deadline = if number % 2 == 0 { after(number) } else { Deadline::default() };
                    made.get(&deadline).await.map_err(|error| error.code()).copied()
                })
            };
            let all: Vec<_> = (0..20).map(one).collect();
            for (number, one) in all.into_iter().enumerate() {
                let value = one.await.unwrap();
                assert!(value == Ok(PARTS) || number % 2 == 0 && value == Err(504), "{number}: {value:?}");
            }
            assert_eq!(count.load(Ordering::Relaxed), PARTS);
        }
    }

    #[tokio::test]
    async fn who_comes_later_goes_on_with_it() {
        let (made, count) = counted();
        assert_eq!(made.get(&after(PARTS / 2)).await.unwrap_err().code(), 504);
        assert_eq!(count.load(Ordering::Relaxed), PARTS / 2, "nothing goes on without anyone");
        assert_eq!(made.get(&Deadline::default()).await.copied().unwrap(), PARTS);
        assert_eq!(count.load(Ordering::Relaxed), PARTS);
        assert!(made.get(&Deadline::passed()).await.is_ok(), "it is there");
    }

    #[tokio::test]
    async fn it_goes_on_without_those_who_are_dropped() {
        let ((made, _), deadline) = (counted(), Deadline::default());
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(made.get(&deadline))).collect();
        let context = &mut Context::from_waker(Waker::noop());
        {
            let _held = made.making.lock().unwrap();
            assert!(waiting.iter_mut().all(|one| one.as_mut().poll(context).is_pending()));
        }
        made.joint.0.notify_one();
        // The first has been told, and does not live to go on.
        drop(waiting.remove(0));
        let value = waiting.remove(0).await;
        assert_eq!(value.copied().unwrap(), PARTS);
        assert!(waiting.remove(0).as_mut().poll(context).is_ready(), "all are told");
    }
}
