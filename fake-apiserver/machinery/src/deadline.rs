//! The deadline of a request, for computations: long loops check it, and end.

use crate::error::{ApiError, ApiResult};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The deadline of a request, which passes with [`expire`](Self::expire). Clones share it. The default never passes, and costs
/// nothing; it is for short requests.
#[derive(Debug, Clone, Default)]
pub struct Deadline(Option<Arc<AtomicBool>>);

impl Deadline {
    /// The deadline of a request that may take long.
    pub fn new() -> Deadline {
        Deadline(Some(Arc::default()))
    }

    /// A deadline that has passed.
    pub fn passed() -> Deadline {
        let deadline = Deadline::new();
        deadline.expire();
        deadline
    }

    /// Marks the deadline as passed.
    pub fn expire(&self) {
        if let Some(expired) = &self.0 {
            expired.store(true, Ordering::Relaxed);
        }
    }

    /// Checks that the deadline has not passed.
    ///
    /// # Errors
    /// 504, if it has. By then the client has received that response, or is gone.
    pub fn check(&self) -> ApiResult<()> {
        match self.0.as_ref().is_some_and(|expired| expired.load(Ordering::Relaxed)) {
            true => Err(ApiError::deadline_exceeded()),
            false => Ok(()),
        }
    }
}
