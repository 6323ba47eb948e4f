//! The deadline of everything that a scenario waits for.

use std::time::Duration;

/// The time after which a wait has failed. Nothing takes this long unless it is broken, also on a machine that is busy with other work.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);
