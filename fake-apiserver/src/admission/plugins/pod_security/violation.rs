//! A violation of the standards.

/// A violation of a standard.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Violation {
    /// The matter, in few words.
    pub(super) reason: &'static str,
    /// The values and the containers in question.
    pub(super) detail: String,
}
