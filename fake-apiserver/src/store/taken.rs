//! Events taken: whether streams have passed on an object's last event.
//!
//! A stream has passed on its events when its task comes back for more, and there is none. Each stream that owes some holds a [`Taken`]
//! until then.

use crate::sync::Mutex;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

/// The pledge that a stream holds until it has passed on its events.
pub(super) struct Taken(Mutex<Waiter>);

#[derive(Default)]
struct Waiter {
    waker: Option<Waker>,
    /// Whether it went away before its time: the stream is slow.
    left: bool,
}

impl Taken {
    /// The pledge for streams to hold, and the wait for its end.
    pub(super) fn new() -> (Arc<Taken>, AllTaken) {
        let taken = Arc::new(Taken(Mutex::new(Waiter::default())));
        let all = AllTaken { taken: Arc::downgrade(&taken), is_due: false };
        (taken, all)
    }

    /// Whether a writer waited for it in vain.
    pub(super) fn is_overdue(&self) -> bool {
        self.0.lock().expect("no code that runs under this lock panics").left
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(waker) = self.0.get_mut().expect("no code that runs under this lock panics").waker.take() {
            waker.wake();
        }
    }
}

/// The wait of a writer until all streams that owed the event have passed it on.
pub struct AllTaken {
    taken: Weak<Taken>,
    /// Whether any stream is about the object.
    is_due: bool,
}

impl AllTaken {
    /// Whether any stream tells of the object, or has told already.
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Notes that a stream does.
    pub(super) fn note(&mut self) {
        self.is_due = true;
    }

    /// Ready once that is so; the task is woken then.
    pub fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let Some(taken) = self.taken.upgrade() else { return Poll::Ready(()) };
        // If the streams let go of it meanwhile, the end of this function wakes the task.
        let waiter = &mut *taken.0.lock().expect("no code that runs under this lock panics");
        waiter.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for AllTaken {
    fn drop(&mut self) {
        if let Some(taken) = self.taken.upgrade() {
            let mut waiter = taken.0.lock().expect("no code that runs under this lock panics");
            waiter.left = true;
            waiter.waker = None;
        }
    }
}
