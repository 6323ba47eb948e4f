//! The costs of evaluations: estimated from sizes, and counted.

pub(crate) mod actual;
pub(crate) mod estimate;
mod functions;
mod path;
mod size;

/// The cost of traversing a character, in units.
pub(crate) const STRING: f64 = 0.1;

/// The cost of a character of a regular expression, in units.
pub(crate) const REGEX: f64 = 0.25;
