//! The time of a request, as computations see it: long loops ask whether it is up, and end.

use crate::error::{ApiError, ApiResult};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The time that a request has, until it [is up](Self::end). Clones share it. That of a request which is over as soon as it is begun
/// never is, and costs nothing.
#[derive(Debug, Clone, Default)]
pub struct Deadline(Option<Arc<AtomicBool>>);

impl Deadline {
    /// The time of a request that may take long.
    pub fn new() -> Deadline {
        Deadline(Some(Arc::default()))
    }

    /// Says that the time is up.
    pub fn end(&self) {
        if let Some(up) = &self.0 {
            up.store(true, Ordering::Relaxed);
        }
    }

    /// Lets a computation go on.
    ///
    /// # Errors
    /// 504, if the time is up. The client has been told already, or is gone.
    pub fn check(&self) -> ApiResult<()> {
        match self.0.as_ref().is_some_and(|up| up.load(Ordering::Relaxed)) {
            true => Err(ApiError::deadline_exceeded()),
            false => Ok(()),
        }
    }
}
