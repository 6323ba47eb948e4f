//! A kube-apiserver for tests.

pub mod clock;
pub mod error;
mod http;
pub mod ids;
pub mod registry;
pub mod server;
pub mod version;
