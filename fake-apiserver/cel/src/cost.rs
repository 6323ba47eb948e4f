//! What evaluations cost: estimated from sizes, and counted.

pub(crate) mod actual;
pub(crate) mod estimate;
mod functions;
mod path;
mod size;

/// The part of a unit that looking at a character costs.
pub(crate) const STRING: f64 = 0.1;

/// The part of a unit that a character of a regular expression costs.
pub(crate) const REGEX: f64 = 0.25;
