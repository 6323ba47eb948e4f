//! A guarantee: its definition, and the function that finds its violations.

use super::facts::Facts;

/// A promise that every API server keeps at any time.
pub struct Guarantee {
    /// The name in findings.
    pub name: &'static str,
    /// The promise in one sentence.
    pub definition: &'static str,
    /// The violations of the promise in the facts.
    pub(super) broken: fn(&Facts<'_>) -> Vec<String>,
}
