//! Reports: outcomes as lines on the terminal, JUnit XML, an HTML page, and a folder for each failed scenario.

mod artifacts;
mod html;
mod junit;
mod section;
mod terminal;

pub use artifacts::write_artifacts;
pub use html::html;
pub use junit::junit;
pub use section::{section, with_section};
pub use terminal::{colored_progress, findings, progress, table};

use crate::dialogue::Played;
use crate::verdict::{Outcome, Verdict};
use std::time::Duration;

/// The result of one scenario on one target.
pub struct Report {
    /// The scenario's name: `area/behaviour`.
    pub scenario: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The verdict on each exchange that a real server recorded, by step; empty if the scenario was skipped.
    pub exchanges: Vec<(usize, Verdict)>,
    /// The time it took.
    pub took: Duration,
    /// The run; `None` if the scenario was skipped or the target did not start.
    pub played: Option<Played>,
}

impl Report {
    /// The scenario's area: the folder it is in.
    pub fn area(&self) -> &str {
        self.scenario.split('/').next().unwrap_or_default()
    }

    /// Whether the scenario failed.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }
}
