//! A kube-apiserver for tests.

pub mod auth;
pub mod clock;
pub mod error;
pub mod ids;
pub mod registry;
