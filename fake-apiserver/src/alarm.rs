//! A waker that remembers whether it was woken, to tell one source of wake-ups from others.
//!
//! A task that waits for several sources is polled when any of them is ready, and would poll each of them every time. A rare
//! source wakes the task through an alarm, and is polled only if that has rung.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

/// An alarm: passes wake-ups on to a task, and remembers them.
pub(crate) struct Alarm {
    bell: Arc<Bell>,
    /// The waker of the task.
    task: Waker,
}

struct Bell {
    rung: AtomicBool,
    task: Mutex<Waker>,
}

impl Alarm {
    /// An alarm that has rung already, or not.
    pub(crate) fn new(rung: bool) -> Self {
        let task = Waker::noop().clone();
        let bell = Bell { rung: AtomicBool::new(rung), task: Mutex::new(task.clone()) };
        Alarm { bell: Arc::new(bell), task }
    }

    /// Sets the task to wake.
    pub(crate) fn wakes(&mut self, task: &Context<'_>) {
        if !self.task.will_wake(task.waker()) {
            self.task = task.waker().clone();
            *self.bell.task.lock().expect("no holder of this lock can panic") = self.task.clone();
        }
    }

    /// Whether it has rung since the last call.
    pub(crate) fn has_rung(&self) -> bool {
        self.bell.rung.load(Ordering::Acquire) && self.bell.rung.swap(false, Ordering::AcqRel)
    }

    /// Rings it without waking the task.
    pub(crate) fn ring(&self) {
        self.bell.rung.store(true, Ordering::Release);
    }

    /// The waker that rings it.
    pub(crate) fn waker(&self) -> Waker {
        self.bell.clone().into()
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // Set first, so that a task that is set meanwhile sees it.
        self.rung.store(true, Ordering::Release);
        let task = self.task.lock().expect("no holder of this lock can panic").clone();
        task.wake();
    }
}
