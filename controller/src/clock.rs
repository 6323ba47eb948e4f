//! The injected wall clock. Durations are measured on tokio's clock instead.

use jiff::Timestamp;
use std::sync::Arc;

/// A source of the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The operating system's clock.
pub fn system_clock() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    Arc::new(Timestamp::now)
}
