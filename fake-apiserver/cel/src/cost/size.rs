//! Ranges of sizes and costs.
//!
//! Port of the estimates in `checker/cost.go` of cel-go v0.29.2.

/// The least and the greatest possible size or cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub min: u64,
    /// The greatest; `u64::MAX` without a bound.
    pub max: u64,
}

impl Range {
    pub(super) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(super) const fn fixed(value: u64) -> Self {
        Self { min: value, max: value }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// The range multiplied by a cost, rounded up.
    pub(super) fn scaled(self, by: f64) -> Self {
        Self { min: scale(self.min, by), max: scale(self.max, by) }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

fn scale(value: u64, by: f64) -> u64 {
    let float = value as f64;
    if float > 0.0 && by > 0.0 && float > u64::MAX as f64 / by {
        return u64::MAX;
    }
    // The conversion saturates.
    (float * by).ceil() as u64
}
