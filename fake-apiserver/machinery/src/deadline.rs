//! The deadline of a request, for computations: long loops check it, share their thread with others there, and end when it has passed.

use crate::error::{ApiError, ApiResult};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// The pace of a computation: it decides at each check whether the computation goes on.
pub trait Pace: Send + Sync {
    /// Whether the computation goes on. Before it answers it may wait, so that others compute meanwhile; so no lock may be held that
    /// others need.
    fn goes_on(&self) -> bool;
}

/// The deadline of a request. Clones share it. The default never passes, and costs nothing.
#[derive(Clone, Default)]
pub struct Deadline(Option<Arc<dyn Pace>>);

impl Deadline {
    /// The deadline that `pace` decides about.
    pub fn new(pace: Arc<dyn Pace>) -> Deadline {
        Deadline(Some(pace))
    }

    /// One that never passes.
    pub fn never() -> &'static Deadline {
        static NEVER: Deadline = Deadline(None);
        &NEVER
    }

    /// A deadline that has passed.
    pub fn passed() -> Deadline {
        struct Over;
        impl Pace for Over {
            fn goes_on(&self) -> bool {
                false
            }
        }
        Deadline::new(Arc::new(Over))
    }

    /// Checks that the deadline has not passed. Loops that can take long call this at least every millisecond, wherever no lock is held;
    /// it takes some 30 ns, and now and then as long as others compute.
    ///
    /// # Errors
    /// 504, if it has. By then the client has received that response, or is gone.
    pub fn check(&self) -> ApiResult<()> {
        match self.0.as_ref().is_none_or(|pace| pace.goes_on()) {
            true => Ok(()),
            false => Err(ApiError::deadline_exceeded()),
        }
    }
}

/// The steps of a walk, which are too short to check the deadline at each of them.
pub struct Steps {
    deadline: Deadline,
    /// The number of steps until the next check.
    left: Cell<u32>,
}

impl Steps {
    /// The number of steps from one check to the next.
    const STRIDE: u32 = 128;

    /// The steps of a walk that has a deadline.
    pub fn until(deadline: &Deadline) -> Steps {
        Steps { deadline: deadline.clone(), left: Cell::new(Steps::STRIDE) }
    }

    /// Counts a step of at most some microseconds, and checks the deadline now and then.
    ///
    /// # Errors
    /// As [`Deadline::check`].
    pub fn step(&self) -> ApiResult<()> {
        match self.left.get() {
            0 => {
                self.left.set(Steps::STRIDE);
                self.deadline.check()
            }
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deadline").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_checks_its_deadline_now_and_then() {
        let steps = Steps::until(&Deadline::passed());
        let done = (0..1000).take_while(|_| steps.step().is_ok()).count();
        assert_eq!(done, Steps::STRIDE as usize);
        let steps = Steps::until(&Deadline::default());
        assert!((0..1000).all(|_| steps.step().is_ok()));
    }
}
