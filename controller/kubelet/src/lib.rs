//! The kubelet's half of service account credentials, as an ordinary client of any API server.

pub mod client;
pub mod clock;
pub mod env;
pub mod field_path;
pub mod flags;
mod go;
pub mod node;
pub mod objects;
pub mod pull_secrets;
mod quantity;
pub mod resources;
pub mod tokens;
pub mod volumes;
