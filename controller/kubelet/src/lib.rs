//! The kubelet's half of service account credentials, as an ordinary client of any API server.

pub mod client;
pub mod clock;
pub mod objects;
