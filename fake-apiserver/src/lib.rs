//! A kube-apiserver for tests.

pub mod clock;
pub mod error;
pub mod http;
pub mod ids;
pub mod registry;
