//! The refusal of a write by quotas.

/// A refusal, and its reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// 403.
    Forbidden(String),
    /// 500, as upstream answers errors that have no status of their own.
    Error(String),
}
