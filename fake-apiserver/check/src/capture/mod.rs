//! Captures: what decides about admission in a cluster, read by `get` and `list` alone, in one file that a server loads.

mod file;
mod kept;
mod noise;
mod reading;

pub use file::{Capture, CaptureError, Missing, read};
pub use kept::Kept;
pub use reading::{Asked, Outcome, Progress, capture};
