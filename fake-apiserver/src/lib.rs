//! A kube-apiserver for tests.

mod api;
pub mod audit;
pub mod auth;
pub mod clock;
mod cluster;
pub mod duration;
pub mod error;
pub mod fault;
mod http;
pub mod ids;
pub mod object;
pub mod registry;
pub mod schema;
mod server;
pub mod store;
pub mod version;

pub use server::{Builder, FakeApiServer, RunningReplica, StartError};
