//! The deadline of a request, for computations: long loops check it, and end.

use crate::error::{ApiError, ApiResult};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The deadline of a request, which passes with [`end`](Self::end). Clones share it. The default never passes, and costs
/// nothing; it is for short requests.
#[derive(Debug, Clone, Default)]
pub struct Deadline(Option<Arc<AtomicBool>>);

impl Deadline {
    /// The deadline of a request that may take long.
    pub fn new() -> Deadline {
        Deadline(Some(Arc::default()))
    }

    /// Lets the deadline pass.
    pub fn end(&self) {
        if let Some(up) = &self.0 {
            up.store(true, Ordering::Relaxed);
        }
    }

    /// Checks that the deadline has not passed.
    ///
    /// # Errors
    /// 504, if it has. The client has had that response already, or is gone.
    pub fn check(&self) -> ApiResult<()> {
        match self.0.as_ref().is_some_and(|up| up.load(Ordering::Relaxed)) {
            true => Err(ApiError::deadline_exceeded()),
            false => Ok(()),
        }
    }
}
