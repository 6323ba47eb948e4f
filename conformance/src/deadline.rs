//! The deadline of everything that a scenario waits for.

use std::time::Duration;

/// The time after which a wait has failed. Nothing takes this long unless it is broken.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);
