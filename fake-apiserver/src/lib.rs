//! A kube-apiserver for tests.

pub mod clock;
pub mod error;
pub mod ids;
pub mod object;
pub mod registry;
