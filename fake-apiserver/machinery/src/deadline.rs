//! The deadline of a request, for computations: long loops check it, share their thread with others there, and end when it has passed.

use crate::error::{ApiError, ApiResult};
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

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deadline").field(&self.0.is_some()).finish()
    }
}
