//! A kube-apiserver for tests.

pub mod clock;
pub mod error;
pub mod ids;
pub mod registry;
pub mod store;
