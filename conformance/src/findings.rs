//! The findings of a judge, and the outcome of a run that was judged.

use std::fmt;

/// The outcome of an endurance test or a soak.
#[derive(Debug)]
pub struct Outcome {
    /// The violated guarantees; empty if the run is good.
    pub findings: Vec<String>,
    /// The counts and measurements, in lines.
    pub(crate) figures: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { findings, figures } = self;
        write!(f, "{figures}{} findings", findings.len())?;
        findings.iter().try_for_each(|finding| write!(f, "\n    {finding}"))
    }
}

/// Of each kind of finding only so many are told.
pub(crate) const TOLD: usize = 5;

/// Findings of one guarantee.
pub(crate) struct Findings {
    promise: &'static str,
    found: Vec<String>,
    count: usize,
}

impl Findings {
    /// None yet.
    pub(crate) fn of(promise: &'static str) -> Findings {
        Findings { promise, found: Vec::new(), count: 0 }
    }

    /// One more; only the first ones are told.
    pub(crate) fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.count <= TOLD {
            self.found.push(what());
        }
    }

    /// The texts.
    pub(crate) fn told(self) -> Vec<String> {
        let Findings { promise, found, count } = self;
        let more = count.saturating_sub(TOLD);
        let more = (more > 0).then(|| format!("{promise}: {more} times more"));
        found.into_iter().map(|what| format!("{promise}: {what}")).chain(more).collect()
    }
}
