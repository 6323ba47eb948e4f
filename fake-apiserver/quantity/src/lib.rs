//! Quantities such as `1500m` or `2Gi`: numbers of any size, read, compared, added and printed as Kubernetes does.
//!
//! Port of `pkg/api/resource` of k8s.io/apimachinery (v0.37.1). As there, a number is short (an int64 times a power of ten) while it can
//! be, and a big decimal otherwise. Which of the two it is shows in results: conversions to int64 overflow in different ways.
//!
//! Upstream computes powers of ten digit by digit, so that `1e999999999` plus 1 takes its whole memory. Here a comparison looks at digits
//! only, and a sum keeps at most 10,000 of the zeros between two numbers: beyond, the smaller one makes the larger one only a
//! little larger or smaller.

mod big;
mod parse;
mod print;
mod quantity;
mod short;
mod suffix;
#[cfg(test)]
mod tests;

pub use parse::{Error, printed};
pub use quantity::{MILLI, Quantity};
